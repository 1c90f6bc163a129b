"""Best responses state by state are those of the tree and of the rounds."""

from dataclasses import dataclass

import numpy as np
import pytest
from sepo_penalties import SequenceForm, StochasticGame, best_response, stochastic_best_response

STOCK, ROUNDS = 3, 3


@dataclass(frozen=True)
class Pond:
    """Both fish 0 or 1 (at most what is there) from a stock that grows by one with probability 1/2; a fish pays 1."""

    past: tuple = ()
    stock: int = STOCK
    growing: bool = False

    name = "pond"
    num_actions = 2
    rounds = ROUNDS
    simultaneous = True

    def num_players(self):
        return 2

    def new_initial_state(self):
        return self

    def is_terminal(self):
        return len(self.past) == ROUNDS and not self.growing

    def is_chance_node(self):
        return self.growing

    def is_simultaneous_node(self):
        return not self.growing and not self.is_terminal() and self.simultaneous

    def current_player(self):
        return -4 if self.is_terminal() else -1 if self.growing else -2

    def chance_outcomes(self):
        return [(0, 0.5), (1, 0.5)]

    def legal_actions(self, player):
        return [0, 1] if self.stock >= 2 else [0]

    def child(self, action):
        if self.growing:
            return type(self)(self.past, self.stock + action)
        return type(self)((*self.past, (tuple(action), self.stock)), self.stock - sum(action), True)

    @property
    def entries(self):
        return tuple(Line(tuple(map(float, actions))) for actions, _ in self.past)

    def returns(self):
        return [sum(entry.payoffs[p] for entry in self.entries) for p in (0, 1)]

    def information_state_string(self, player):
        return f"{self.past}|{self.stock}"

    def position(self, state):
        return len(state.past), state.stock, state.growing

    def view(self, state, seat):
        return state

    def key(self, state):
        return f"{len(state.past)}:{state.stock}"


@dataclass(frozen=True)
class Line:
    payoffs: tuple


def random_table(rng):
    rows = {}
    for played in range(ROUNDS):
        for stock in range(STOCK + ROUNDS + 1):
            p = rng.random() if stock >= 2 else 0.0
            rows[f"{played}:{stock}"] = (1 - p, p)
    return rows


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("player", [0, 1])
def test_a_best_response_by_states_is_worth_what_one_with_perfect_recall_is_worth_in_the_tree(seed, player):
    table = random_table(np.random.default_rng(seed))
    value, reply = stochastic_best_response(StochasticGame.from_game(Pond()), table, player, 2)
    sf = SequenceForm.from_game(Pond())
    rows = {}
    for name, size in zip(sf.infosets(player), sf.num_actions(player), strict=True):
        past, stock = name.rsplit("|", 1)
        rows[name] = table[f"{past.count('((')}:{stock}"][:size] if size > 1 else (1.0,)
    policies = [sf.uniform_policy(p) for p in (0, 1)]
    policies[player] = sf.policy_from_dict(player, rows)
    assert value == pytest.approx(float(best_response(sf, policies, 1 - player).value), abs=1e-12)
    assert all(sorted(row) == [0.0, 1.0] for row in reply.values())


def test_fishing_all_the_time_is_best_when_the_stock_is_never_short():
    never = {f"{t}:{s}": (1.0, 0.0) for t in range(ROUNDS) for s in range(9)}
    value, reply = stochastic_best_response(StochasticGame.from_game(Pond()), never, 0, 2)
    # The stock is 3, then 2 or 3, then 1, 2 or 3 with probabilities 1/4, 1/2, 1/4, and one cannot fish at 1.
    assert value == 2.75
    assert reply["0:3"] == (0.0, 1.0)


def test_bad_tables_and_games_are_refused_by_name():
    game = StochasticGame.from_game(Pond())
    table = random_table(np.random.default_rng(0))
    for row, message in (
        ((0.5, 0.4), "'0:3'.*no distribution"),
        ((1.0,), "'0:3'.*no distribution"),
        ((np.nan, 1.0), "'0:3'.*no distribution"),
    ):
        with pytest.raises(ValueError, match=message):
            stochastic_best_response(game, table | {"0:3": row}, 0, 2)
    with pytest.raises(ValueError, match="no row for information set '0:3'"):
        stochastic_best_response(game, {k: v for k, v in table.items() if k != "0:3"}, 0, 2)
    with pytest.raises(ValueError, match="more than 3 states"):
        StochasticGame.from_game(Pond(), max_states=3)

    class Turns(Pond):
        simultaneous = False

    with pytest.raises(ValueError, match="players take turns"):
        StochasticGame.from_game(Turns())

    class Blind(Pond):
        def key(self, state):
            return f"{len(state.past)}"

    with pytest.raises(ValueError, match="belongs to the positions"):
        StochasticGame.from_game(Blind())
