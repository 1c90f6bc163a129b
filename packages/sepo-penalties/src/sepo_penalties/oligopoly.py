"""Cournot competition, a static commons and a public good, on a grid of actions.

Cournot        u_i = q_i (m - Q), consumers Q^2 / 2     (m: demand intercept less unit cost)
commons        u_i = x_i (capacity - X)                 (no outsiders)
public goods   u_i = endowment - g_i + mpcr * sum_j g_j (no outsiders)
"""

import numpy as np
import numpy.typing as npt

from sepo_penalties.benchmarks import Benchmark, grid_benchmark, joint_actions


def cournot(n: int, quantities: npt.ArrayLike, margin: float = 90.0) -> Benchmark:
    """Cournot benchmark; the price may fall below cost, where firms lose.

    Args:
        n: Firms.
        quantities: The action grid.
        margin: Demand intercept less the unit cost.
    """
    q = joint_actions(quantities, n)
    total = q.sum(axis=0)
    return grid_benchmark(_labels(quantities), q * (margin - total), total[None] ** 2 / 2)


def commons(n: int, takes: npt.ArrayLike, capacity: float = 12.0) -> Benchmark:
    """Benchmark of a common pool whose yield per unit falls with the total take."""
    x = joint_actions(takes, n)
    return grid_benchmark(_labels(takes), x * (capacity - x.sum(axis=0)), np.empty((0, *x.shape[1:])))


def public_goods(n: int, contributions: npt.ArrayLike, endowment: float = 20.0, mpcr: float = 0.4) -> Benchmark:
    """Benchmark of a linear public good.

    Args:
        n: Players.
        contributions: The action grid, between 0 and the endowment.
        endowment: Of each player.
        mpcr: What each player gets for each unit that anybody gives.

    Raises:
        ValueError: If a contribution lies outside of [0, endowment].
    """
    g = joint_actions(contributions, n)
    if g.min() < 0 or g.max() > endowment:
        raise ValueError(f"contributions from {g.min()} to {g.max()}: they must lie in [0, {endowment}]")
    return grid_benchmark(_labels(contributions), endowment - g + mpcr * g.sum(axis=0), np.empty((0, *g.shape[1:])))


def _labels(grid: npt.ArrayLike) -> tuple[object, ...]:
    return tuple(np.asarray(grid, dtype=np.float64).tolist())
