"""Logit Bertrand competition of Calvano, Calzolari, Denicolo and Pastorello (AER 2020).

    q_i = exp((a - p_i)/mu) / (sum_j exp((a - p_j)/mu) + exp(a0/mu)),   profit_i = (p_i - c) q_i,
    consumer surplus = mu ln(sum_j exp((a - p_j)/mu) + exp(a0/mu)).

Nash and monopoly prices solve (p - c)(1 - q) = mu and (p - c)(1 - n q) = mu.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import logsumexp

from sepo_penalties.benchmarks import Array, Benchmark, grid_benchmark, joint_actions


def logit_market(
    prices: npt.ArrayLike, quality: float = 2.0, cost: float = 1.0, outside: float = 0.0, mu: float = 0.25
) -> tuple[Array, Array]:
    """Profits and consumer surplus.

    Args:
        prices: `(N, ...)` a price for each firm, any trailing axes.
        quality: a, the same for all.
        cost: c per unit.
        outside: a0, value of buying nothing.
        mu: Differentiation, above 0.

    Returns:
        Profits `(N, ...)` and consumer surplus `(...)`.
    """
    p = np.asarray(prices, dtype=np.float64)
    if not np.isfinite(p).all() or not mu > 0:
        raise ValueError(f"prices must be finite and mu above 0; mu = {mu}")
    utility = (quality - p) / mu
    total = np.logaddexp(logsumexp(utility, axis=0), outside / mu)
    return (p - cost) * np.exp(utility - total), mu * total


def logit_prices(
    n: int, quality: float = 2.0, cost: float = 1.0, outside: float = 0.0, mu: float = 0.25
) -> tuple[float, float]:
    """Nash and monopoly prices where prices are any real number.

    Raises:
        ValueError: If n < 1 or mu is not above 0.
    """
    if n < 1 or not mu > 0:
        raise ValueError(f"n = {n}, mu = {mu}: at least one firm and mu above 0 are needed")

    def solved(owned: int) -> float:
        def condition(p: float) -> float:
            share = 1 / (n + math.exp(min(700.0, (outside - quality + p) / mu)))
            return (p - cost) * (1 - owned * share) - mu

        high = cost + mu
        while condition(high) <= 0:
            high += max(1.0, high - cost)
        return float(brentq(condition, cost, high, xtol=1e-14))

    return solved(1), solved(n)


def logit_bertrand(
    n: int = 2,
    prices: npt.ArrayLike | None = None,
    quality: float = 2.0,
    cost: float = 1.0,
    outside: float = 0.0,
    mu: float = 0.25,
) -> Benchmark:
    """Benchmark of logit Bertrand with consumers as the outsider.

    Args:
        n: Number of firms.
        prices: The action grid; by default 15 points from p_N - 0.1 (p_M - p_N) to p_M + 0.1 (p_M - p_N).
        quality: a.
        cost: c.
        outside: a0.
        mu: Differentiation.
    """
    if prices is None:
        nash, monopoly = logit_prices(n, quality, cost, outside, mu)
        margin = 0.1 * (monopoly - nash)
        prices = np.linspace(nash - margin, monopoly + margin, 15)
    joint = joint_actions(prices, n)
    profits, surplus = logit_market(joint, quality, cost, outside, mu)
    return grid_benchmark(tuple(np.asarray(prices, dtype=np.float64).tolist()), profits, surplus[None])
