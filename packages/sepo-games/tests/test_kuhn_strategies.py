"""Kuhn poker's scripted players against closed forms."""

from itertools import product

import numpy as np
import pytest
from sepo_games import MatchUp, ScriptedPolicy, play, strategy_table, to_arrays
from sepo_games.kuhn import Kuhn
from sepo_games.kuhn_strategies import pure_player

GAME = Kuhn()
PURE = [pure_player(index) for index in range(64)]


def value(strategies, state=None):
    """Expected returns of a pair of strategies, by the tree."""
    state = state or GAME.new_initial_state()
    if state.is_terminal():
        return np.array(state.returns())
    if state.is_chance_node():
        return sum(p * value(strategies, state.child(a)) for a, p in state.chance_outcomes())
    seat = state.current_player()
    probs = strategies[seat].probs(GAME.view(state, seat))
    return sum(probs[a] * value(strategies, state.child(a)) for a in (0, 1) if probs[a])


@pytest.mark.parametrize("seat", [0, 1])
def test_the_64_numbers_are_all_pure_strategies_of_a_seat_each_once(seat):
    tables = {tuple(strategy_table(GAME, seat, strategy)[:, 1]) for strategy in PURE}
    assert tables == set(product((0.0, 1.0), repeat=6))


def test_bits_of_the_number_say_what_is_bet_and_what_is_called():
    for seat in (0, 1):
        rows = {i.key: GAME.strategies["pure-37"].probs(i.view)[1] for i in GAME.infosets(seat)}  # 37 = 0b100101
        assert list(rows.values()) == [1, 0, 1, 0, 0, 1]
    assert [value([GAME.strategies["pure-63"], GAME.strategies["pure-0"]])[0]] == [1]


def test_two_players_that_never_fold_and_always_bet_are_even_and_a_folder_loses_its_ante_in_either_seat():
    assert value([PURE[63], PURE[63]]) == pytest.approx([0, 0])
    assert value([PURE[0], PURE[63]]) == pytest.approx([-1, 1])
    assert value([PURE[63], PURE[0]]) == pytest.approx([1, -1])


def test_no_pure_strategy_beats_the_equilibrium_and_the_best_of_them_reach_the_value_of_the_game():
    equilibrium = GAME.strategies["equilibrium"]
    assert max(value([pure, equilibrium])[0] for pure in PURE) == pytest.approx(-1 / 18, abs=1e-12)
    assert max(value([equilibrium, pure])[1] for pure in PURE) == pytest.approx(1 / 18, abs=1e-12)


def test_pure_strategies_against_the_uniform_player_show_its_exploitability():
    # OpenSpiel: NashConv of the uniform policy is 11/12, and uniform against uniform pays 1/8 to the first player.
    uniform = GAME.strategies["uniform"]
    assert value([uniform, uniform])[0] == pytest.approx(1 / 8)
    gains = [max(value([pure, uniform])[0] for pure in PURE), max(value([uniform, pure])[1] for pure in PURE)]
    assert sum(gains) == pytest.approx(11 / 12)


@pytest.mark.parametrize(
    ("name", "bets", "calls"),
    [("tight", 0.5 / 3, 1.25 / 3), ("loose", 2 / 3, 2.25 / 3), ("maniac", 1, 2.5 / 3), ("pure-37", 2 / 3, 1 / 3)],
)
def test_players_bet_and_call_as_often_in_play_as_they_say(name, bets, calls):
    game = Kuhn(hands=20)
    strategy = game.strategies[name]
    match_ups = [MatchUp(game, e % 2, "uniform", game.strategies["uniform"], "train", e, 0) for e in range(150)]
    steps = [step for episode in play(match_ups, ScriptedPolicy(game, strategy), 3) for step in episode.steps]
    for facing, expected in ((False, bets), (True, calls)):
        # The first decisions of a hand alone: the uniform opponent's card says nothing about what it did before them.
        chosen = [s.action for s in steps if s.view.facing_bet == facing and len(s.view.betting) < 2]
        assert len(chosen) > 500
        spread = np.sqrt(0.25 / len(chosen))
        assert np.mean(chosen) == pytest.approx(expected, abs=5 * spread)


def test_held_out_players_are_in_no_pool_and_differ_from_all_others():
    assert GAME.held_out == ("tight", "loose", "maniac")
    tables = {
        name: np.vstack([strategy_table(GAME, s, GAME.strategies[name]) for s in (0, 1)]) for name in GAME.strategies
    }
    for name in GAME.held_out:
        assert not any(np.allclose(tables[name], table) for other, table in tables.items() if other != name)
        assert all(name not in pool for preset in ("sepo", "paper") for pool in GAME.pools(preset).values())


@pytest.mark.parametrize("index", [-1, 64, 1.5])
def test_numbers_that_are_no_strategy_are_refused(index):
    with pytest.raises(ValueError, match="0 to 63"):
        pure_player(index)


def test_ledger_lines_of_poker_allow_no_alternatives():
    arrays = to_arrays(
        play([MatchUp(GAME, 0, "u", GAME.strategies["uniform"], "train", 0, 0)], ScriptedPolicy(GAME, PURE[63]), 0)
    )
    for name in ("expected_payoffs", "benchmark_payoffs", "harmless_payoffs"):
        np.testing.assert_array_equal(arrays["payoffs"], arrays[name])
