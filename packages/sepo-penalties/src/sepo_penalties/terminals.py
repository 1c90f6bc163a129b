"""A game told as the list of all its ends: what chance and every player did on the way, and the payoffs.

Information sets come in the order of their first appearance, so parents before children; an information set's
actions are those that appear, in ascending order.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

TOLERANCE = 1e-9
"""How far probabilities may be from summing to one."""

Move = tuple[str, int]
"""An information set and an action there."""

Tree = tuple[tuple[str, ...], tuple[tuple[int, ...], ...], npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Information sets, actions, parent sequences and offsets of one player, see `sequence_form.Treeplex`."""


class Terminal(NamedTuple):
    """One way a game can end.

    Attributes:
        chance: Product of the chance probabilities on the way.
        moves: (player, information set, action) of every decision, in order.
        payoffs: Every player's payoff, in the game's units.
    """

    chance: float
    moves: Sequence[tuple[int, str, int]]
    payoffs: Sequence[float]


def index_terminals(ends: Sequence[Terminal]) -> tuple[list[Tree], npt.NDArray[np.int64]]:
    """Numbers the sequences of a list of terminals.

    Args:
        ends: All ends of the game.

    Returns:
        For each player its decision structure, and `(n_players, n_terminals)` every player's last sequence.

    Raises:
        ValueError: If there is no end, a number is not finite, a player does not exist or has imperfect recall,
            or the probabilities of the ends do not sum to one under every profile of policies.
    """
    if not ends:
        raise ValueError("the list of terminals is empty: a game has at least one end")
    n = len(ends[0].payoffs)
    parents: list[dict[str, Move | None]] = [{} for _ in range(n)]
    actions: list[dict[str, set[int]]] = [{} for _ in range(n)]
    finals: list[list[Move | None]] = []
    for k, end in enumerate(ends):
        if len(end.payoffs) != n or not np.isfinite([end.chance, *end.payoffs]).all() or end.chance <= 0:
            raise ValueError(f"terminal {k}, {end}: a positive chance and {n} finite payoffs are needed")
        before: list[Move | None] = [None] * n
        for player, name, action in end.moves:
            if not 0 <= player < n:
                raise ValueError(f"terminal {k}: player {player} does not exist: choose from 0 to {n - 1}")
            known = parents[player].setdefault(name, before[player])
            if known != before[player]:
                raise ValueError(
                    f"terminal {k}: player {player} has imperfect recall: information set {name!r} is reached after "
                    f"{before[player]} here, after {known} in another history"
                )
            actions[player].setdefault(name, set()).add(action)
            before[player] = (name, action)
        finals.append(before)
    _check_total(ends, actions)
    trees, places = [], []
    for player in range(n):
        blocks = tuple(tuple(sorted(block)) for block in actions[player].values())
        offsets = 1 + np.cumsum([0, *map(len, blocks)], dtype=np.int64)[:-1]
        place: dict[Move | None, int] = {None: 0}
        for name, block, offset in zip(actions[player], blocks, offsets.tolist(), strict=True):
            place.update({(name, action): offset + j for j, action in enumerate(block)})
        above = np.array([place[parent] for parent in parents[player].values()], dtype=np.int64)
        trees.append((tuple(actions[player]), blocks, above, offsets))
        places.append(place)
    return trees, np.array([[place[final[p]] for final in finals] for p, place in enumerate(places)], dtype=np.int64)


def _check_total(ends: Sequence[Terminal], actions: Sequence[dict[str, set[int]]]) -> None:
    """Refuses ends that are no game; the total is linear in each policy row, so one random profile tells."""
    rng = np.random.default_rng(0)
    dice = [
        {(name, a): p for name, block in rows.items() for a, p in zip(sorted(block), _row(block, rng), strict=True)}
        for rows in actions
    ]
    total = sum(end.chance * prod(dice[p][name, a] for p, name, a in end.moves) for end in ends)
    if abs(total - 1) > TOLERANCE:
        raise ValueError(
            f"the probabilities of the {len(ends)} terminals sum to {total} under a random profile: an end is missing "
            "or double, or its chance is wrong"
        )


def _row(block: set[int], rng: np.random.Generator) -> list[float]:
    return list(rng.dirichlet(np.ones(len(block))).tolist())
