"""Exploitability of a policy that is known from sampled actions only.

The *box interval*: each information set's action probabilities lie in a Clopper-Pearson box, simultaneously for all information
sets with the stated confidence (Bonferroni). The lower end is the least best-response value over the box, the upper end the largest.
Unlike bootstrap and posterior intervals it covers at equilibrium, where the truth is at the boundary. An information set without
samples has the box [0, 1]: it widens the interval and never counts as uniform.

For trees the lower end is a linear program over realisation plans, min v s.t. the responder's best-response constraints and
low x(parent) <= x(sequence) <= high x(parent); the upper end is attained at a vertex of the box, since the best-response value is convex
in every information set's policy. For repeated games with round-memory both ends come out of the dynamic program, in which the policy
of each information set may be anywhere in its box.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse, stats
from scipy.optimize import linprog

from sepo_penalties.best_response import best_response
from sepo_penalties.exact import compiled, repeated
from sepo_penalties.protocols import TableGame
from sepo_penalties.repeated import RepeatedGame
from sepo_penalties.sequence_form import Array, SequenceForm

MAX_VERTICES = 8192
"""Most vertices of a seat's box that are enumerated for the upper end."""


@dataclass(frozen=True)
class Interval:
    """Lower and upper bound, in payoff units per round or hand."""

    low: float
    high: float


def clopper_pearson(counts: npt.ArrayLike, confidence: float) -> tuple[Array, Array]:
    """Exact simultaneous bounds of action probabilities.

    Args:
        counts: `(n_infosets, n_actions)` how often each action was taken.
        confidence: Probability that all bounds of all rows hold at once, by Bonferroni over rows and, beyond two, actions.

    Returns:
        Lower and upper bounds, both of the shape of `counts`; 0 and 1 in rows without samples.

    Raises:
        ValueError: If a count is negative or not whole, or the confidence is not in (0, 1).
    """
    table = np.asarray(counts)
    if table.ndim != 2 or not np.issubdtype(table.dtype, np.integer) or (table < 0).any():
        raise ValueError("counts must be a two-dimensional array of whole numbers of at least 0")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence = {confidence}: it must lie strictly between 0 and 1")
    actions = table.shape[1]
    # With two actions one interval bounds both.
    alpha = (1 - confidence) / (table.shape[0] * (actions if actions > 2 else 1))
    total = table.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        low = np.where(table > 0, stats.beta.ppf(alpha / 2, table, total - table + 1), 0.0)
        high = np.where(table < total, stats.beta.ppf(1 - alpha / 2, table + 1, total - table), 1.0)
    return np.where(total > 0, low, 0.0), np.where(total > 0, high, 1.0)


def surplus_intervals(game: TableGame, counts: Sequence[npt.ArrayLike], confidence: float = 0.95) -> Interval:
    """Interval of the mean over seats of max_b u_opponent(b, policy), per round or hand.

    Args:
        game: A two-player game.
        counts: For each seat `(n_infosets, num_actions)`, rows in the order of `game.infosets(seat)`.
        confidence: Of the whole interval, both seats together.

    Raises:
        ValueError: If the counts have a wrong shape, or the box of a tree has too many vertices.
    """
    per_seat = 1 - (1 - confidence) / 2
    ends = []
    for seat in (0, 1):
        table = np.asarray(counts[seat])
        needed = (len(game.infosets(seat)), game.num_actions)
        if table.shape != needed:
            raise ValueError(f"counts of seat {seat} have shape {table.shape}: {needed} is needed")
        low, high = clopper_pearson(table, per_seat)
        if hasattr(game, "repeated_form"):
            form = repeated(game)
            ends.append([repeated_bound(form, low, high, seat, upper) / form.rounds for upper in (False, True)])
        else:
            ends.append(_tree_bounds(game, low, high, seat))
    return Interval(float(np.mean([e[0] for e in ends])), float(np.mean([e[1] for e in ends])))


def _tree_bounds(game: Any, low: Array, high: Array, seat: int) -> list[float]:
    sf = compiled(game)
    tree = sf.treeplexes[seat]
    place = {infoset.key: i for i, infoset in enumerate(game.infosets(seat))}
    rows = [place[key] for key in tree.infosets]
    box = [(low[r, list(a)], high[r, list(a)]) for r, a in zip(rows, tree.actions, strict=True)]
    return [least_response(sf, box, seat), largest_response(sf, box, seat)]


def largest_response(sf: SequenceForm, box: Sequence[tuple[Array, Array]], seat: int) -> float:
    """The largest best-response value of the other player over all policies of `seat` in the box, at its vertices.

    Raises:
        ValueError: If an information set has more than two actions or the box has too many vertices.
    """
    free = [i for i, (low, high) in enumerate(box) if (high - low).max() > 0]
    if any(len(low) > 2 for low, _ in box) or 2 ** len(free) > MAX_VERTICES:
        raise ValueError(
            f"the box of seat {seat} has {len(free)} free information sets: vertices are enumerated for two actions and at most "
            f"{MAX_VERTICES} vertices"
        )
    policies = np.repeat(sf.uniform_policy(seat)[None], 2 ** len(free), axis=0)
    for i, (low, high) in enumerate(box):
        policies[:, i, : len(low)] = (low + high) / 2
    for vertex, choice in enumerate(product((0, 1), repeat=len(free))):
        for i, end in zip(free, choice, strict=True):
            first = box[i][end][0]
            policies[vertex, i, :2] = (first, 1 - first)
    profile = [policies if p == seat else sf.uniform_policy(p) for p in (0, 1)]
    return float(best_response(sf, profile, 1 - seat).value.max())


def least_response(sf: SequenceForm, box: Sequence[tuple[Array, Array]], seat: int) -> float:
    """The least best-response value of the other player over all policies of `seat` in the box, by linear programming.

    Variables: the realisation plan x of `seat` and the value v_J of each information set J of the responder (v_0 at the root).
    Minimise v_0 subject to v_J >= (payoff of action b given x) + sum of v behind b, for each action b at J, and the box.
    """
    other = 1 - seat
    own, rival = sf.treeplexes[seat], sf.treeplexes[other]
    n, m = own.num_sequences, rival.num_sequences
    gain = sparse.coo_array((sf.chance * sf.payoffs[other], (sf.last[other], sf.last[seat])), shape=(m, n)).toarray()
    values = 1 + len(rival.infosets)
    # Row b: gain[b] x + sum of v behind b - v_(set of b) <= 0; the empty sequence belongs to v_0.
    behind = np.zeros((m, values))
    behind[0, 0] = -1
    for j, (parent, offset, actions) in enumerate(zip(rival.parents, rival.offsets, rival.actions, strict=True)):
        behind[offset : offset + len(actions), 1 + j] = -1
        behind[parent, 1 + j] += 1
    above = [np.hstack([gain, behind])]
    equal, bounds_rows = [np.eye(1, n + values)], []
    for (parent, offset, actions), (low, high) in zip(zip(own.parents, own.offsets, own.actions, strict=True), box, strict=True):
        total = np.zeros(n + values)
        total[offset : offset + len(actions)], total[parent] = 1, -1
        equal.append(total[None])
        for k in range(len(actions)):
            for sign, bound in ((-1, low[k]), (1, high[k])):
                row = np.zeros(n + values)
                row[offset + k], row[parent] = sign, -sign * bound
                bounds_rows.append(row)
    above.append(np.array(bounds_rows).reshape(-1, n + values))
    cost = np.zeros(n + values)
    cost[n] = 1
    solved = linprog(
        cost,
        A_ub=np.vstack(above),
        b_ub=np.zeros(sum(map(len, above))),
        A_eq=np.vstack(equal),
        b_eq=np.array([1.0] + [0.0] * (len(equal) - 1)),
        bounds=[(0, None)] * n + [(None, None)] * values,
        method="highs",
    )
    if not solved.success:
        raise ValueError(f"the linear program for the lower bound failed: {solved.message}")
    return float(solved.fun)


def repeated_bound(game: RepeatedGame, low: Array, high: Array, seat: int, upper: bool) -> float:
    """Largest or least best-response value of the other player, over all rounds, when each row of `seat`'s table is in its box.

    With nature choosing each row's distribution after (upper) or before (lower) the responder's action, the lower end is exact where the
    responder has one type and else a bound below it, as the upper end is exact or above it.
    """
    types, own, other = game.sizes(seat)
    lows, highs = _rounds(game, low, seat), _rounds(game, high, seat)
    stage = game.payoffs[1 - seat] if seat == 0 else game.payoffs[1 - seat].transpose(1, 0, 3, 2)
    weights, rival_types = game.type_probs[seat], game.type_probs[1 - seat]
    ahead = np.zeros((own, other))
    for t, (l_round, h_round) in reversed(list(enumerate(zip(lows, highs, strict=True)))):
        value = np.empty(len(l_round))
        for o in range(len(l_round)):
            q = stage + ahead[None, None]  # own type, rival type, own action, rival action
            value[o] = sum(
                p * (_largest if upper else _least)(q[:, j], weights, l_round[o], h_round[o]) for j, p in enumerate(rival_types)
            )
        ahead = value.reshape(own, other) if t > 0 else value
    return float(ahead.flat[0])


def _rounds(game: RepeatedGame, table: Array, seat: int) -> list[Array]:
    types, own, other = game.sizes(seat)
    rest = table[types:].reshape(game.rounds - 1, own * other, types, own)
    return [table[:types][None], *rest]


def _largest(q: Array, weights: Array, low: Array, high: Array) -> float:
    """max_b sum_k w_k max_{p in box_k} p . q[k, :, b]."""
    return max(sum(w * _extreme(q[k, :, b], low[k], high[k]) for k, w in enumerate(weights)) for b in range(q.shape[2]))


def _least(q: Array, weights: Array, low: Array, high: Array) -> float:
    """min over the boxes of max_b sum_k w_k p_k . q[k, :, b], a small linear program."""
    types, own, rival = q.shape
    size = types * own
    above = np.hstack([(weights[:, None, None] * q).reshape(size, rival).T, -np.ones((rival, 1))])
    equal = np.hstack([np.kron(np.eye(types), np.ones(own)), np.zeros((types, 1))])
    solved = linprog(
        np.r_[np.zeros(size), 1.0],
        A_ub=above,
        b_ub=np.zeros(rival),
        A_eq=equal,
        b_eq=np.ones(types),
        bounds=[*zip(low.ravel(), high.ravel(), strict=True), (None, None)],
        method="highs",
    )
    if not solved.success:
        raise ValueError(f"the linear program for the lower bound failed: {solved.message}")
    return float(solved.fun)


def _extreme(gains: Array, low: Array, high: Array) -> float:
    """max p . gains over low <= p <= high, sum p = 1: fill the best actions first."""
    p, left = low.copy(), 1 - low.sum()
    for a in np.argsort(-gains):
        extra = min(left, high[a] - low[a])
        p[a] += extra
        left -= extra
    return float(p @ gains)
