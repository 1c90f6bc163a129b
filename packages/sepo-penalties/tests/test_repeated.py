"""The dynamic program against closed forms, a full-history tree, and the auction's equilibria."""

from itertools import product

import numpy as np
import pytest
from sepo_penalties import RepeatedGame, SequenceForm, best_response, repeated_best_response

PD = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]])[:, None, None]
COOPERATE, DEFECT = (1.0, 0.0), (0.0, 1.0)


def dilemma(rounds):
    return RepeatedGame.of(PD, ([1.0], [1.0]), rounds)


def by_last_outcome(first, rows, rounds):
    """A table that plays by the last outcome alone: own action first, CC, CD, DC, DD."""
    return np.array([first, *list(rows) * (rounds - 1)])


STRATEGIES = {
    "tit-for-tat": (COOPERATE, (COOPERATE, DEFECT, COOPERATE, DEFECT), 26),
    "always-cooperate": (COOPERATE, (COOPERATE,) * 4, 40),
    "always-defect": (DEFECT, (DEFECT,) * 4, 8),
    # Grim from the last outcome: once somebody defected, its own defections remember it.
    "grim": (COOPERATE, (COOPERATE, DEFECT, DEFECT, DEFECT), 26),
    # A defection and the mutual defection that repairs it pay 5 + 1, as two rounds of cooperation do; the
    # last defection 5.
    "win-stay-lose-shift": (COOPERATE, (COOPERATE, DEFECT, DEFECT, COOPERATE), 26),
}


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("responder", [0, 1])
def test_best_responses_in_eight_rounds_are_worth_the_closed_form(name, responder):
    first, rows, value = STRATEGIES[name]
    answer = repeated_best_response(dilemma(8), by_last_outcome(first, rows, 8), responder)
    assert answer.value == pytest.approx(value, abs=1e-12)


class Tree:
    """The same dilemma as a tree whose players remember everything."""

    def __init__(self, rounds):
        self.rounds = rounds

    def num_players(self):
        return 2

    def new_initial_state(self):
        return TreeState(self, ())


class TreeState:
    def __init__(self, game, played):
        self.game, self.played = game, played

    def is_terminal(self):
        return len(self.played) == self.game.rounds

    def is_chance_node(self):
        return False

    def is_simultaneous_node(self):
        return not self.is_terminal()

    def current_player(self):
        return -2

    def legal_actions(self, player):
        return [0, 1]

    def information_state_string(self, player):
        return " ".join(f"{joint[player]}{joint[1 - player]}" for joint in self.played)

    def child(self, joint):
        return TreeState(self.game, (*self.played, tuple(joint)))

    def returns(self):
        return [sum(PD[i, 0, 0, a, b] for a, b in self.played) for i in (0, 1)]


@pytest.mark.parametrize("responder", [0, 1])
@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_a_responder_that_remembers_everything_does_no_better(rounds, responder):
    rng = np.random.default_rng(rounds)
    game, sf, other = dilemma(rounds), SequenceForm.from_game(Tree(rounds)), 1 - responder
    for _ in range(5):
        p = rng.uniform(size=game.num_infosets(other))
        table = np.stack([p, 1 - p], axis=-1)
        rows = {}
        for name in sf.infosets(other):
            past = name.split()
            outcome = 1 + 4 * (len(past) - 1) + 2 * int(past[-1][0]) + int(past[-1][1]) if past else 0
            rows[name] = table[outcome]
        policies = [sf.uniform_policy(0), sf.uniform_policy(1)]
        policies[other] = sf.policy_from_dict(other, rows)
        full = best_response(sf, policies, responder).value
        assert repeated_best_response(game, table, responder).value == pytest.approx(float(full), abs=1e-12)


def auction(rounds=1):
    """Two bidders, values 2 and 4, bids 1 to 3, first price, ties averaged."""
    payoffs = np.zeros((2, 2, 2, 3, 3))
    for v, w, a, b in product(range(2), range(2), range(3), range(3)):
        share = 1.0 if a > b else 0.5 if a == b else 0.0
        payoffs[0, v, w, a, b] = share * (2 * v + 2 - (a + 1))
        payoffs[1, v, w, a, b] = (1 - share) * (2 * w + 2 - (b + 1))
    return RepeatedGame.of(payoffs, ([0.5, 0.5], [0.5, 0.5]), rounds)


def bids(game, low, high):
    return np.tile(np.eye(3)[[low - 1, high - 1]], (game.num_infosets(0) // 2, 1))


@pytest.mark.parametrize("rounds", [1, 6])
@pytest.mark.parametrize(
    ("profile", "value"), [((1, 2), 7 / 8), ((2, 2), 1 / 2), ((2, 3), 3 / 8), ((1, 1), 5 / 4)], ids=str
)
def test_best_responses_in_the_auction_are_worth_the_reference_sheet(profile, value, rounds):
    game = auction(rounds)
    for responder in (0, 1):
        answer = repeated_best_response(game, bids(game, *profile), responder)
        assert answer.value / rounds == pytest.approx(value, abs=1e-12)


def test_a_batch_of_tables_equals_a_loop():
    game = dilemma(5)
    p = np.random.default_rng(0).uniform(size=(7, game.num_infosets(0)))
    tables = np.stack([p, 1 - p], axis=-1)
    batch = repeated_best_response(game, tables, 1)
    for i, table in enumerate(tables):
        alone = repeated_best_response(game, table, 1)
        assert batch.value[i] == pytest.approx(float(alone.value), abs=1e-12)
        np.testing.assert_allclose(batch.action_values[i], alone.action_values, atol=1e-12)
        np.testing.assert_array_equal(batch.policy[i], alone.policy)


def test_a_best_response_earns_its_value_against_the_policy():
    game = dilemma(4)
    p = np.random.default_rng(3).uniform(size=game.num_infosets(0))
    table = np.stack([p, 1 - p], axis=-1)
    answer = repeated_best_response(game, table, 1)
    back = repeated_value(game, table, answer.policy)
    assert back == pytest.approx(float(answer.value), abs=1e-12)


def repeated_value(game, first, second):
    """Expected payoff of player 1, by walking all histories."""
    plays = [game.unpack(first, 0), game.unpack(second, 1)]

    def walk(t, last):
        if t == game.rounds:
            return 0.0
        rows = [
            plays[0][t][0 if last is None else 2 * last[0] + last[1], 0],
            plays[1][t][0 if last is None else 2 * last[1] + last[0], 0],
        ]
        return sum(rows[0][a] * rows[1][b] * (PD[1, 0, 0, a, b] + walk(t + 1, (a, b))) for a in (0, 1) for b in (0, 1))

    return walk(0, None)


def test_a_table_of_the_wrong_shape_or_that_is_no_policy_is_refused():
    game = dilemma(3)
    with pytest.raises(ValueError, match=r"\(\.\.\., 9, 2\) is needed"):
        repeated_best_response(game, np.full((8, 2), 0.5), 0)
    with pytest.raises(ValueError, match=r"row 4.*no distribution"):
        repeated_best_response(game, np.where(np.arange(9)[:, None] == 4, 0.7, 0.5) * np.ones((9, 2)), 0)
