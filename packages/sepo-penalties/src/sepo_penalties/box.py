"""Best responses to a policy known up to a box: low <= pi(a | I) <= high at every information set.

The best-response value of the other player, max_b u(b, pi), is convex in pi. Over the box it therefore has

    a least value     min_x max_b,  one linear program over realisation plans x,
                      low x(parent) <= x(sequence) <= high x(parent);
    a largest value   max_x max_b,  attained at a vertex of the box, enumerated where there are few.

Where there are many, the largest value is bounded from above: with g_s . x the payoff of the terminals behind
the responder's last sequence s,  max_b max_x sum_s b(s) g_s . x <= max_b sum_s b(s) max_x g_s . x,  two
passes over the treeplexes. It is exact for a box of one point and looser the wider the box is.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from sepo_penalties.best_response import best_response
from sepo_penalties.sequence_form import Array, SequenceForm

Box = Sequence[tuple[Array, Array]]
"""For each information set of one player, in order, lower and upper bounds of its legal actions."""

MAX_VERTICES = 8192
"""Most vertices of a seat's box that are enumerated; beyond, the looser bound is used."""

CELLS = 4_000_000
"""Most policies x terminals evaluated at once."""


def full_box(sf: SequenceForm, seat: int) -> list[tuple[Array, Array]]:
    """The box of a policy of which nothing is known."""
    return [(np.zeros(n), np.ones(n)) for n in sf.num_actions(seat).tolist()]


def tightened(low: Array, high: Array) -> tuple[Array, Array]:
    """The smallest box around the same distributions; a single action has probability 1."""
    lower = np.maximum(low, 1 - (high.sum() - high))
    # Rounding must not turn a box of one point upside down.
    return lower, np.maximum(lower, np.minimum(high, 1 - (low.sum() - low)))


def vertices(low: Array, high: Array) -> Array:
    """`(V, n)` corners of a tightened box: all probabilities but one at an end, that one takes the rest."""
    if (high - low).max() <= 0:
        return ((low + high) / 2)[None]
    found = set()
    for k in range(len(low)):
        others = [(low[a], high[a]) if a != k else (0.0,) for a in range(len(low))]
        for choice in product(*others):
            rest = 1 - sum(choice)
            if low[k] - 1e-12 <= rest <= high[k] + 1e-12:
                corner = list(choice)
                corner[k] = min(max(rest, 0.0), 1.0)
                found.add(tuple(np.round(corner, 15).tolist()))
    return np.array(sorted(found))


def least_plan(sf: SequenceForm, box: Box, seat: int) -> tuple[float, Array]:
    """The least best-response value of the other player, and a realisation plan of `seat` that attains it.

    Variables: the realisation plan x of `seat` and the value v_J of each information set J of the responder
    (v_0 at the root). Minimise v_0 subject to v_J >= (payoff of action b given x) + sum of v behind b, for
    each action b at J, and the box.

    Args:
        sf: A two-player game.
        box: Bounds of `seat`'s policy.
        seat: Whose policy it is; the other player responds.

    Returns:
        The value in the responder's payoff, and `(n_sequences,)`.

    Raises:
        ValueError: If the program has no solution, which means that the box holds no policy.
    """
    other = 1 - seat
    own, rival = sf.treeplexes[seat], sf.treeplexes[other]
    n, m, sets = own.num_sequences, rival.num_sequences, len(rival.infosets)
    gain = sparse.coo_array((sf.chance * sf.payoffs[other], (sf.last[other], sf.last[seat])), shape=(m, n))
    # Row b: gain[b] x + sum of v behind b - v_(set of b) <= 0; the empty sequence belongs to v_0.
    holder = np.zeros(m, dtype=np.int64)
    for j, (offset, actions) in enumerate(zip(rival.offsets.tolist(), rival.actions, strict=True)):
        holder[offset : offset + len(actions)] = 1 + j
    behind = sparse.coo_array(
        (
            np.r_[-np.ones(m), np.ones(sets)],
            (np.r_[np.arange(m), rival.parents], np.r_[holder, 1 + np.arange(sets)]),
        ),
        shape=(m, 1 + sets),
    )
    parent = np.zeros(n, dtype=np.int64)
    rows, columns, signs = [0], [0], [1.0]
    for i, (before, offset, actions) in enumerate(
        zip(own.parents.tolist(), own.offsets.tolist(), own.actions, strict=True)
    ):
        block = range(offset, offset + len(actions))
        parent[offset : offset + len(actions)] = before
        rows += [1 + i] * (1 + len(block))
        columns += [before, *block]
        signs += [-1.0] + [1.0] * len(block)
    flow = sparse.coo_array((signs, (rows, columns)), shape=(1 + len(own.infosets), n))
    lows, highs = (np.concatenate([np.zeros(0), *(ends[k] for ends in box)]) for k in (0, 1))
    cells, ones = np.arange(n - 1), np.ones(n - 1)
    place = (np.r_[cells, cells], np.r_[1 + cells, parent[1:]])
    above = sparse.coo_array((np.r_[-ones, lows], place), shape=(n - 1, n))
    below = sparse.coo_array((np.r_[ones, -highs], place), shape=(n - 1, n))
    # The type stubs of linprog know dense matrices only.
    upper: Any = sparse.block_array([[gain, behind], [above, None], [below, None]], format="csr")
    equal: Any = sparse.hstack([flow, sparse.coo_array((1 + len(own.infosets), 1 + sets))], format="csr")
    solved = linprog(
        np.r_[np.zeros(n), 1.0, np.zeros(sets)],
        A_ub=upper,
        b_ub=np.zeros(m + 2 * (n - 1)),
        A_eq=equal,
        b_eq=np.r_[1.0, np.zeros(len(own.infosets))],
        bounds=[(0, None)] * n + [(None, None)] * (1 + sets),
        method="highs",
    )
    if not solved.success or solved.fun is None or solved.x is None:
        raise ValueError(
            f"the linear program over the box of seat {seat} failed, so the box holds no policy: {solved.message}"
        )
    return float(solved.fun), np.asarray(solved.x[:n], dtype=np.float64)


def least_response(sf: SequenceForm, box: Box, seat: int) -> float:
    """The least best-response value of the other player over the box of `seat`; see `least_plan`."""
    return least_plan(sf, box, seat)[0]


def largest_response(sf: SequenceForm, box: Box, seat: int) -> float:
    """The largest best-response value of the other player over the box of `seat`, or a bound above it.

    Exact by enumeration up to `MAX_VERTICES` vertices, else `relaxed_response`.
    """
    tight = [tightened(low, high) for low, high in box]
    # A free information set has two corners or more, so this spares listing them where they are too many
    # anyway.
    if 2 ** sum((high - low).max() > 0 for low, high in tight) > MAX_VERTICES:
        return relaxed_response(sf, tight, seat)
    corners = [vertices(low, high) for low, high in tight]
    if prod(map(len, corners)) > MAX_VERTICES:
        return relaxed_response(sf, tight, seat)
    return max(float(_responses(sf, seat, chunk).max()) for chunk in _chunks(sf, corners, seat))


def _chunks(sf: SequenceForm, corners: Sequence[Array], seat: int) -> Iterator[Array]:
    """All policies with every information set at a corner, in batches that fit in memory."""
    choices = product(*(range(len(c)) for c in corners))
    size = max(1, CELLS // max(1, len(sf.chance)))
    while chosen := list(islice(choices, size)):
        policies = np.zeros((len(chosen), len(corners), sf.max_actions(seat)))
        for i, (corner, picks) in enumerate(
            zip(corners, np.array(chosen, dtype=np.int64).reshape(len(chosen), -1).T, strict=True)
        ):
            policies[:, i, : corner.shape[1]] = corner[picks]
        yield policies


def _responses(sf: SequenceForm, seat: int, policies: Array) -> Array:
    profile = [policies if p == seat else sf.uniform_policy(p) for p in (0, 1)]
    return best_response(sf, profile, 1 - seat).value


def relaxed_response(sf: SequenceForm, box: Box, seat: int) -> float:
    """A bound above the largest best-response value that needs no enumeration.

    The policy may be another one behind each of the responder's last sequences. Adding a constant to all
    payoffs moves the true value by that constant but not the bound, so the least of three shifts is taken.
    """
    other = 1 - seat
    own, rival = sf.treeplexes[seat], sf.treeplexes[other]
    payoffs = sf.payoffs[other]
    shape = (rival.num_sequences, own.num_sequences)
    bounds = [float(payoffs.max())]
    for shift in (0.0, float(payoffs.min()), float(payoffs.max())):
        gain = sparse.coo_array((sf.chance * (payoffs - shift), (sf.last[other], sf.last[seat])), shape=shape).toarray()
        for i in reversed(range(len(own.infosets))):
            offset, (low, high) = own.offsets[i], box[i]
            gain[:, own.parents[i]] += _extremes(gain[:, offset : offset + len(low)], low, high)
        values = gain[:, 0]
        for j in reversed(range(len(rival.infosets))):
            offset = rival.offsets[j]
            values[rival.parents[j]] += values[offset : offset + len(rival.actions[j])].max()
        bounds.append(float(values[0]) + shift)
    return min(bounds)


def _extremes(gains: Array, low: Array, high: Array) -> Array:
    """`(S,)` max p . gains over the box for each row of `gains (S, n)`: fill the best actions first."""
    order = np.argsort(-gains, axis=1)
    room = (high - low)[order]
    left = 1 - low.sum()
    used = np.clip(left - (np.cumsum(room, axis=1) - room), 0.0, room)
    return np.asarray(gains @ low + (np.take_along_axis(gains, order, axis=1) * used).sum(axis=1))
