"""NashConv of many two-player profiles at once, the batch innermost.

A game is laid out once: its payoffs by pairs of last sequences, G_p = sum of chance x payoff over the terminals
behind each pair, and its treeplexes as arrays. Policies are then taken in blocks that stay in the cache: plans
are one product for each sequence, values behind the last sequences one sparse product G_p r_-p, and best
responses one pass over information sets from the last to the first. With numba (the extra `numba`) this is a
compiled loop, without it numpy over *levels*: information sets with equally many own decisions before them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from math import isnan
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sepo_penalties import loops
from sepo_penalties.sequence_form import Array, Ints, SequenceForm, Treeplex

Backend = Literal["numba", "numpy"]

CACHE = 768 * 1024
"""Bytes of plans and values that are in hand at once."""

HAS_NUMBA = find_spec("numba") is not None


@dataclass(frozen=True)
class Level:
    """Information sets with equally many own decisions before them and equally many actions.

    Attributes:
        parents: `(n,)` parent sequences, ascending.
        sequences: `(actions, n)` sequences of their actions.
        starts: Where each different parent begins.
    """

    parents: Ints
    sequences: Ints
    starts: Ints


@dataclass(frozen=True)
class Kernel:
    """A two-player game laid out for evaluation.

    Attributes:
        sf: The game.
        shapes: Shape of each player's policy.
        width: Policies that the compiled loop takes at once.
        tile: Policies that numpy takes at once.
        arrays: Its arrays as `loops` takes them: tree, rows, starts, partners, gains.
        matrices: The payoffs as a sparse matrix for each player, own sequences by the other's.
        levels: For each player, from the first decisions to the last.
    """

    sf: SequenceForm
    shapes: tuple[tuple[int, int], ...]
    width: int
    tile: int
    arrays: tuple[Ints, Ints, Ints, Ints, Array]
    matrices: tuple[sparse.csr_array, sparse.csr_array]
    levels: tuple[tuple[Level, ...], tuple[Level, ...]]


def kernel_of(sf: SequenceForm) -> Kernel:
    """Lays a game out.

    Raises:
        ValueError: If it has not two players.
    """
    if sf.num_players != 2:
        raise ValueError(f"the game has {sf.num_players} players: kernels are for two, nash_conv takes any number")
    matrices = []
    for p in (0, 1):
        shape = (sf.treeplexes[p].num_sequences, sf.treeplexes[1 - p].num_sequences)
        whole = sparse.coo_array((sf.chance * sf.payoffs[p], (sf.last[p], sf.last[1 - p])), shape=shape)
        matrices.append(sparse.csr_array(whole))
    tree = np.concatenate([np.stack([t.parents, t.offsets, _counts(t)], axis=1) for t in sf.treeplexes])
    rows = np.cumsum([0, *(len(t.infosets) for t in sf.treeplexes)], dtype=np.int64)
    size, count = max(m.shape[0] for m in matrices), max(m.nnz for m in matrices)
    # Both players' sparse rows in one array; the shorter is filled up with rows that are empty.
    starts = np.stack([np.r_[m.indptr, np.full(size + 1 - len(m.indptr), m.nnz)] for m in matrices])
    partners, gains = np.zeros((2, count), dtype=np.int64), np.zeros((2, count))
    for p, matrix in enumerate(matrices):
        partners[p, : matrix.nnz], gains[p, : matrix.nnz] = matrix.indices, matrix.data
    arrays = (tree, rows, starts.astype(np.int64), partners, gains)
    levels = (_levels(sf.treeplexes[0]), _levels(sf.treeplexes[1]))
    shapes = tuple((len(t.infosets), t.max_actions) for t in sf.treeplexes)
    # Both plans and one player's values: in whole vectors, and enough for the calls of numpy to pay.
    fits = CACHE // (3 * 8 * size)
    width, tile = 16 * min(8, max(1, round(fits / 16))), max(256, fits)
    return Kernel(sf, shapes, width, tile, arrays, (matrices[0], matrices[1]), levels)


def batch_nash_conv(
    kernel: Kernel,
    policies: Sequence[npt.ArrayLike],
    dtype: type[np.float64 | np.float32] = np.float64,
    backend: Backend | None = None,
) -> npt.NDArray[np.floating[Any]]:
    """NashConv of a batch of profiles; the same numbers as `nash_conv`, much faster.

    Args:
        kernel: The game, from `kernel_of`.
        policies: For each player `(B, n_infosets, max_actions)`.
        dtype: Type of all arithmetic; float32 is faster and right to about 1e-6 of the payoffs.
        backend: `numba` where it is installed, else `numpy`.

    Returns:
        `(B,)` in the game's units. In a zero-sum game the half of it is exploitability.

    Raises:
        ValueError: If a policy is not one (the message names the information set), the batches differ or are
            empty, or numba is asked for and not installed.
    """
    chosen: Backend = backend or ("numba" if HAS_NUMBA else "numpy")
    if chosen == "numba" and not HAS_NUMBA:
        raise ValueError("backend = 'numba', but numba is not installed: install the extra numba, or use numpy")
    if len(policies) != 2:
        raise ValueError(f"{len(policies)} policies were given: one for each of the 2 players is needed")
    given = [np.ascontiguousarray(policy, dtype=dtype) for policy in policies]
    first, second = given[0].shape, given[1].shape
    if first[1:] != kernel.shapes[0] or second[1:] != kernel.shapes[1] or first[0] != second[0] or first[0] == 0:
        needed = " and ".join(f"(B, {n}, {a})" for n, a in kernel.shapes)
        raise ValueError(f"policies have shapes {first} and {second}: {needed}, B at least 1, are needed")
    return _compiled_nash_conv(kernel, given) if chosen == "numba" else _tiled_nash_conv(kernel, given)


def _compiled_nash_conv(kernel: Kernel, given: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.floating[Any]]:
    arrays = (*kernel.arrays[:4], kernel.arrays[4].astype(given[0].dtype, copy=False))
    out = np.empty(len(given[0]), dtype=given[0].dtype)
    if len(out) == 1:
        out[0] = single = compiled(loops.nash_conv_single)(*arrays, *given)
        fine = not isnan(single)
    else:
        fine = compiled(loops.nash_conv_loop)(*arrays, *given, min(len(out), kernel.width), out) < 0
    # The loops only say that a row is bad; the other way says which, and decides where rounding does.
    return out if fine else _tiled_nash_conv(kernel, given)


def _tiled_nash_conv(kernel: Kernel, given: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.floating[Any]]:
    out = np.empty(len(given[0]), dtype=given[0].dtype)
    for begin in range(0, len(out), kernel.tile):
        tile = [policy[begin : begin + kernel.tile] for policy in given]
        for player, policy in enumerate(tile):
            kernel.sf.check_policy(player, policy)
        plans = [_plan(kernel, player, policy) for player, policy in enumerate(tile)]
        gaps = np.zeros(len(tile[0]), dtype=out.dtype)
        for player in (0, 1):
            best, direct = respond(kernel, player, plans[1 - player])
            gaps += best - np.einsum("sw,sw->w", plans[player], direct)
        out[begin : begin + kernel.tile] = gaps
    return out


def batch_response_value(kernel: Kernel, policy: npt.ArrayLike, player: int) -> Array:
    """Best-response values of `player` to a batch of policies of the other, with numpy.

    Args:
        kernel: The game, from `kernel_of`.
        policy: The *other* player's, `(B, n_infosets, max_actions)`.
        player: The responder.

    Returns:
        `(B,)` the responder's expected payoff, in the game's units.

    Raises:
        ValueError: If there is no such player or the policy is not one; the message names the information set.
    """
    if player not in {0, 1}:
        raise ValueError(f"player {player} does not exist: choose 0 or 1")
    given = kernel.sf.check_policy(1 - player, policy)
    if given.ndim != 3:
        raise ValueError(f"the policy has shape {given.shape}: (B, n_infosets, max_actions) is needed")
    step = kernel.tile
    tiles = (_plan(kernel, 1 - player, given[begin : begin + step]) for begin in range(0, len(given), step))
    return np.concatenate([respond(kernel, player, plan)[0] for plan in tiles])


def respond(kernel: Kernel, player: int, plan: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Best-response values to the other player's plan `(n_sequences, ...)`, by levels.

    Returns:
        The value at the root `(...,)`, and `(n_sequences, ...)` payoffs right behind each own last sequence.
    """
    direct = kernel.matrices[player].astype(plan.dtype, copy=False) @ plan
    values = direct.copy()
    for level in reversed(kernel.levels[player]):
        best = values[level.sequences].max(axis=0)
        values[level.parents[level.starts]] += np.add.reduceat(best, level.starts, axis=0)
    return values[0], direct


def _plan(kernel: Kernel, player: int, policy: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """`(n_sequences, B)` realisation plans."""
    tree = kernel.sf.treeplexes[player]
    counts = _counts(tree)
    infosets = np.repeat(np.arange(len(counts)), counts)
    columns = 1 + np.arange(len(infosets)) - np.repeat(tree.offsets, counts)
    plan = np.ones((tree.num_sequences, len(policy)), dtype=policy.dtype)
    plan[1:] = policy[:, infosets, columns].T
    for level in kernel.levels[player]:
        plan[level.sequences] *= plan[level.parents]
    return plan


@lru_cache(maxsize=8)
def compiled(function: Callable[..., float]) -> Callable[..., float]:
    """A loop compiled by numba, once."""
    made: Callable[..., float] = import_module("numba").njit(cache=True, nogil=True, fastmath={"contract"})(function)
    return made


def _counts(tree: Treeplex) -> Ints:
    return np.array([len(actions) for actions in tree.actions], dtype=np.int64)


def _levels(tree: Treeplex) -> tuple[Level, ...]:
    depth = np.zeros(tree.num_sequences, dtype=np.int64)
    groups: dict[tuple[int, int], list[int]] = {}
    for i, (parent, offset, actions) in enumerate(zip(tree.parents, tree.offsets, tree.actions, strict=True)):
        depth[offset : offset + len(actions)] = depth[parent] + 1
        groups.setdefault((int(depth[parent]), len(actions)), []).append(i)
    levels = []
    for (_, count), members in sorted(groups.items()):
        rows = np.array(sorted(members, key=lambda i: int(tree.parents[i])), dtype=np.int64)
        parents = tree.parents[rows]
        starts = np.flatnonzero(np.r_[True, parents[1:] != parents[:-1]])
        levels.append(Level(parents, tree.offsets[rows] + np.arange(count)[:, None], starts))
    return tuple(levels)
