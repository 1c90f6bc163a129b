"""A memory-m policy estimated from logged play, with Dirichlet smoothing.

    policy(a | h) = (count(h, a) + alpha) / (count(h) + alpha * actions)

for every history h of at most m joint outcomes: the posterior mean under a symmetric Dirichlet prior. Rows come
by length: no outcome (the first round), one, ..., m; in rounds after the m-th only the last m are remembered.
"""

from dataclasses import dataclass
from math import isfinite

import numpy as np
import numpy.typing as npt

from sepo_penalties.sequence_form import Array, Ints


@dataclass(frozen=True)
class MemoryEstimate:
    """An estimated policy.

    Attributes:
        policy: `(n_histories, actions)` posterior mean.
        counts: Same shape: how often each action was taken; `clopper_pearson` bounds them.
    """

    policy: Array
    counts: Ints


def estimate_memory(
    play: npt.ArrayLike, player: int, sizes: tuple[int, int], memory: int = 1, alpha: float = 0.5
) -> MemoryEstimate:
    """Estimates a player's memory-m policy from episodes of a repeated two-player game.

    Args:
        play: `(B, T, 2)` actions of both players, player 0's first.
        player: Whose policy is estimated.
        sizes: Number of actions of player 0 and of player 1.
        memory: How many joint outcomes the policy may remember.
        alpha: Prior count of each action, above 0; 0.5 is Jeffreys' prior.

    Returns:
        Rows: within a length, histories count up in base (own actions x other's actions), the oldest outcome being
        the highest digit, and an outcome is own action x other's actions + other's action. With two actions
        and memory 1, column 0 is the table of a stationary `MemoryOne`.

    Raises:
        ValueError: If play is not of that shape, empty or has an unknown action, there is no such player, the
            memory is negative, or alpha is not above 0.
    """
    actions = np.asarray(play)
    if actions.ndim != 3 or actions.shape[-1] != 2 or actions.size == 0 or not np.issubdtype(actions.dtype, np.integer):
        raise ValueError(f"play is {actions.dtype} of shape {actions.shape}: whole numbers (B, T, 2) are needed")
    if player not in {0, 1}:
        raise ValueError(f"player {player} does not exist: choose 0 or 1")
    if memory < 0:
        raise ValueError(f"memory = {memory}: a whole number of at least 0 is needed")
    if not isfinite(alpha) or alpha <= 0:
        raise ValueError(f"alpha = {alpha}: a finite number above 0 is needed")
    unknown = (actions < 0) | (actions >= np.array(sizes))
    if unknown.any():
        row, step, seat = np.argwhere(unknown)[0].tolist()
        raise ValueError(
            f"episode {row}, round {step}: player {seat} has {sizes[seat]} actions, {actions[row, step, seat]} was given"
        )
    own, other = actions[..., player], actions[..., 1 - player]
    outcomes = own * sizes[1 - player] + other
    base = sizes[0] * sizes[1]
    firsts = np.cumsum([0, *(base**k for k in range(memory))])
    counts = np.zeros((int(firsts[-1]) + base**memory, sizes[player]), dtype=np.int64)
    history = np.zeros(len(own), dtype=np.int64)
    for t in range(own.shape[1]):
        np.add.at(counts, (firsts[min(t, memory)] + history, own[:, t]), 1)
        history = (history * base + outcomes[:, t]) % base**memory
    smooth = counts + alpha
    return MemoryEstimate(smooth / smooth.sum(axis=1, keepdims=True), counts)
