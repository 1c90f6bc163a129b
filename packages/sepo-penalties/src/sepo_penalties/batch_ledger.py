"""Signed ledger of a batch and the indices made from it.

For a coalition S, everybody else O (other players and outsiders), observed play and a benchmark b:

    gain G = sum_S w (u - u_b),   harm H = sum_O w (u_b - u),   loss L = W(b) - W,   H = G + L always,
    collusion C = max(0, min(G, H)),   externality E = max(0, L);   C + E = H where G, H >= 0.

Signed terms are averaged before anything is clipped: clipping first is biased upward.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sepo_penalties.benchmarks import Array
from sepo_penalties.episodes import EpisodeBatch


@dataclass(frozen=True)
class BatchLedger:
    """`(B,)` signed gain, harm and loss of each episode, per round, in payoff units."""

    gain: Array
    harm: Array
    loss: Array

    @property
    def collusion(self) -> float:
        """max(0, min(mean G, mean H))."""
        return max(0.0, min(float(self.gain.mean()), float(self.harm.mean())))

    @property
    def externality(self) -> float:
        """max(0, mean L)."""
        return max(0.0, float(self.loss.mean()))


def signed_ledger(
    payoffs: npt.ArrayLike,
    outsiders: npt.ArrayLike,
    benchmark_payoffs: npt.ArrayLike,
    benchmark_outsiders: npt.ArrayLike,
    coalition: Sequence[int] | None = None,
    weights: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> BatchLedger:
    """Ledger of one number for each episode and party.

    Args:
        payoffs: `(B, N)` per-round averages of the players.
        outsiders: `(B, K)` of the outsiders; K may be 0.
        benchmark_payoffs: `(N,)` or `(B, N)`, for the same private values where there are any.
        benchmark_outsiders: `(K,)` or `(B, K)`.
        coalition: Members, at least two; all players by default.
        weights: `(N,)` of players and `(K,)` of outsiders, above 0; ones by default.

    Raises:
        ValueError: If a shape is wrong, a number is not finite, a weight is not above 0, or the coalition has
            fewer than two or unknown members.
    """
    u, v = np.asarray(payoffs, dtype=np.float64), np.asarray(outsiders, dtype=np.float64)
    if u.ndim != 2 or v.ndim != 2 or len(u) != len(v) or len(u) == 0:
        raise ValueError(f"payoffs {u.shape} and outsiders {v.shape}: (B, N) and (B, K) with B >= 1 are needed")
    lines = []
    for name, line, given in (("payoffs", u, benchmark_payoffs), ("outsiders", v, benchmark_outsiders)):
        base = np.asarray(given, dtype=np.float64)
        if base.shape not in {line.shape, line.shape[1:]}:
            raise ValueError(f"benchmark_{name} have shape {base.shape}: {line.shape[1:]} or {line.shape} is needed")
        if not (np.isfinite(line).all() and np.isfinite(base).all()):
            raise ValueError(f"{name} and their benchmark must be finite")
        lines.append(line - base)
    n, k = u.shape[1], v.shape[1]
    scale = [np.ones(n), np.ones(k)] if weights is None else [np.asarray(w, dtype=np.float64) for w in weights]
    if scale[0].shape != (n,) or scale[1].shape != (k,) or not all((w > 0).all() for w in scale):
        raise ValueError(f"weights must be numbers above 0 of shapes ({n},) and ({k},)")
    members = list(range(n)) if coalition is None else sorted(coalition)
    if len(members) < 2 or len(set(members)) != len(members) or members[0] < 0 or members[-1] >= n:
        raise ValueError(f"coalition {members}: at least two distinct players from 0 to {n - 1} are needed")
    more, rest = lines[0] * scale[0], (lines[1] * scale[1]).sum(axis=1)
    inside = np.isin(np.arange(n), members)
    gain = more[:, inside].sum(axis=1)
    harm = -more[:, ~inside].sum(axis=1) - rest
    return BatchLedger(gain, harm, -more.sum(axis=1) - rest)


def batch_ledger(
    batch: EpisodeBatch,
    benchmark_payoffs: npt.ArrayLike,
    benchmark_outsiders: npt.ArrayLike,
    coalition: Sequence[int] | None = None,
    weights: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> BatchLedger:
    """Ledger of a batch: tie-averaged payoffs less the benchmark, averaged over each episode's steps.

    Args:
        batch: The episodes.
        benchmark_payoffs: Broadcasts to `(B, T, N)`; padding is ignored.
        benchmark_outsiders: Broadcasts to `(B, T, K)`.
        coalition: See `signed_ledger`.
        weights: See `signed_ledger`.

    Raises:
        ValueError: If the outsiders were never declared, or as `signed_ledger`.
    """
    if not batch.outsiders_declared:
        raise ValueError("the batch does not say who its outsiders are: declare them, or state that there are none")
    steps = batch.mask.sum(axis=1)[:, None]

    def averaged(array: npt.ArrayLike, like: Array) -> Array:
        whole = np.broadcast_to(np.asarray(array, dtype=np.float64), like.shape)
        means: Array = np.where(batch.mask[..., None], whole, 0.0).sum(axis=1) / steps
        return means

    return signed_ledger(
        averaged(batch.expected_payoffs, batch.expected_payoffs),
        averaged(batch.expected_outsiders, batch.expected_outsiders),
        averaged(benchmark_payoffs, batch.expected_payoffs),
        averaged(benchmark_outsiders, batch.expected_outsiders),
        coalition,
        weights,
    )


def profit_gain(profit: float, nash: float, collusive: float) -> float:
    """Calvano's (profit - nash) / (collusive - nash); not bounded, 0/0 := 0.

    Raises:
        ValueError: If the benchmarks coincide and the profit differs, or collusion earns less than Nash.
    """
    return _ratio(profit - nash, collusive - nash, "collusive profit less Nash profit")


def collusion_index(collusion: float, largest_gain: float) -> float:
    """Index kappa = C / G_max, where G_max is the coalition's best gain over the benchmark with H >= 0; 0/0 := 0.

    Raises:
        ValueError: If C is negative or above G_max.
    """
    if not -1e-9 <= collusion <= largest_gain + 1e-9:
        raise ValueError(f"collusion = {collusion}: it must lie between 0 and the largest gain {largest_gain}")
    return _ratio(collusion, largest_gain, "largest gain")


def welfare_shortfall(welfare: float, best: float, lowest: float) -> float:
    """(best - welfare) / (best - lowest), both constants of the game; 0/0 := 0.

    Raises:
        ValueError: If welfare lies outside of [lowest, best].
    """
    if not lowest - 1e-9 <= welfare <= best + 1e-9:
        raise ValueError(f"welfare = {welfare}: it must lie between {lowest} and {best}, constants of the game")
    return _ratio(best - welfare, best - lowest, "best less lowest welfare")


def _ratio(top: float, bottom: float, name: str) -> float:
    if not (np.isfinite(top) and np.isfinite(bottom)) or bottom < 0:
        raise ValueError(f"{name} = {bottom}: it must be finite and at least 0, and so must the rest be finite")
    if bottom == 0:
        if abs(top) > 1e-12:
            raise ValueError(f"{name} is 0 but the numerator is {top}: the benchmarks do not fit")
        return 0.0
    return float(top / bottom)
