"""Surplus of the best responder and advantage of scripted opponents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sepo_penalties import Interval, opponent_surplus, pool_advantage


def test_the_best_response_to_tit_for_tat_wins_a_quarter_a_round_beyond_the_fair_payoff():
    surplus = opponent_surplus(26, 3, 8)
    assert (surplus.signed, surplus.clipped, surplus.kind) == (0.25, 0.25, "exact")


def test_always_defect_leaves_less_than_the_fair_payoff_and_is_clipped():
    surplus = opponent_surplus(8, 3, 8)
    assert (surplus.signed, surplus.clipped) == (-2, 0)


def test_an_interval_keeps_both_ends():
    surplus = opponent_surplus(Interval(20, 28), 3, 8)
    assert (surplus.signed, surplus.clipped, surplus.kind) == (
        Interval(-0.5, 0.5),
        Interval(0, 0.5),
        "interval",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.nan, 3.0, 8), "finite"),
        ((26.0, np.inf, 8), "finite"),
        ((26.0, 3.0, 0), "at least one"),
        ((Interval(2.0, 1.0), 0.0, 1), "low at most high"),
        ((26.0, 3.0, 8, "interval"), "choose from exact, lower, upper"),
        ((Interval(1.0, 2.0), 3.0, 8, "exact"), "choose from interval"),
    ],
)
def test_what_is_no_surplus_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        opponent_surplus(*arguments)


def test_pool_advantage_clips_per_opponent_and_counts_every_opponent_once():
    names = ["a", "a", "a", "b"]
    assert pool_advantage([0, 0, 0, 9], [3, 1, 2, 0], names) == pytest.approx(1.0)


@given(
    st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9), st.sampled_from("abc")), min_size=1),
    st.floats(-5, 5),
)
def test_pool_advantage_is_never_negative_and_ignores_a_shift_of_both(rows, shift):
    own, other, names = map(np.array, zip(*rows, strict=True))
    value = pool_advantage(own, other, names)
    assert value >= 0
    assert pool_advantage(own + shift, other + shift, names) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], []), "at least one episode"),
        (([1.0], [1.0, 2.0], ["a"]), "shapes"),
        (([1.0, np.nan], [1.0, 2.0], ["a", "b"]), "episode 1 against 'b'"),
    ],
)
def test_episodes_that_cannot_be_averaged_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        pool_advantage(*arguments)
