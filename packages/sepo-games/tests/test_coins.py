"""Coins depend on their key alone, and many at once are the same as one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_games.coins import coin, coins, draw


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8).flatmap(lambda w: st.lists(st.tuples(*[st.integers(0, 2**32 - 1)] * w), max_size=40)))
def test_many_coins_are_bit_for_bit_the_single_ones_and_numpys_philox(keys):
    assert coins(keys) == [coin(*key) for key in keys]
    assert coins(keys) == [np.random.Generator(np.random.Philox(np.random.SeedSequence(key))).random() for key in keys]


def test_keys_beyond_32_bits_and_of_mixed_lengths_are_computed_one_by_one():
    keys = [(2**40 + i, i) for i in range(30)] + [(i,) for i in range(30)]
    assert coins(keys) == [coin(*key) for key in keys]


def test_coins_are_uniform_and_neighbouring_keys_are_unrelated():
    values = np.array(coins([(0, g, s) for g in range(200) for s in range(100)])).reshape(200, 100)
    assert abs(values.mean() - 0.5) < 5 * np.sqrt(1 / 12 / values.size)
    assert np.histogram(values, bins=10, range=(0, 1))[0] == pytest.approx(2000, abs=5 * np.sqrt(2000))
    assert abs(np.corrcoef(values[:, :-1].ravel(), values[:, 1:].ravel())[0, 1]) < 0.04
    assert abs(np.corrcoef(values[:-1].ravel(), values[1:].ravel())[0, 1]) < 0.04


def test_negative_keys_are_refused():
    with pytest.raises(ValueError, match="non-negative"):
        coins([(-1, i) for i in range(30)])


@given(st.floats(0, 1, exclude_max=True))
def test_a_draw_never_picks_an_action_of_probability_zero(uniform):
    assert draw((0.0, 0.25, 0.0, 0.75, 0.0), uniform) == (1 if uniform < 0.25 else 3)
    assert draw((0.1,) * 10 + (0.0,), uniform) < 10


@pytest.mark.parametrize("row", [(0.0, 0.0), (0.25, 0.25), (float("nan"), float("nan")), ()])
def test_a_draw_beyond_what_the_probabilities_add_up_to_is_refused(row):
    with pytest.raises(ValueError, match="add up to"):
        draw(row, 0.9)
