"""The inner loops of batched evaluation and of CFR+, written for a compiler.

Plain Python that numba compiles where it is installed (`kernels.compiled`); without numba nothing calls it. The
batch is the innermost axis, so that every line is one pass over contiguous numbers. Each loop stands in one
function, because a call between Python and compiled code costs as much as a small game.

A two-player game is: `tree (n_infosets, 3)`, parent sequence, first sequence and number of actions of each
information set; `rows (3,)`, where each player's begin and end; and for each player its payoffs as sparse rows,
own last sequence by the other's: `starts (2, n_sequences + 1)`, `partners (2, n)`, `gains (2, n)`.
"""

from typing import Any

import numpy as np

Arrays = Any
"""numba infers the types of the arrays."""


def nash_conv_loop(  # noqa: PLR0912
    tree: Arrays,
    rows: Arrays,
    starts: Arrays,
    partners: Arrays,
    gains: Arrays,
    given0: Arrays,
    given1: Arrays,
    width: int,
    out: Arrays,
) -> int:
    """NashConv of each profile of a batch, `width` at a time.

    Args:
        tree: Decision structures, see the module.
        rows: Where each player's begin and end.
        starts: Sparse payoffs, see the module.
        partners: The other player's sequences.
        gains: Chance-weighted payoffs; their type is the type of all arithmetic.
        given0: `(B, n_infosets, max_actions)` policies of player 0.
        given1: Of player 1.
        width: Profiles evaluated together.
        out: `(B,)` result.

    Returns:
        -1, or where the first block begins that holds a row which is no distribution.
    """
    size = starts.shape[1] - 1
    plans = np.zeros((2, size, width), gains.dtype)
    value = np.zeros((size, width), gains.dtype)
    # Of float64, lest many small float32 probabilities seem not to sum to one.
    total = np.zeros(width)
    for begin in range(0, out.shape[0], width):
        lanes = min(width, out.shape[0] - begin)
        bad = False
        for player in range(2):
            plan = plans[player]
            given = given0 if player == 0 else given1
            plan[0, :] = 1
            for i in range(rows[player], rows[player + 1]):
                first, count, row = tree[i, 1], tree[i, 2], i - rows[player]
                above = plan[tree[i, 0]]
                total[:] = 0
                for a in range(count):
                    here = plan[first + a]
                    for w in range(lanes):
                        p = given[begin + w, row, a]
                        bad |= p < 0
                        total[w] += p
                        here[w] = above[w] * p
                for a in range(count, given.shape[2]):
                    for w in range(lanes):
                        bad |= given[begin + w, row, a] != 0
                for w in range(lanes):
                    # Written so that NaN is refused too.
                    bad |= not abs(total[w] - 1) <= 1e-6
        if bad:
            return begin
        total[:] = 0
        for player in range(2):
            plan, other = plans[player], plans[1 - player]
            for s in range(size):
                here = value[s]
                here[:] = 0
                k, stop = starts[player, s], starts[player, s + 1]
                # Four rows at once spare three in four trips of the sum through memory.
                while k + 4 <= stop:
                    a, b, c, d = gains[player, k], gains[player, k + 1], gains[player, k + 2], gains[player, k + 3]
                    e, f = other[partners[player, k]], other[partners[player, k + 1]]
                    g, h = other[partners[player, k + 2]], other[partners[player, k + 3]]
                    for w in range(width):
                        here[w] += a * e[w] + b * f[w] + c * g[w] + d * h[w]
                    k += 4
                while k < stop:
                    a, e = gains[player, k], other[partners[player, k]]
                    for w in range(width):
                        here[w] += a * e[w]
                    k += 1
                mine = plan[s]
                for w in range(width):
                    total[w] -= mine[w] * here[w]
            for i in range(rows[player + 1] - 1, rows[player] - 1, -1):
                first, count = tree[i, 1], tree[i, 2]
                best, above = value[first], value[tree[i, 0]]
                for s in range(first + 1, first + count):
                    here = value[s]
                    for w in range(width):
                        best[w] = max(best[w], here[w])
                for w in range(width):
                    above[w] += best[w]
            for w in range(width):
                total[w] += value[0, w]
        out[begin : begin + lanes] = total[:lanes]
    return -1


def nash_conv_single(
    tree: Arrays,
    rows: Arrays,
    starts: Arrays,
    partners: Arrays,
    gains: Arrays,
    given0: Arrays,
    given1: Arrays,
) -> float:
    """NashConv of one profile; the batch of one without the trips over lanes.

    Args:
        tree: Decision structures, see the module.
        rows: Where each player's begin and end.
        starts: Sparse payoffs, see the module.
        partners: The other player's sequences.
        gains: Chance-weighted payoffs.
        given0: `(1, n_infosets, max_actions)` policy of player 0.
        given1: Of player 1.

    Returns:
        NashConv, or NaN if a row is no distribution.
    """
    size = starts.shape[1] - 1
    plans, value = np.zeros((2, size), gains.dtype), np.zeros(size, gains.dtype)
    bad = False
    for player in range(2):
        given = given0 if player == 0 else given1
        plans[player, 0] = 1
        for i in range(rows[player], rows[player + 1]):
            first, count, row = tree[i, 1], tree[i, 2], i - rows[player]
            above, total = plans[player, tree[i, 0]], 0.0
            for a in range(given.shape[2]):
                p = given[0, row, a]
                bad |= p < 0 or (a >= count and p != 0)
                total += p
                if a < count:
                    plans[player, first + a] = above * p
            bad |= not abs(total - 1) <= 1e-6
    if bad:
        return np.nan
    result = 0.0
    for player in range(2):
        for s in range(size):
            payoff = 0.0
            for k in range(starts[player, s], starts[player, s + 1]):
                payoff += gains[player, k] * plans[1 - player, partners[player, k]]
            value[s] = payoff
            result -= plans[player, s] * payoff
        for i in range(rows[player + 1] - 1, rows[player] - 1, -1):
            best = value[tree[i, 1]]
            for s in range(tree[i, 1] + 1, tree[i, 1] + tree[i, 2]):
                best = max(best, value[s])
            value[tree[i, 0]] += best
        result += value[0]
    return result


def cfr_plus_loop(
    tree: Arrays,
    rows: Arrays,
    starts: Arrays,
    partners: Arrays,
    gains: Arrays,
    regrets: Arrays,
    plans: Arrays,
    totals: Arrays,
    begin: int,
    end: int,
) -> int:
    """Iterations `begin` to `end - 1` of CFR+.

    Args:
        tree: Decision structures, see the module.
        rows: Where each player's begin and end.
        starts: Sparse payoffs, see the module.
        partners: The other player's sequences.
        gains: Chance-weighted payoffs.
        regrets: `(2, n_sequences)` regrets, never negative; changed in place, as the next two.
        plans: The current realisation plans.
        totals: Sum of plans, each weighted by its iteration.
        begin: First iteration, from 1.
        end: One past the last iteration.

    Returns:
        The last iteration.
    """
    values = np.empty(starts.shape[1] - 1)
    for t in range(begin, end):
        for player in range(2):
            regret, plan, other = regrets[player], plans[player], plans[1 - player]
            for s in range(values.shape[0]):
                value = 0.0
                for k in range(starts[player, s], starts[player, s + 1]):
                    value += gains[player, k] * other[partners[player, k]]
                values[s] = value
            for i in range(rows[player + 1] - 1, rows[player] - 1, -1):
                first, last = tree[i, 1], tree[i, 1] + tree[i, 2]
                share = regret[first:last].sum()
                mean = 0.0
                for s in range(first, last):
                    mean += values[s] * (regret[s] / share if share > 0 else 1 / tree[i, 2])
                for s in range(first, last):
                    regret[s] = max(regret[s] + values[s] - mean, 0.0)
                values[tree[i, 0]] += mean
            for i in range(rows[player], rows[player + 1]):
                first, last = tree[i, 1], tree[i, 1] + tree[i, 2]
                share = regret[first:last].sum()
                for s in range(first, last):
                    plan[s] = plan[tree[i, 0]] * (regret[s] / share if share > 0 else 1 / tree[i, 2])
            totals[player] += t * plan
    return end - 1
