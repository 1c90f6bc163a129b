"""Values and equilibria of zero-sum games by linear programming, and what the compiler refuses."""

import numpy as np
import pyspiel
import pytest
from sepo_penalties import SequenceForm, exploitability, policy_value, zero_sum_equilibrium, zero_sum_value


def compiled(name):
    return SequenceForm.from_game(pyspiel.load_game(name))


def test_kuhn_is_worth_minus_one_eighteenth_to_the_first_player():
    assert zero_sum_value(compiled("kuhn_poker")) == pytest.approx(-1 / 18, abs=1e-9)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "matrix_rps"])
def test_the_equilibrium_is_not_exploitable_and_earns_the_value(name):
    sf = compiled(name)
    value, profile = zero_sum_equilibrium(sf)
    assert exploitability(sf, profile) == pytest.approx(0, abs=1e-8)
    assert policy_value(sf, profile) == pytest.approx([value, -value], abs=1e-8)


@pytest.mark.parametrize("name", ["matrix_pd", "kuhn_poker(players=3)"])
def test_a_game_that_is_not_two_player_zero_sum_has_no_value(name):
    with pytest.raises(ValueError, match=r"two-player zero-sum games.*nash_conv"):
        zero_sum_value(compiled(name))


def test_actions_and_columns_are_those_of_the_game():
    sf = compiled("leduc_poker")
    assert sf.max_actions(0) == 3
    assert tuple(map(len, sf.actions(0))) == tuple(sf.num_actions(0))
    np.testing.assert_allclose(sf.uniform_policy(0).sum(axis=1), 1)


class OneMove:
    """One decision, given as (legal actions, payoffs of every end)."""

    def __init__(self, legal, payoffs, chance=()):
        self.legal, self.payoffs, self.chance = legal, payoffs, chance

    def num_players(self):
        return 2

    def new_initial_state(self):
        return OneState(self, ())


class OneState:
    def __init__(self, game, moves):
        self.game, self.moves = game, moves

    def is_terminal(self):
        return len(self.moves) == 1 + bool(self.game.chance)

    def is_chance_node(self):
        return bool(self.game.chance) and not self.moves

    def chance_outcomes(self):
        return list(enumerate(self.game.chance))

    def is_simultaneous_node(self):
        return False

    def current_player(self):
        return 0

    def legal_actions(self, player):
        return self.game.legal

    def information_state_string(self, player):
        return "start"

    def child(self, action):
        return OneState(self.game, (*self.moves, action))

    def returns(self):
        return self.game.payoffs


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (OneMove([], [0.0, 0.0]), r"'start' of player 0 is not terminal but has no legal action"),
        (OneMove([0], [0.0]), r"1 payoffs .* one for each of the 2 players"),
        (OneMove([0], [np.nan, 0.0]), r"not finite"),
        (OneMove([0], [0.0, 0.0], (0.5, 0.4)), r"no distribution"),
    ],
)
def test_a_broken_tree_is_refused_and_never_becomes_a_number(game, message):
    with pytest.raises(ValueError, match=message):
        SequenceForm.from_game(game)
