"""Which tokens are credited with the exploitability penalty: the arms of the comparison.

`best_response` and `credited` train the rollouts against the exploiter themselves; nothing is moved. The two published ways play the
exploiter's episodes apart and subtract what they cost from train rollouts, whose tokens did not cause it:

    shared      one number, the mean over all exploiter episodes; it cancels in every group
    auxiliary   the cost of one exploiter episode for each train rollout; its expected policy gradient is zero
"""

import numpy as np
import numpy.typing as npt
from sepo_penalties import EpisodeBatch, Parts

from sepo_grpo.config import Arm
from sepo_grpo.plan import pool_weights

Array = npt.NDArray[np.float64]


def credited_rewards(batch: EpisodeBatch, parts: Parts, arm: Arm, weight: float) -> tuple[Array, Array]:
    """Rewards `(B, T)` and the weight of each rollout `(B,)` under a credit arm.

    Args:
        batch: The step's episodes.
        parts: Their reward parts, each on the pool it was played in.
        arm: The credit arm.
        weight: lambda_e.

    Returns:
        The rewards to centre, and the weights, which are 0 for rollouts that only serve as a measurement.
    """
    if arm in {"best_response", "credited"}:
        return parts.total, pool_weights(batch.pool.tolist())
    train, exploiter = batch.pool == "train", batch.pool == "exploiter"
    cost = weight * parts.exploitability[exploiter].sum(axis=1)
    moved = np.full(train.sum(), cost.mean()) if arm == "shared" else np.resize(cost, train.sum())
    last = batch.mask.shape[1] - 1 - np.argmax(batch.mask[train][:, ::-1], axis=1)
    total = parts.total.copy()
    total[np.flatnonzero(train), last] -= moved
    weights = np.zeros(len(train))
    weights[~exploiter] = pool_weights(batch.pool[~exploiter].tolist())
    return total, weights
