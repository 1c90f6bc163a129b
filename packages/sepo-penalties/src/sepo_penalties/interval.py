"""Exploitability of a policy that is known from sampled actions only.

The *box interval*: each information set's action probabilities lie in a Clopper-Pearson box, simultaneously
for all information sets with the stated confidence (Bonferroni). The lower end is the least best-response
value over the box, the upper end the largest. Unlike bootstrap and posterior intervals it covers at
equilibrium, where the truth is at the boundary. An information set without samples has the box [0, 1]: it
widens the interval and never counts as uniform.

For trees the lower end is a linear program over realisation plans and the upper end is attained at a vertex
of the box (`box`). For repeated games with round-memory both ends come out of the dynamic program, in which
the policy of each information set may be anywhere in its box; likewise for games whose state is public.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.optimize import linprog

from sepo_penalties.box import Box, largest_response, least_response, tightened
from sepo_penalties.exact import compiled, method, repeated, stochastic
from sepo_penalties.protocols import TableGame
from sepo_penalties.repeated import RepeatedGame
from sepo_penalties.sequence_form import Array, SequenceForm
from sepo_penalties.stochastic import PublicState, backward


@dataclass(frozen=True)
class Interval:
    """Lower and upper bound, in payoff units per round or hand."""

    low: float
    high: float


def clopper_pearson(counts: npt.ArrayLike, confidence: float) -> tuple[Array, Array]:
    """Exact simultaneous bounds of action probabilities.

    Args:
        counts: `(n_infosets, n_actions)` how often each action was taken.
        confidence: Probability that all bounds of all rows hold at once, by Bonferroni over rows and, beyond
            two, actions.

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
        ValueError: If the counts have a wrong shape.
    """
    per_seat = 1 - (1 - confidence) / 2
    ends = []
    for seat in (0, 1):
        table = np.asarray(counts[seat])
        needed = (len(game.infosets(seat)), game.num_actions)
        if table.shape != needed:
            raise ValueError(f"counts of seat {seat} have shape {table.shape}: {needed} is needed")
        low, high = clopper_pearson(table, per_seat)
        how = method(game)
        if how == "repeated":
            form: RepeatedGame = repeated(game)
            # Sides may have different numbers of actions; a table has a column for the larger one's.
            own = form.sizes(seat)[1]
            box = low[:, :own], high[:, :own]
            ends.append([repeated_bound(form, *box, seat, upper) / form.rounds for upper in (False, True)])
        elif how == "stochastic":
            ends.append([_state_bound(game, low, high, seat, upper) / game.rounds for upper in (False, True)])
        else:
            ends.append(_tree_bounds(game, low, high, seat))
    return Interval(float(np.mean([e[0] for e in ends])), float(np.mean([e[1] for e in ends])))


def exploitability_interval(sf: SequenceForm, counts: Sequence[npt.ArrayLike], confidence: float = 0.95) -> Interval:
    """Interval of the exploitability (NashConv / 2) of a profile that is known from sampled actions.

    In a zero-sum game the players' own values cancel, so NashConv is the sum of the two best-response values
    and each seat's end is found by itself. The lower end is exact over the box; so is the upper end up to
    `box.MAX_VERTICES` vertices a seat, and above it beyond.

    Args:
        sf: A two-player zero-sum game.
        counts: For each player `(n_infosets, max_actions)` how often each legal action was taken, in the
            order of `sf.infosets`.
        confidence: Of the whole interval, both players together.

    Raises:
        ValueError: If the game is not two-player zero-sum, or counts are of a wrong shape, not whole,
            negative, or past legal actions.
    """
    if sf.num_players != 2 or not sf.zero_sum:
        raise ValueError(
            f"the interval is for two-player zero-sum games; this one has {sf.num_players} players and is "
            f"{'zero' if sf.zero_sum else 'general'}-sum: use repeated_surplus_interval or "
            "surplus_intervals for one player's policy"
        )
    if len(counts) != 2:
        raise ValueError(f"{len(counts)} tables of counts were given: one for each of the 2 players is needed")
    low, high = 0.0, 0.0
    for seat in (0, 1):
        box = _box(sf, np.asarray(counts[seat]), seat, 1 - (1 - confidence) / 2)
        low += least_response(sf, box, seat)
        high += largest_response(sf, box, seat)
    # NashConv is never negative; the program's tolerance may say so.
    return Interval(max(0.0, min(low, high) / 2), max(0.0, high / 2))


def _box(sf: SequenceForm, table: npt.NDArray[Any], seat: int, confidence: float) -> Box:
    needed = (len(sf.infosets(seat)), sf.max_actions(seat))
    if table.shape != needed:
        raise ValueError(f"counts of player {seat} have shape {table.shape}: {needed} is needed")
    low, high = clopper_pearson(table, confidence)
    sizes = sf.num_actions(seat).tolist()
    for name, row, n in zip(sf.infosets(seat), table, sizes, strict=True):
        if row[n:].any():
            raise ValueError(
                f"counts of player {seat}, information set {name!r}: {row.tolist()} counts actions "
                f"past its {n} legal ones"
            )
    return [tightened(low[i, :n], high[i, :n]) for i, n in enumerate(sizes)]


def repeated_surplus_interval(
    game: RepeatedGame, counts: npt.ArrayLike, player: int, confidence: float = 0.95
) -> Interval:
    """Interval of max_b u(b, pi) over all rounds, for a policy pi that is known from sampled actions.

    Args:
        game: The repeated game.
        counts: `(n_infosets, n_actions)` how often `player` took each action, rows in the order of its table.
        player: Whose policy it is; the value is the *other* player's payoff, as in `repeated_best_response`.
        confidence: Of the whole interval.

    Raises:
        ValueError: If there is no such player, or counts are of a wrong shape, negative or not whole.
    """
    if player not in {0, 1}:
        raise ValueError(f"player {player} does not exist: choose 0 or 1")
    table = np.asarray(counts)
    needed = (game.num_infosets(player), game.sizes(player)[1])
    if table.shape != needed:
        raise ValueError(f"counts of player {player} have shape {table.shape}: {needed} is needed")
    low, high = clopper_pearson(table, confidence)
    ends = [repeated_bound(game, low, high, player, upper) for upper in (False, True)]
    return Interval(min(ends), ends[1])


def _tree_bounds(game: Any, low: Array, high: Array, seat: int) -> list[float]:
    sf = compiled(game)
    tree = sf.treeplexes[seat]
    place = {infoset.key: i for i, infoset in enumerate(game.infosets(seat))}
    rows = [place[key] for key in tree.infosets]
    box = [tightened(low[r, list(a)], high[r, list(a)]) for r, a in zip(rows, tree.actions, strict=True)]
    return [least_response(sf, box, seat), largest_response(sf, box, seat)]


def _state_bound(game: Any, low: Array, high: Array, seat: int, upper: bool) -> float:
    """Bound of the other player's best-response value over the box of `seat`'s table: exact at both ends, state by state."""
    place = {infoset.key: i for i, infoset in enumerate(game.infosets(seat))}
    sure = np.ones(1)

    def choose(gains: Array, state: PublicState) -> tuple[float, int]:
        row = place[state.keys[seat]]
        bounds = tightened(low[row, list(state.actions[seat])], high[row, list(state.actions[seat])])
        return (_largest if upper else _least)(gains[None], sure, *(bound[None] for bound in bounds)), 0

    return backward(stochastic(game), 1 - seat, choose)[0]


def repeated_bound(game: RepeatedGame, low: Array, high: Array, seat: int, upper: bool) -> float:
    """Bound of the other player's best-response value, all rounds, over the box of `seat`'s table.

    With nature choosing each row's distribution after (upper) or before (lower) the responder's action, the
    lower end is exact where the responder has one type and else a bound below it, as the upper end is exact
    or above it.
    """
    _, own, other = game.sizes(seat)
    lows, highs = _rounds(game, low, seat), _rounds(game, high, seat)
    stage = game.stage(1 - seat).transpose(1, 0, 3, 2)
    weights, rival_types = game.type_probs[seat], game.type_probs[1 - seat]
    ahead = np.zeros((own, other))
    for t, (l_round, h_round) in reversed(list(enumerate(zip(lows, highs, strict=True)))):
        value = np.empty(len(l_round))
        for o in range(len(l_round)):
            q = stage + ahead[None, None]  # own type, rival type, own action, rival action
            value[o] = sum(
                p * (_largest if upper else _least)(q[:, j], weights, l_round[o], h_round[o])
                for j, p in enumerate(rival_types)
            )
        if t == 0:
            return float(value[0])
        ahead = value.reshape(own, other)
    raise AssertionError("a repeated game has at least one round")


def _rounds(game: RepeatedGame, table: Array, seat: int) -> list[Array]:
    types, own, other = game.sizes(seat)
    rest = table[types:].reshape(game.rounds - 1, own * other, types, own)
    return [table[:types][None], *rest]


def _largest(q: Array, weights: Array, low: Array, high: Array) -> float:
    """max_b sum_k w_k max_{p in box_k} p . q[k, :, b]."""
    values = [
        sum(float(w) * _extreme(q[k, :, b], low[k], high[k]) for k, w in enumerate(weights)) for b in range(q.shape[2])
    ]
    return max(values)


def _least(q: Array, weights: Array, low: Array, high: Array) -> float:
    """Min over the boxes of max_b sum_k w_k p_k . q[k, :, b], a small linear program."""
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
    return float(solved.fun or 0.0)


def _extreme(gains: Array, low: Array, high: Array) -> float:
    """Max p . gains over low <= p <= high, sum p = 1: fill the best actions first."""
    p, left = low.copy(), 1 - low.sum()
    for a in np.argsort(-gains):
        extra = min(left, high[a] - low[a])
        p[a] += extra
        left -= extra
    return float(np.dot(p, gains))
