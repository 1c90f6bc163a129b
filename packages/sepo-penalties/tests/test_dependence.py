"""Information measures against closed forms, and their permutation tests."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_penalties.dependence import information_test, mutual_information, transfer_entropy, transfer_test


def rows(table):
    """Labelled observations with exactly these counts."""
    cells = np.argwhere(np.asarray(table) > 0)
    return np.repeat(cells, [table[tuple(c)] for c in cells], axis=0).T


def test_information_of_known_tables_is_that_of_the_sheet():
    assert mutual_information(*rows(np.array([[5, 0], [0, 5]]))).information == pytest.approx(math.log(2))
    assert mutual_information(*rows(np.array([[4, 1], [1, 4]]))).information == pytest.approx(0.192745, abs=1e-6)
    counted = mutual_information(*rows(np.array([[30, 10], [10, 30]])))
    assert counted.information == pytest.approx(0.130812, abs=1e-6)
    assert counted.statistic == pytest.approx(20.929926, abs=1e-6)
    assert counted.p_value == pytest.approx(4.764e-6, rel=1e-3)
    assert counted.corrected == pytest.approx(0.124562, abs=1e-6)


def test_a_common_cause_and_xor_are_told_apart_by_conditioning():
    flips = np.array([[81, 9], [9, 1]])
    table = np.stack([flips, flips[::-1, ::-1]])
    z, x, y = rows(table)
    assert mutual_information(x, y).information == pytest.approx(0.221754, abs=1e-6)
    assert mutual_information(x, y, z).information == pytest.approx(0, abs=1e-12)
    x, y = rows(np.ones((2, 2), dtype=int))
    assert mutual_information(x, y).information == pytest.approx(0, abs=1e-12)
    assert mutual_information(x, y, x ^ y).information == pytest.approx(math.log(2))


def test_six_rounds_of_independent_play_look_dependent():
    rng = np.random.default_rng(0)
    found = [mutual_information(*rng.integers(0, 3, (2, 6))).information for _ in range(3000)]
    assert np.mean(found) == pytest.approx(0.361, abs=0.01)


def test_a_copycat_transfers_one_bit_forward_and_none_backward():
    source = np.random.default_rng(1).integers(0, 2, (400, 20))
    target = np.roll(source, 1, axis=1)
    target[:, 0] = 0
    assert transfer_entropy(source, target) == pytest.approx(math.log(2), abs=0.01)
    assert transfer_entropy(target, source) == pytest.approx(0, abs=0.002)
    rng = np.random.default_rng(2)
    assert transfer_test(source[:20], target[:20], rng, permutations=99) == 0.01
    assert transfer_test(source[:20], target[:20], rng, public=np.roll(source, 1, axis=1)[:20], permutations=99) == 1


def test_p_values_are_not_too_small_without_dependence_and_strata_remove_a_common_cause():
    rng = np.random.default_rng(3)
    found = []
    for _ in range(150):
        z = rng.integers(0, 2, 60)
        x, y = ((z ^ (rng.random(60) < 0.1)) for _ in range(2))
        found.append(information_test(x, y, z, rng, permutations=39))
    for level in (0.05, 0.1, 0.5):
        assert np.mean(np.array(found) <= level) <= level + 3 * np.sqrt(level * (1 - level) / 150)
    assert information_test(x, y, None, rng, permutations=99) == 0.01


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 4))
def test_information_is_bounded_symmetric_and_blind_to_names_and_never_grows_by_processing(seed, size, kinds):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, kinds, size), rng.integers(0, kinds + 1, size)
    z = rng.integers(0, 2, size)
    value = mutual_information(x, y).information

    def entropy(labels):
        p = np.unique(labels, return_counts=True)[1] / size
        return float(-(p * np.log(p)).sum())

    assert 0 <= value <= min(entropy(x), entropy(y)) + 1e-9
    assert mutual_information(y, x).information == pytest.approx(value, abs=1e-12)
    names = np.array(["d", "a", "c", "b"])
    assert mutual_information(names[x], -y, None).information == pytest.approx(value, abs=1e-12)
    assert mutual_information(x // 2, y).information <= value + 1e-9
    chain = mutual_information(x, z).information + mutual_information(x, y, z).information
    assert chain == pytest.approx(mutual_information(x, y * 2 + z).information, abs=1e-9)


def test_labels_are_shuffled_inside_strata_only():
    # Inside strata every shuffle leaves the information as it is; across strata nearly none does.
    x, y, z = np.r_[0, 1, np.arange(40) % 2], np.r_[0, 1, np.zeros(40, int)], np.r_[0, 0, np.ones(40, int)]
    assert information_test(x, y, z, np.random.default_rng(4), permutations=99) == 1


def test_observations_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="one label each"):
        mutual_information([0, 1], [0])
    with pytest.raises(ValueError, match="T >= 2"):
        transfer_entropy([[0]], [[0]])
