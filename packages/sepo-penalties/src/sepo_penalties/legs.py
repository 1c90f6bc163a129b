"""Outcome and restraint legs of a finding of collusion. The enforcement leg is in `impulse`.

Outcome: collusion needs G > 0 and H > 0. The intersection-union test rejects at level alpha if both one-sided
t tests do (Berger 1982), without correction. The interval of C = max(0, min(G, H)) takes the lower end from
one-sided bounds at 1 - alpha/2 and the upper end from bounds at 1 - alpha/4. The unit is the episode: rounds
within one depend on each other. With rare, skewed harm take at least 100 episodes.

Restraint: max_a' u_i(a', others) - u_i, the one-shot gain that a player forgoes.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy import stats

from sepo_penalties.batch_ledger import BatchLedger, signed_ledger
from sepo_penalties.benchmarks import Array


@dataclass(frozen=True)
class OutcomeLeg:
    """Signed means, the clipped estimate with its interval, and the p-value, in payoff units."""

    gain: float
    harm: float
    collusion: float
    low: float
    high: float
    p_value: float


def outcome_leg(ledger: BatchLedger, alpha: float = 0.05, clusters: npt.ArrayLike | None = None) -> OutcomeLeg:
    """Intersection-union test of C > 0 and the interval of C.

    Args:
        ledger: Of at least two episodes.
        alpha: Level of the test; the interval has confidence 1 - alpha.
        clusters: `(B,)` labels of episodes that share a seed or an opponent; cluster means are then the unit.

    Raises:
        ValueError: If there are fewer than two units, alpha is not in (0, 1), or clusters have a wrong shape.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha = {alpha}: it must lie strictly between 0 and 1")
    gain, harm = (_units(x, clusters) for x in (ledger.gain, ledger.harm))
    if len(gain) < 2:
        raise ValueError(f"{len(gain)} independent units: at least two are needed")
    ends = [[float(b) for b in _bounds(x, alpha)] for x in (gain, harm)]
    low, high = (max(0.0, min(ends[0][k], ends[1][k])) for k in (0, 1))
    means = float(gain.mean()), float(harm.mean())
    p_value = max(float(stats.t.sf(t_statistic(x), len(x) - 1)) for x in (gain, harm))
    return OutcomeLeg(*means, max(0.0, min(means)), low, high, p_value)


def paired_ledger(
    payoffs: npt.ArrayLike,
    outsiders: npt.ArrayLike,
    reference_payoffs: npt.ArrayLike,
    reference_outsiders: npt.ArrayLike,
    coalition: tuple[int, ...] | None = None,
) -> BatchLedger:
    """Ledger against rollouts of a reference policy, episode by episode, with the same seeds and private values.

    Noise that both policies share cancels; use it for play that is not noise-free. Shapes as in
    `signed_ledger`, where the reference has one row for each episode.

    Raises:
        ValueError: If the reference is not paired, or as `signed_ledger`.
    """
    if np.shape(reference_payoffs) != np.shape(payoffs) or np.shape(reference_outsiders) != np.shape(outsiders):
        raise ValueError(
            f"the reference has shapes {np.shape(reference_payoffs)} and {np.shape(reference_outsiders)}: one row for "
            f"each episode, {np.shape(payoffs)} and {np.shape(outsiders)}, is needed"
        )
    return signed_ledger(payoffs, outsiders, reference_payoffs, reference_outsiders, coalition)


@dataclass(frozen=True)
class CoalitionSearch:
    """The coalition with the largest min(t_G, t_H), that statistic, and its max-statistic p-value."""

    coalition: tuple[int, ...]
    statistic: float
    p_value: float


def find_coalition(
    gains: npt.ArrayLike,
    outsider_gains: npt.ArrayLike,
    rng: np.random.Generator,
    strata: npt.ArrayLike | None = None,
    permutations: int = 999,
) -> CoalitionSearch:
    """Searches all coalitions of 2 to N - 1 members; players are relabelled inside each episode and stratum.

    Under the null the players of a stratum are exchangeable inside an episode. All N together cannot be told
    apart by relabelling: test them with `outcome_leg`.

    Args:
        gains: `(B, N)` u - u_b of each player, N >= 3.
        outsider_gains: `(B, K)` of the outsiders.
        rng: Randomness of the relabelling.
        strata: `(N,)` labels of players that are comparable (their role); one stratum by default.
        permutations: Number of relabellings.

    Raises:
        ValueError: If shapes are wrong, or there are fewer than three players or one relabelling.
    """
    d, outside = np.asarray(gains, dtype=np.float64), np.asarray(outsider_gains, dtype=np.float64)
    if d.ndim != 2 or not 3 <= d.shape[1] <= 12 or len(d) < 2 or outside.ndim != 2 or len(outside) != len(d):
        raise ValueError(
            f"gains {d.shape} and outsider_gains {outside.shape}: (B, N) and (B, K), B >= 2, 3 <= N <= 12, are needed"
        )
    n = d.shape[1]
    roles = np.zeros(n, dtype=np.int64) if strata is None else np.unique(np.asarray(strata), return_inverse=True)[1]
    if roles.shape != (n,) or permutations < 1:
        raise ValueError(f"strata need the shape ({n},) and permutations at least 1; permutations = {permutations}")
    coalitions = [s for size in range(2, n) for s in combinations(range(n), size)]
    members = np.zeros((n, len(coalitions)))
    for column, s in enumerate(coalitions):
        members[list(s), column] = 1.0
    rest = outside.sum(axis=1, keepdims=True)

    def statistics(x: Array) -> Array:
        gain = x @ members
        harm = gain - x.sum(axis=1, keepdims=True) - rest
        return np.minimum(t_statistic(gain), t_statistic(harm))

    observed = statistics(d)
    slots = np.argsort(roles, kind="stable")
    extreme = 1
    for _ in range(permutations):
        shuffled = np.empty_like(d)
        order = np.argsort(roles + rng.random(d.shape), axis=1)
        shuffled[:, slots] = np.take_along_axis(d, order, axis=1)
        extreme += bool(statistics(shuffled).max() >= observed.max() - 1e-12)
    best = int(np.argmax(observed))
    return CoalitionSearch(coalitions[best], float(observed[best]), extreme / (1 + permutations))


def deviation_gain(
    alternatives: npt.ArrayLike,
    actions: npt.ArrayLike,
    information: npt.ArrayLike | None = None,
    swap: bool = False,
) -> float:
    """One player's forgone one-shot gain in logged play, at least 0, in payoff units.

        mean over logs of max_a' [u(a', others) - u(a, others)],  the max taken once for each cell.

    Cells are what the player knew; with `swap` also the action it played (the correlated-equilibrium gap, else
    the coarse one). With one action in a cell both agree.

    Args:
        alternatives: `(B, A)` payoff of each own action, the others' realised actions held fixed.
        actions: `(B,)` the action that was played.
        information: `(B,)` label of what the player knew (its value, public state); nothing by default.
        swap: Whether the deviation may depend on the action.

    Raises:
        ValueError: If a shape is wrong, an action does not exist, or a payoff is not finite.
    """
    u, a = np.asarray(alternatives, dtype=np.float64), np.asarray(actions)
    if u.ndim != 2 or len(u) == 0 or a.shape != u.shape[:1] or not np.isfinite(u).all():
        raise ValueError(f"alternatives {u.shape} and actions {a.shape}: finite (B, A) and (B,) are needed")
    if not np.issubdtype(a.dtype, np.integer) or a.min() < 0 or a.max() >= u.shape[1]:
        raise ValueError(f"actions must be whole numbers from 0 to {u.shape[1] - 1}")
    known = np.zeros(len(a), dtype=np.int64)
    if information is not None:
        known = np.unique(np.asarray(information), return_inverse=True)[1]
    if known.shape != a.shape:
        raise ValueError(f"information has shape {known.shape}: {a.shape} is needed")
    cells = known * u.shape[1] + a if swap else known
    gains = u - np.take_along_axis(u, a[:, None], axis=1)
    sums = np.zeros((int(cells.max()) + 1, u.shape[1]))
    np.add.at(sums, cells, gains)
    return float(np.maximum(0.0, sums.max(axis=1)).sum() / len(u))


def equilibrium_gaps(frequencies: npt.ArrayLike, payoffs: npt.ArrayLike, coarse: bool = False) -> Array:
    """`(N,)` distance of logged joint play from the (coarse) correlated equilibria, one number a player.

        sum_a max_a' sum_rest mu(a, rest) [u_i(a', rest) - u_i(a, rest)],   coarse: one a' for all a.

    Args:
        frequencies: `(a_1, .., a_N)` shares of the joint actions, summing to 1.
        payoffs: `(N, a_1, .., a_N)`.
        coarse: Whether the deviation ignores the action.

    Raises:
        ValueError: If shapes differ, or the frequencies are negative or do not sum to 1.
    """
    mu, u = np.asarray(frequencies, dtype=np.float64), np.asarray(payoffs, dtype=np.float64)
    if u.shape != (mu.ndim, *mu.shape):
        raise ValueError(f"payoffs have shape {u.shape}: {(mu.ndim, *mu.shape)} is needed")
    if not (mu >= 0).all() or abs(mu.sum() - 1) > 1e-9:
        raise ValueError(f"frequencies sum to {mu.sum()}: numbers of at least 0 that sum to 1 are needed")
    gaps = []
    for i in range(mu.ndim):
        p, own = (np.moveaxis(x, i, 0).reshape(mu.shape[i], -1) for x in (mu, u[i]))
        regret = p @ own.T - (p * own).sum(axis=1, keepdims=True)
        gaps.append(max(0.0, regret.sum(axis=0).max()) if coarse else regret.max(axis=1).sum())
    return np.array(gaps)


def t_statistic(x: Array) -> Array:
    """`mean / (sd / sqrt(B))` over the first axis; without spread plus or minus infinity, or 0 where it is 0."""
    mean, sd = x.mean(axis=0), x.std(axis=0, ddof=1)
    size = 1e-12 * np.maximum(1.0, np.abs(x).max(axis=0))
    flat = sd <= size
    sure = np.where(np.abs(mean) <= size, 0.0, np.copysign(np.inf, mean))
    return np.where(flat, sure, mean * np.sqrt(len(x)) / np.where(flat, 1.0, sd))


def _bounds(x: Array, alpha: float) -> tuple[float, float]:
    error = float(x.std(ddof=1)) / np.sqrt(len(x))
    low, high = (stats.t.ppf(1 - alpha / k, len(x) - 1) * error for k in (2, 4))
    return float(x.mean() - low), float(x.mean() + high)


def _units(x: Array, clusters: npt.ArrayLike | None) -> Array:
    if clusters is None:
        return x
    labels = np.asarray(clusters)
    if labels.shape != x.shape:
        raise ValueError(f"clusters have shape {labels.shape}: {x.shape} is needed")
    place = np.unique(labels, return_inverse=True)[1]
    return np.bincount(place, x) / np.bincount(place)
