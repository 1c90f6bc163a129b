"""Intervals for sampled quantities.

Episodes that share a seed share deals and coins, so the unit of the statistics is the seed (cluster), not the episode:
an interval is mean +- t_{1 - alpha/2, k - 1} s / sqrt(k) over the means of k clusters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A mean with its confidence interval, in the unit of the values."""

    value: float
    low: float
    high: float


def clustered_mean(values: Array, clusters: npt.NDArray[np.int64], confidence: float) -> Estimate:
    """Mean over clusters of the cluster means, with Student's interval.

    Args:
        values: `(n,)` finite values.
        clusters: `(n,)` cluster of each value.
        confidence: For example 0.95.

    Raises:
        ValueError: If there is no value, a value is not finite, or the confidence is not in (0, 1).
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}: it must lie strictly between 0 and 1")
    if len(values) == 0 or len(values) != len(clusters):
        raise ValueError(
            f"{len(values)} values and {len(clusters)} cluster labels: equally many and at least one are needed"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"value {int(np.argmin(np.isfinite(values)))} is not finite")
    labels, index = np.unique(clusters, return_inverse=True)
    means = np.bincount(index, weights=values) / np.bincount(index)
    centre = float(means.mean())
    if len(labels) == 1:
        return Estimate(centre, -np.inf, np.inf)
    half = float(stats.t.ppf((1 + confidence) / 2, len(labels) - 1) * means.std(ddof=1) / np.sqrt(len(labels)))
    return Estimate(centre, centre - half, centre + half)


def share(hits: int, n: int, confidence: float) -> Estimate:
    """A share with its exact binomial (Clopper-Pearson) interval.

    Raises:
        ValueError: If there are no trials or more hits than trials.
    """
    if n < 1 or not 0 <= hits <= n:
        raise ValueError(f"{hits} hits in {n} trials: at least one trial and 0 <= hits <= trials are needed")
    interval = stats.binomtest(hits, n).proportion_ci(confidence)
    return Estimate(hits / n, float(interval.low), float(interval.high))


def clipped_advantage(gaps: Sequence[tuple[Array, npt.NDArray[np.int64]]], confidence: float) -> Estimate:
    """Mean over opponents of max(0, mean gap), with an interval from a Bonferroni box over the opponents.

    Args:
        gaps: For each opponent the `(n,)` gaps (opponent's minus learner's payoff per round) and their clusters.
        confidence: Of the joint interval.
    """
    each = [clustered_mean(values, clusters, 1 - (1 - confidence) / len(gaps)) for values, clusters in gaps]

    def mean(values: Sequence[float]) -> float:
        return sum(max(0.0, value) for value in values) / len(each)

    return Estimate(mean([e.value for e in each]), mean([e.low for e in each]), mean([e.high for e in each]))


def agrees(probabilities: Array, counts: npt.NDArray[np.int64]) -> bool:
    """Whether sampled actions agree with scored probabilities to within five standard errors, everywhere.

    The test is the exact binomial one at the two-sided level of five standard deviations, per information set and
    action, so that probabilities near 0 and 1 are judged rightly.

    Args:
        probabilities: `(n_infosets, n_actions)` scored policy.
        counts: Same shape, how often each action was taken.
    """
    level = 2 * stats.norm.sf(5)
    for row, taken in zip(probabilities, counts, strict=True):
        total = int(taken.sum())
        for p, k in zip(row, taken, strict=True):
            if total and stats.binomtest(int(k), total, float(np.clip(p, 0, 1))).pvalue < level:
                return False
    return True
