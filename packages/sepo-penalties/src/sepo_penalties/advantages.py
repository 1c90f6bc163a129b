"""Group-relative advantages in payoff units.

For a group and a column (step) with returns R_1 .. R_G:  leave-one-out  A_i = R_i - mean_{j != i} R_j
(unbiased; G / (G - 1) times the centred return), or the group mean  A_i = R_i - mean_j R_j. No division by a
standard deviation unless asked for: it would make the weight of a pool or a penalty meaningless and blow
noise up to full size.

A reward in parts r_1 .. r_P with signed weights w is summed first, A = scaled(sum_k w_k r_k), or last, A = sum_k w_k scaled(r_k)
(GDPO, arXiv 2601.05242, which then whitens the batch). Summing last makes the weights free of units, and blows up rare and tiny parts.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from sepo_penalties.episodes import Array, Bools, Ints

Credit = Literal["return_to_go", "episode", "immediate"]
Baseline = Literal["leave_one_out", "mean", "none"]
Scale = Literal["none", "group", "batch"]
Aggregation = Literal["sum_then_normalize", "normalize_then_sum"]


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
    part_weights: npt.ArrayLike | None = None,
    credit: Credit = "return_to_go",
    baseline: Baseline = "leave_one_out",
    scale: Scale = "none",
    aggregation: Aggregation = "sum_then_normalize",
    whiten: bool = False,
    ddof: int = 1,
    eps: float = 0.0,
    sd_floor: float = 0.0,
    sd_offset: float = 0.0,
) -> Array:
    """Advantages of every step.

    Args:
        rewards: `(B, T)` per step, or `(B,)` for one-shot games; with `part_weights` one axis more, `(B, T, P)` or `(B, P)`.
        groups: `(B,)` group of each rollout.
        mask: `(B, T)` True where there is a step; all by default.
        valid: `(B, T)` False where the step's replies were all rejected: such a step keeps its place in
            earlier steps' returns, but gets advantage 0 and does not enter the baseline.
        segments: `(B, T)` return-to-go does not cross from one segment to the next; one segment by default.
        row_weights: `(B,)` factor on each rollout's advantages.
        part_weights: `(P,)` signed weights of the parts: positive for a payoff, negative for a cost.
        credit: What a step is credited with.
        baseline: What is subtracted, per group and column; a row that is alone there gets 0 under
            `leave_one_out` and `mean`.
        scale: Divide by the standard deviation of the centred returns of the group and column, or of the
            batch, or not at all.
        aggregation: Whether parts are added before they are centred and scaled, or each part is and then they are added.
        whiten: Centre and scale the finished advantages once more, over the whole batch.
        ddof: Of the standard deviation.
        eps: A group whose standard deviation is not above it gets 0; only with `scale`.
        sd_floor: Smallest divisor, in payoff units; only with `scale`.
        sd_offset: Added to every divisor (1e-4 in TRL); only with `scale` or `whiten`.

    Returns:
        `(B, T)` float64 advantages, 0 where masked.

    Raises:
        ValueError: For wrong shapes, unknown options, or a reward that is not finite; the message names row,
            group and column.
    """
    table, signed = _parts(rewards, part_weights)
    shape = table.shape[:2]
    steps = _shaped("mask", mask, shape, True).astype(bool)
    counted = steps & _shaped("valid", valid, shape, True).astype(bool)
    hands = _shaped("segments", segments, shape, 0).astype(np.int64)
    labels = _shaped("groups", groups, shape[:1], 0)
    weights = _shaped("row_weights", row_weights, shape[:1], 1.0).astype(np.float64)
    for name, value, allowed in (
        ("credit", credit, ("return_to_go", "episode", "immediate")),
        ("baseline", baseline, ("leave_one_out", "mean", "none")),
        ("scale", scale, ("none", "group", "batch")),
        ("aggregation", aggregation, ("sum_then_normalize", "normalize_then_sum")),
    ):
        if value not in allowed:
            raise ValueError(f"{name} = {value!r} is not allowed: choose from {', '.join(allowed)}")
    bad = ~np.isfinite(table).all(axis=2) & steps
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        shown = table[row, column, 0] if part_weights is None else table[row, column].tolist()
        raise ValueError(f"the reward of row {row} (group {labels[row]}), column {column} is {shown}")
    if not np.isfinite(weights).all():
        row = int(np.argmax(~np.isfinite(weights)))
        raise ValueError(f"the weight of row {row} (group {labels[row]}) is {weights[row]}: a finite number is needed")
    for name, number in (("ddof", ddof), ("eps", eps), ("sd_floor", sd_floor), ("sd_offset", sd_offset)):
        if not np.isfinite(number) or number < 0:
            raise ValueError(f"{name} = {number} is not allowed: a finite number of at least 0 is needed")

    if aggregation == "sum_then_normalize":
        table, signed = (np.where(steps[..., None], table, 0.0) @ signed)[..., None], np.ones(1)
    _, index = np.unique(labels, return_inverse=True)
    advantages = np.zeros(shape)
    for part, weight in zip(np.moveaxis(table, 2, 0), signed, strict=True):
        centred = _centred(returns(part, steps, hands, credit), counted, index, baseline)
        if scale != "none":
            spread = _group_sd(centred, counted, index, ddof) if scale == "group" else _batch_sd(centred, counted, ddof)
            centred = _divided(centred, spread, eps, sd_floor, sd_offset)
        advantages += weight * centred
    if whiten and counted.any():
        advantages = np.where(counted, advantages - advantages[counted].mean(), 0.0)
        advantages = _divided(advantages, _batch_sd(advantages, counted, ddof), 0.0, 0.0, sd_offset)
    return advantages * weights[:, None]


def _parts(rewards: npt.ArrayLike, part_weights: npt.ArrayLike | None) -> tuple[Array, Array]:
    """Rewards as `(B, T, P)`, and the weights `(P,)`."""
    table = np.asarray(rewards, dtype=np.float64)
    signed = np.ones(1) if part_weights is None else np.asarray(part_weights, dtype=np.float64)
    table = table[..., None] if part_weights is None else table
    table = table[:, None] if table.ndim == 2 else table
    if table.ndim != 3 or table.shape[0] == 0:
        axes = (
            "(episodes, steps) or (episodes,)"
            if part_weights is None
            else "(episodes, steps, parts) or (episodes, parts)"
        )
        raise ValueError(f"rewards have shape {np.shape(rewards)}: {axes} with at least one episode is needed")
    if signed.shape != table.shape[2:] or not np.isfinite(signed).all():
        raise ValueError(
            f"part_weights are {signed.tolist()}: one finite number for each of the {table.shape[2]} parts is needed"
        )
    return table, signed


def _centred(credited: Array, counted: Bools, index: Ints, baseline: Baseline) -> Array:
    """Returns minus their baseline, 0 where nothing counts."""
    n, total = _per_group(counted.astype(np.float64), index), _per_group(np.where(counted, credited, 0.0), index)
    if baseline == "leave_one_out":
        centred = np.where(n > 1, credited - (total - credited) / np.maximum(n - 1, 1), 0.0)
    elif baseline == "mean":
        centred = np.where(n > 1, credited - total / np.maximum(n, 1), 0.0)
    else:
        centred = credited
    return np.where(counted, centred, 0.0)


def _divided(centred: Array, spread: Array, eps: float, sd_floor: float, sd_offset: float) -> Array:
    divisor = np.maximum(spread, sd_floor) + sd_offset
    return np.where((spread > eps) & (divisor > 0), centred / np.where(divisor > 0, divisor, 1.0), 0.0)


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
