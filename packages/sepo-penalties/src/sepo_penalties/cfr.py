"""CFR+ (Tammelin 2014) on the sequence form: equilibria of games too large for a linear program.

Players are updated in turn. With Q_t(I, a) the counterfactual values against the other's current plan and
sigma_t regret matching on the regrets,

    R_t(I, a) = max(0, R_{t-1}(I, a) + Q_t(I, a) - sum_a' sigma_t(a' | I) Q_t(I, a')),

and the answer is the average plan, iteration t weighing t. Its exploitability goes to 0; it is measured, not
assumed.
"""

from dataclasses import dataclass
from math import isfinite

import numpy as np

from sepo_penalties import kernels, loops
from sepo_penalties.equilibrium import policy_of_plan
from sepo_penalties.kernels import Kernel, compiled, kernel_of, respond
from sepo_penalties.sequence_form import Array, SequenceForm

CHECK = 20
"""Iterations between two measurements of exploitability."""


@dataclass(frozen=True)
class CfrResult:
    """An approximate equilibrium.

    Attributes:
        policies: For each player `(n_infosets, max_actions)`, the average policy.
        exploitability: NashConv / 2 of it, exactly, in the game's units.
        iterations: How many were run.
    """

    policies: list[Array]
    exploitability: float
    iterations: int


def cfr_plus(sf: SequenceForm, iterations: int = 10_000, target: float | None = None) -> CfrResult:
    """Approximates an equilibrium of a two-player zero-sum game.

    Args:
        sf: The game.
        iterations: Most iterations.
        target: Exploitability at which to stop, in the game's units; measured every 20 iterations. If it is not
            reached, `exploitability` of the result is above it.

    Raises:
        ValueError: If the game is not two-player zero-sum, there is no iteration, or the target is not above 0.
    """
    if sf.num_players != 2 or not sf.zero_sum:
        raise ValueError(
            f"CFR+ finds equilibria of two-player zero-sum games; this one has {sf.num_players} players and is "
            f"{'zero' if sf.zero_sum else 'general'}-sum"
        )
    if iterations < 1:
        raise ValueError(f"iterations = {iterations}: at least one is needed")
    if target is not None and not (isfinite(target) and target > 0):
        raise ValueError(f"target = {target}: a finite exploitability above 0 is needed")
    kernel = kernel_of(sf)
    sizes = [tree.num_sequences for tree in sf.treeplexes]
    plans, regrets, totals = (np.zeros((2, max(sizes))) for _ in range(3))
    plans[:, 0] = 1
    for player in (0, 1):
        for level in kernel.levels[player]:
            plans[player][level.sequences] = plans[player][level.parents] / len(level.sequences)
    step = iterations if target is None else CHECK
    done, gap = 0, np.inf
    while done < iterations and (target is None or gap > target):
        stop = min(done + step, iterations)
        _advance(kernel, regrets, plans, totals, done + 1, stop + 1)
        done = stop
        average = [totals[p, : sizes[p]] / totals[p, 0] for p in (0, 1)]
        gap = sum(float(respond(kernel, p, average[1 - p])[0]) for p in (0, 1)) / 2
    return CfrResult([policy_of_plan(sf, plan, p) for p, plan in enumerate(average)], gap, done)


def _advance(kernel: Kernel, regrets: Array, plans: Array, totals: Array, start: int, stop: int) -> None:
    """Iterations `start` to `stop - 1`, in place: compiled where numba is installed, else by levels."""
    if kernels.HAS_NUMBA:
        compiled(loops.cfr_plus_loop)(*kernel.arrays, regrets, plans, totals, start, stop)
        return
    sizes = [tree.num_sequences for tree in kernel.sf.treeplexes]
    for t in range(start, stop):
        for player, size in enumerate(sizes):
            regret, plan = regrets[player], plans[player]
            values = kernel.matrices[player] @ plans[1 - player, : sizes[1 - player]]
            for level in reversed(kernel.levels[player]):
                block, old = values[level.sequences], regret[level.sequences]
                mean = (_matched(old) * block).sum(axis=0)
                regret[level.sequences] = np.maximum(old + block - mean, 0.0)
                values[level.parents[level.starts]] += np.add.reduceat(mean, level.starts)
            for level in kernel.levels[player]:
                plan[level.sequences] = plan[level.parents] * _matched(regret[level.sequences])
            totals[player, :size] += t * plan[:size]


def _matched(regret: Array) -> Array:
    """`(actions, n)` regret matching: shares of the regrets, uniform where all are 0."""
    total = regret.sum(axis=0)
    return np.asarray(np.where(total > 0, regret / np.where(total > 0, total, 1.0), 1 / len(regret)))
