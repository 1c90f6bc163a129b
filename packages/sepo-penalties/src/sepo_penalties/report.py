"""Which parts of a reward can teach, group by group.

Group-relative advantages see only what differs inside a group. So a part that is the same for all rollouts of a group cancels, however
much it varies over the batch; and a part that differs but does not follow from the rollout's own actions (a penalty measured in other
episodes, say) only adds noise. With x the episode sums of a part, centred within groups, and R = payoff - sum of weight x part:

    variance share of a part = sum w x R / sum R^2          (signed weights; shares add up to 1),
    share at decision t = sum over (group, action at t) of n mean(x)^2  /  sum x^2.

The latter stands beside its distribution when x is shuffled inside groups: the p-value counts shuffles whose mean share over decisions is
as large, and `explained` is the largest share beyond what shuffles explain there on average.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sepo_penalties.reward import Parts, Weights

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
NAMES = ("payoff", "exploitability", "collusion", "externality", "invalid")
TINY = 1e-12
"""Variances up to this share of the squared size of the numbers are rounding."""
LEVEL = 0.05


@dataclass(frozen=True)
class PartReport:
    """One part of the reward.

    Attributes:
        name: Which.
        weight: Signed weight in the total.
        constant_groups: Share of groups in which it is the same for all rollouts.
        varies: Whether it differs anywhere in the batch.
        variance_share: Its share of the total's variance within groups; `nan` if the total has none.
        explained: Share of its variance within groups that the rollouts' own actions at one decision explain beyond chance, at the
            decision where that is most; `None` if not asked, or if there is no variance.
        p_value: Of the hypothesis that it has nothing to do with the rollouts' own actions.
    """

    name: str
    weight: float
    constant_groups: float
    varies: bool
    variance_share: float
    explained: float | None = None
    p_value: float | None = None

    @property
    def verdict(self) -> str:
        """What it can teach, in words."""
        if not self.varies:
            return "does not vary"
        if self.constant_groups == 1:
            return "varies in the batch, but in no group: it cancels"
        if self.p_value is not None and self.p_value > LEVEL:
            return "varies, but not because of these tokens, as far as can be seen: noise"
        return "teaches" if self.p_value is not None else "varies in groups"


@dataclass(frozen=True)
class Report:
    """The parts, and how many groups there are."""

    parts: tuple[PartReport, ...]
    groups: int
    rollouts: int

    def __str__(self) -> str:
        """A table."""
        lines = [
            f"{self.rollouts} rollouts in {self.groups} groups",
            f"{'part':<15}{'weight':>7}{'constant groups':>17}{'variance share':>16}{'explained':>11}{'p':>7}  verdict",
        ]
        for part in self.parts:
            explained = "" if part.explained is None else f"{part.explained:.0%}"
            p = "" if part.p_value is None else f"{part.p_value:.3f}"
            lines.append(
                f"{part.name:<15}{part.weight:>7g}{part.constant_groups:>17.0%}{part.variance_share:>16.1%}{explained:>11}{p:>7}  {part.verdict}"
            )
        return "\n".join(lines)


def group_report(
    parts: Parts,
    groups: npt.ArrayLike,
    actions: npt.ArrayLike | None = None,
    *,
    weights: Weights | None = None,
    shuffles: int = 999,
    seed: int = 0,
) -> Report:
    """Tells which parts of a reward can teach.

    Warns once if a part with a weight varies over the batch but in no group, or not because of the given actions.

    Args:
        parts: What `SepoReward` gave.
        groups: `(B,)` group of each rollout.
        actions: `(B, T)` what each rollout did at each decision, whole numbers, any number where it made none; without it the parts'
            causes are not tested.
        weights: The weights of the total; all 1 by default.
        shuffles: Of the permutation test, at least 1.
        seed: Of the shuffles.

    Raises:
        ValueError: If shapes do not fit, every group has one rollout, there are no shuffles, or the parts do not add up to the total under the weights.
    """
    labels = np.asarray(groups)
    size = len(parts.total)
    if labels.shape != (size,) or size == 0:
        raise ValueError(
            f"groups of shape {labels.shape}: one for each of the {size} rollouts is needed, and at least one"
        )
    _, number, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if sizes.max() < 2:
        raise ValueError(
            f"each of the {len(sizes)} groups has one rollout: nothing can differ inside it, give groups of two or more"
        )
    if shuffles < 1:
        raise ValueError(f"shuffles = {shuffles}: at least 1 is needed")
    given = weights or Weights()
    signed = {name: 1.0 if name == "payoff" else -float(getattr(given, name)) for name in NAMES}
    sums = {name: np.asarray(getattr(parts, name), dtype=np.float64).sum(axis=1) for name in NAMES}
    total = np.asarray(parts.total, dtype=np.float64).sum(axis=1)
    whole = sum(signed[name] * sums[name] for name in NAMES)
    if not np.allclose(whole, total, rtol=1e-6, atol=1e-9):
        raise ValueError(
            "payoff minus weighted parts is not the total: give the weights with which the reward was made"
        )
    within = _centred(total, number)
    power = float(within @ within)
    columns = None if actions is None else _columns(actions, size, number)
    found = []
    for name in NAMES:
        x = _centred(sums[name], number)
        spread = np.bincount(number, x * x)
        real = spread > TINY * (1 + np.bincount(number, sums[name] ** 2))
        explained = p_value = None
        if columns is not None and real.any():
            explained, p_value = _explained(x, number, columns, shuffles, seed)
        found.append(
            PartReport(
                name,
                signed[name],
                float((~real)[sizes > 1].mean()),
                bool(np.ptp(sums[name]) > TINY * (1 + np.abs(sums[name]).max())),
                float(signed[name] * (x @ within) / power) if power > 0 else float("nan"),
                explained,
                p_value,
            )
        )
    _warn([part for part in found if part.weight and part.varies and part.name != "payoff"])
    return Report(tuple(found), len(sizes), size)


def _warn(parts: Sequence[PartReport]) -> None:
    cancelled = [part.name for part in parts if part.constant_groups == 1]
    noise = [part.name for part in parts if part.p_value is not None and part.p_value > LEVEL]
    if cancelled:
        warnings.warn(
            f"{', '.join(cancelled)}: the same for all rollouts of each group, so it cancels in the advantage and teaches nothing. Compute it "
            "per rollout, from that rollout's own actions",
            stacklevel=3,
        )
    if noise:
        warnings.warn(
            f"{', '.join(noise)}: differs within groups, but not visibly because of the rollouts' own actions, so it mostly adds noise. Book "
            "the penalty on the episodes whose tokens caused it (credited pools)",
            stacklevel=3,
        )


def _centred(x: Array, number: Ints) -> Array:
    return np.asarray(x - (np.bincount(number, x) / np.bincount(number))[number])


def _columns(actions: npt.ArrayLike, size: int, number: Ints) -> list[Ints]:
    """For each decision, the (group, action) class of every rollout."""
    table = np.asarray(actions)
    if table.ndim != 2 or len(table) != size or not np.issubdtype(table.dtype, np.integer):
        raise ValueError(f"actions are {table.dtype} of shape {table.shape}: whole numbers ({size}, T) are needed")
    pairs = [np.stack([number, column], axis=1) for column in table.T]
    return [np.unique(pair, axis=0, return_inverse=True)[1].ravel() for pair in pairs]


def _explained(x: Array, number: Ints, columns: Sequence[Ints], shuffles: int, seed: int) -> tuple[float, float]:
    """Share that actions explain beyond chance, and the p-value."""
    rng = np.random.default_rng(seed)
    places = np.argsort(number, kind="stable")
    shuffled = np.empty((shuffles + 1, len(x)))
    shuffled[0] = x
    # Sorting by group + uniform shuffles inside groups.
    orders = np.argsort(number + rng.random((shuffles, len(x))), axis=1)
    shuffled[1:, places] = x[orders]
    shares = np.empty((len(columns), shuffles + 1))
    for t, column in enumerate(columns):
        order = np.argsort(column, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(column[order]) > 0])
        sums = np.add.reduceat(shuffled[:, order], starts, axis=1)
        shares[t] = (sums**2 / np.bincount(column)).sum(axis=1) / (x @ x)
    mean, chance = shares.mean(axis=0), shares[:, 1:].mean(axis=1)
    p_value = float((1 + (mean[1:] >= mean[0] * (1 - 1e-9)).sum()) / (1 + shuffles))
    beyond = np.where(chance < 1 - TINY, (shares[:, 0] - chance) / np.maximum(1 - chance, TINY), 0.0)
    return max(0.0, float(beyond.max())), p_value
