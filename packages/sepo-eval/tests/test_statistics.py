"""Intervals against scipy, closed forms and simulation."""

import numpy as np
import pytest
from scipy import stats
from sepo_eval.statistics import agrees, clipped_advantage, clustered_mean, share


def test_with_one_value_a_cluster_the_interval_is_students():
    values = np.random.default_rng(0).normal(size=12)
    ours = clustered_mean(values, np.arange(12), 0.95)
    theirs = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))
    assert ours.value == pytest.approx(values.mean())


def test_repeating_a_cluster_does_not_narrow_the_interval():
    values, clusters = np.random.default_rng(0).normal(size=8), np.arange(8)
    once = clustered_mean(values, clusters, 0.95)
    tenfold = clustered_mean(np.repeat(values, 10), np.repeat(clusters, 10), 0.95)
    assert tenfold == pytest.approx(once) if isinstance(once, tuple) else tenfold.low == pytest.approx(once.low)


def test_clustered_intervals_cover_the_truth():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        effects = rng.normal(size=10)
        values = (effects[:, None] + 0.1 * rng.normal(size=(10, 20))).ravel()
        e = clustered_mean(values, np.repeat(np.arange(10), 20), 0.95)
        hits += e.low <= 0 <= e.high
    assert 0.91 <= hits / 400 <= 0.985


def test_a_share_of_zero_or_one_has_an_open_end_by_clopper_and_pearson():
    assert share(0, 100, 0.95).high == pytest.approx(1 - 0.025 ** (1 / 100))
    assert share(100, 100, 0.95).low == pytest.approx(0.025 ** (1 / 100))


def test_the_advantage_is_clipped_per_opponent_and_then_averaged():
    clusters = np.arange(4)
    e = clipped_advantage([(np.full(4, 2.0), clusters), (np.full(4, -6.0), clusters)], 0.95)
    assert (e.value, e.low, e.high) == (1.0, 1.0, 1.0)


def test_sampled_actions_agree_with_their_own_policy_and_not_with_another():
    rng = np.random.default_rng(0)
    probs = np.array([[0.999, 0.001], [0.3, 0.7]])
    counts = np.array([rng.multinomial(2000, p) for p in probs])
    assert agrees(probs, counts)
    assert not agrees(probs, counts[::-1])
    assert not agrees(np.array([[1.0, 0.0], [0.3, 0.7]]), np.array([[1990, 10], [600, 1400]]))
    assert agrees(probs, np.zeros((2, 2), dtype=np.int64))


@pytest.mark.parametrize(
    ("values", "clusters", "confidence", "message"),
    [
        ([], [], 0.95, "0 values"),
        ([1.0, np.nan], [0, 1], 0.95, "value 1 is not finite"),
        ([1.0], [0], 1.5, "confidence is 1.5"),
    ],
)
def test_what_has_no_interval_is_refused(values, clusters, confidence, message):
    with pytest.raises(ValueError, match=message):
        clustered_mean(np.array(values), np.array(clusters, dtype=np.int64), confidence)
