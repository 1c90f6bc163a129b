"""Equilibrium, collusive and efficient outcomes of a game on its actual action grid.

A grid moves the equilibrium: a continuous formula would call competition on the grid collusion. All pure Nash
equilibria of the table are enumerated; the benchmark is the one that is best for the players together (the
benefit of the doubt), among these the one worst for outsiders, then the most equal one.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
MAX_CELLS = 4_000_000


@dataclass(frozen=True)
class Outcome:
    """One joint action: labels of the actions, `(N,)` players' and `(K,)` outsiders' payoffs."""

    actions: tuple[object, ...]
    payoffs: Array
    outsiders: Array

    @property
    def welfare(self) -> float:
        """Sum over players and outsiders."""
        return float(self.payoffs.sum() + self.outsiders.sum())


@dataclass(frozen=True)
class Benchmark:
    """Outcomes of a game in its own units.

    Attributes:
        labels: The actions of every player, the same for all.
        payoffs: `(N, a_1, .., a_N)`.
        outsiders: `(K, a_1, .., a_N)`; K may be 0.
        equilibria: All pure Nash equilibria.
        equilibrium: The equilibrium that is best for the players together.
        collusive: The joint action with the largest sum of the players' payoffs.
        efficient: The joint action with the largest welfare.
        worst: The joint action with the least welfare.
    """

    labels: tuple[object, ...]
    payoffs: Array
    outsiders: Array
    equilibria: tuple[Outcome, ...]
    equilibrium: Outcome
    collusive: Outcome
    efficient: Outcome
    worst: Outcome

    def outcome(self, *actions: object) -> Outcome:
        """The outcome of one label for each player.

        Raises:
            ValueError: If there is no such label or the number of labels is wrong.
        """
        if len(actions) != len(self.payoffs) or any(a not in self.labels for a in actions):
            raise ValueError(f"actions {actions} do not exist: give {len(self.payoffs)} out of {self.labels}")
        return _outcome(self.labels, self.payoffs, self.outsiders, tuple(self.labels.index(a) for a in actions))


def grid_benchmark(
    labels: tuple[object, ...], payoffs: npt.ArrayLike, outsiders: npt.ArrayLike, tolerance: float = 1e-9
) -> Benchmark:
    """Benchmark of a payoff table whose players share one list of actions.

    Args:
        labels: Names or numbers of the actions.
        payoffs: `(N, a, .., a)` of N >= 2 players.
        outsiders: `(K, a, .., a)`; `np.empty((0, a, .., a))` states that there are none.
        tolerance: Gains up to this many payoff units do not break an equilibrium or a tie.

    Raises:
        ValueError: If a shape is wrong, a number is not finite, or no pure equilibrium exists.
    """
    u, v = np.asarray(payoffs, dtype=np.float64), np.asarray(outsiders, dtype=np.float64)
    shape = (len(labels),) * (u.ndim - 1)
    if u.ndim < 3 or u.shape != (u.ndim - 1, *shape) or v.shape[1:] != shape:
        raise ValueError(
            f"payoffs have shape {u.shape} and outsiders {v.shape}: (N, a, .., a) and (K, a, .., a) with "
            f"N >= 2 and a = {len(labels)} labels are needed"
        )
    if not (np.isfinite(u).all() and np.isfinite(v).all()):
        raise ValueError("payoffs must be finite")
    nash = np.ones(shape, dtype=bool)
    for i, own in enumerate(u):
        nash &= own >= own.max(axis=i, keepdims=True) - tolerance
    cells = [tuple(int(x) for x in cell) for cell in np.argwhere(nash)]
    if not cells:
        raise ValueError("the game has no pure equilibrium on this grid: give the benchmark of a mixed one yourself")
    joint, harmed = u.sum(axis=0), v.sum(axis=0)
    welfare, spread = joint + harmed, np.ptp(u, axis=0)

    def pick(candidates: list[tuple[int, ...]], *keys: Array) -> Outcome:
        for key in keys:
            best = max(key[c] for c in candidates)
            candidates = [c for c in candidates if key[c] >= best - tolerance]
        return _outcome(labels, u, v, candidates[0])

    def top(key: Array) -> list[tuple[int, ...]]:
        return [tuple(int(x) for x in cell) for cell in np.argwhere(key >= key.max() - tolerance)]

    return Benchmark(
        labels=labels,
        payoffs=u,
        outsiders=v,
        equilibria=tuple(_outcome(labels, u, v, c) for c in cells),
        equilibrium=pick(cells, joint, -harmed, -spread),
        collusive=pick(top(joint), -harmed, -spread),
        efficient=pick(top(welfare), -spread),
        worst=pick(top(-welfare), -spread),
    )


def joint_actions(grid: npt.ArrayLike, players: int) -> Array:
    """`(N, a, .., a)` every joint action of a grid of numbers.

    Raises:
        ValueError: If the grid is not a strictly increasing list of finite numbers, there are fewer than two
            players, or the table would be too large.
    """
    points = np.asarray(grid, dtype=np.float64)
    if points.ndim != 1 or len(points) < 2 or not np.isfinite(points).all() or (np.diff(points) <= 0).any():
        raise ValueError(f"grid {points.tolist()}: at least two finite, strictly increasing numbers are needed")
    if players < 2 or players * len(points) ** players > MAX_CELLS:
        raise ValueError(
            f"{players} players with {len(points)} actions each: at least 2 players and at most {MAX_CELLS} "
            "payoffs are allowed; take a coarser grid"
        )
    return np.stack(np.meshgrid(*[points] * players, indexing="ij"))


def _outcome(labels: tuple[object, ...], u: Array, v: Array, cell: tuple[int, ...]) -> Outcome:
    return Outcome(tuple(labels[a] for a in cell), *(np.array([line[cell] for line in table]) for table in (u, v)))
