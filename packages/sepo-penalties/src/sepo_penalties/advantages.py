"""Group-relative advantages in payoff units.

For a group and a column (step) with returns R_1 .. R_G:  leave-one-out  A_i = R_i - mean_{j != i} R_j
(unbiased; G / (G - 1) times the centred return), or the group mean  A_i = R_i - mean_j R_j. No division by a
standard deviation unless asked for: it would make the weight of a pool or a penalty meaningless and blow
noise up to full size.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from sepo_penalties.episodes import Array, Bools, Ints

Credit = Literal["return_to_go", "episode", "immediate"]
Baseline = Literal["leave_one_out", "mean", "none"]
Scale = Literal["none", "group", "batch"]


def returns(rewards: Array, mask: Bools, segments: Ints, credit: Credit) -> Array:
    """`(B, T)` a step's credit: rewards from it to the end of its segment, all of the episode, or its own."""
    rewards = np.where(mask, rewards, 0.0)
    if credit == "immediate":
        return rewards
    if credit == "episode":
        return np.where(mask, rewards.sum(axis=1, keepdims=True), 0.0)
    result = rewards.copy()
    for t in range(rewards.shape[1] - 2, -1, -1):
        result[:, t] += np.where(segments[:, t] == segments[:, t + 1], result[:, t + 1], 0.0)
    return np.where(mask, result, 0.0)


def group_advantages(
    rewards: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    mask: npt.ArrayLike | None = None,
    valid: npt.ArrayLike | None = None,
    segments: npt.ArrayLike | None = None,
    row_weights: npt.ArrayLike | None = None,
    credit: Credit = "return_to_go",
    baseline: Baseline = "leave_one_out",
    scale: Scale = "none",
    ddof: int = 1,
    eps: float = 0.0,
    sd_floor: float = 0.0,
) -> Array:
    """Advantages of every step.

    Args:
        rewards: `(B, T)` per step, or `(B,)` for one-shot games.
        groups: `(B,)` group of each rollout.
        mask: `(B, T)` True where there is a step; all by default.
        valid: `(B, T)` False where the step's replies were all rejected: such a step keeps its place in
            earlier steps' returns, but gets advantage 0 and does not enter the baseline.
        segments: `(B, T)` return-to-go does not cross from one segment to the next; one segment by default.
        row_weights: `(B,)` factor on each rollout's advantages.
        credit: What a step is credited with.
        baseline: What is subtracted, per group and column; a row that is alone there gets 0 under
            `leave_one_out` and `mean`.
        scale: Divide by the standard deviation of the centred returns of the group and column, or of the
            batch, or not at all.
        ddof: Of the standard deviation.
        eps: A group whose standard deviation is not above it gets 0; only with `scale`.
        sd_floor: Smallest divisor, in payoff units; only with `scale`.

    Returns:
        `(B, T)` float64 advantages, 0 where masked.

    Raises:
        ValueError: For wrong shapes, unknown options, or a reward that is not finite; the message names row,
            group and column.
    """
    table = np.asarray(rewards, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or table.shape[0] == 0:
        raise ValueError(
            f"rewards have shape {np.shape(rewards)}: (episodes, steps) or (episodes,) with at "
            "least one episode is needed"
        )
    steps = _shaped("mask", mask, table.shape, True).astype(bool)
    counted = steps & _shaped("valid", valid, table.shape, True).astype(bool)
    hands = _shaped("segments", segments, table.shape, 0).astype(np.int64)
    labels = _shaped("groups", groups, table.shape[:1], 0)
    weights = _shaped("row_weights", row_weights, table.shape[:1], 1.0).astype(np.float64)
    for name, value, allowed in (
        ("credit", credit, ("return_to_go", "episode", "immediate")),
        ("baseline", baseline, ("leave_one_out", "mean", "none")),
        ("scale", scale, ("none", "group", "batch")),
    ):
        if value not in allowed:
            raise ValueError(f"{name} = {value!r} is not allowed: choose from {', '.join(allowed)}")
    bad = ~np.isfinite(table) & steps
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise ValueError(f"the reward of row {row} (group {labels[row]}), column {column} is {table[row, column]}")

    if not np.isfinite(weights).all():
        row = int(np.argmax(~np.isfinite(weights)))
        raise ValueError(f"the weight of row {row} (group {labels[row]}) is {weights[row]}: a finite number is needed")
    for name, number in (("ddof", ddof), ("eps", eps), ("sd_floor", sd_floor)):
        if not np.isfinite(number) or number < 0:
            raise ValueError(f"{name} = {number} is not allowed: a finite number of at least 0 is needed")

    credited = returns(table, steps, hands, credit)
    _, index = np.unique(labels, return_inverse=True)
    n, total = (
        _per_group(counted.astype(np.float64), index),
        _per_group(np.where(counted, credited, 0.0), index),
    )
    if baseline == "leave_one_out":
        centred = np.where(n > 1, credited - (total - credited) / np.maximum(n - 1, 1), 0.0)
    elif baseline == "mean":
        centred = np.where(n > 1, credited - total / np.maximum(n, 1), 0.0)
    else:
        centred = credited
    centred = np.where(counted, centred, 0.0)
    if scale != "none":
        spread = _group_sd(centred, counted, index, ddof) if scale == "group" else _batch_sd(centred, counted, ddof)
        floor = np.maximum(spread, sd_floor)
        centred = np.where((spread > eps) & (floor > 0), centred / np.where(floor > 0, floor, 1.0), 0.0)
    return centred * weights[:, None]


def _shaped(name: str, given: npt.ArrayLike | None, shape: tuple[int, ...], default: float) -> npt.NDArray[np.generic]:
    array = np.full(shape, default) if given is None else np.asarray(given)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}: {shape} is needed")
    return array


def _per_group(values: Array, index: Ints) -> Array:
    """`(B, T)` each row's group total in each column."""
    sums = np.zeros((index.max() + 1, values.shape[1]))
    np.add.at(sums, index, values)
    return sums[index]


def _group_sd(centred: Array, counted: Bools, index: Ints, ddof: int) -> Array:
    n = _per_group(counted.astype(np.float64), index)
    mean = _per_group(centred, index) / np.maximum(n, 1)
    squares = _per_group(np.where(counted, (centred - mean) ** 2, 0.0), index)
    return np.sqrt(squares / np.maximum(n - ddof, 1))


def _batch_sd(centred: Array, counted: Bools, ddof: int) -> Array:
    values = centred[counted]
    spread = float(values.std(ddof=ddof)) if values.size > ddof else 0.0
    return np.full(centred.shape, spread)
