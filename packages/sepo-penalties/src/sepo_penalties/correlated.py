"""Best correlated and coarse correlated equilibria of matrix games, by linear programming.

A distribution p over joint actions is a correlated equilibrium (Aumann 1974) if nobody gains by answering a
recommendation a with another action b, and a coarse one (Moulin and Vial 1978) if nobody gains by ignoring
its recommendations for a fixed b:

    sum_{a_-i} p(a, a_-i) (u_i(b, a_-i) - u_i(a, a_-i)) <= 0    for all i, a, b,
    sum_a of the same <= 0                                      for all i, b.

Both sets are polytopes; the program finds the point that is best for an objective.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linprog

from sepo_penalties.sequence_form import Array, SequenceForm


@dataclass(frozen=True)
class CorrelatedEquilibrium:
    """A best (coarse) correlated equilibrium.

    Attributes:
        distribution: `(a_1, ..., a_n)` probability of each joint action.
        payoffs: `(n_players,)` expected payoffs, in the game's units.
        objective: What was maximised; no other equilibrium of the kind has more.
    """

    distribution: Array
    payoffs: Array
    objective: float


def correlated_equilibrium(
    payoffs: npt.ArrayLike, objective: npt.ArrayLike | None = None, coarse: bool = False
) -> CorrelatedEquilibrium:
    """The (coarse) correlated equilibrium that is best for an objective.

    Args:
        payoffs: `(n_players, a_1, ..., a_n)` payoff of each player for each joint action.
        objective: What is maximised: `(n_players,)` weights of the players' payoffs, ones for a coalition and
            zeros for the rest, or `(a_1, ..., a_n)` a number for each joint action, say minus the seller's
            revenue. All players' payoffs by default.
        coarse: Whether a coarse equilibrium is enough.

    Raises:
        ValueError: If there are fewer than two players, a shape is wrong, or a number is not finite.
    """
    table: Array = SequenceForm.from_matrix(payoffs).payoffs.reshape(np.asarray(payoffs).shape)
    n, sizes = table.shape[0], table.shape[1:]
    if n < 2:
        raise ValueError("payoffs are those of one player: correlation needs at least two")
    wanted = np.ones(n) if objective is None else np.asarray(objective, dtype=np.float64)
    if wanted.shape not in {(n,), sizes} or not np.isfinite(wanted).all():
        raise ValueError(
            f"objective has shape {wanted.shape}: finite weights of the {n} players, or a finite number for each of "
            f"the {sizes} joint actions, are needed"
        )
    goal = np.tensordot(wanted, table, axes=1) if wanted.shape == (n,) else wanted
    rows: Any = sparse.vstack([_incentives(table, player, coarse) for player in range(n)], format="csr")
    solved = linprog(
        -goal.ravel(), A_ub=rows, b_ub=np.zeros(rows.shape[0]), A_eq=np.ones((1, goal.size)), b_eq=[1.0], method="highs"
    )
    if not solved.success or solved.x is None:
        raise ValueError(f"the linear program failed: {solved.message}")
    mix = np.maximum(np.asarray(solved.x, dtype=np.float64), 0.0).reshape(sizes)
    mix /= mix.sum()
    return CorrelatedEquilibrium(mix, table.reshape(n, -1) @ mix.ravel(), float((goal * mix).sum()))


def _incentives(table: Array, player: int, coarse: bool) -> sparse.csr_array:
    """Rows of gains times probabilities: one for each (action, other action), or for each fixed action."""
    size = table.shape[1 + player]
    cells = np.moveaxis(np.arange(table[player].size).reshape(table.shape[1:]), player, 0).reshape(size, -1)
    earned = np.moveaxis(table[player], player, 0).reshape(size, -1)
    # gains[b, a, rest] = u(b, rest) - u(a, rest)
    gains = earned[:, None] - earned[None]
    row = np.arange(size)[:, None] + (0 if coarse else size) * np.arange(size)
    place = (np.broadcast_to(row[..., None], gains.shape).ravel(), np.broadcast_to(cells, gains.shape).ravel())
    shape = (size if coarse else size * size, table[player].size)
    return sparse.csr_array(sparse.coo_array((gains.ravel(), place), shape=shape))
