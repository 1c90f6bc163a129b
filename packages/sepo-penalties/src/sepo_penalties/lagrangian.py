"""How large a weight must be: from budgets while training goes on, or from known alternatives beforehand.

A PID controller turns the cost J_t of a step and its budget d into a weight (Stooke, Achiam and Abbeel 2020):

    e_t = J_t - d,    I_t = min(cap, max(0, I_t-1 + e_t)),    D_t = max(0, J_t - J_t-1),
    weight_t = max(0, k_p e_t + k_i I_t + k_d D_t).

With k_p = k_d = 0 this is dual ascent with step k_i. Costs must be raw, in payoff units and means per episode: a normalised cost moves
the weight by the same step however large the violation is.

Beforehand, a policy t is best under reward - weight x penalty from

    break-even weight = max over alternatives a with r_a > r_t of (r_a - r_t) / (p_a - p_t)

on, and under no weight if some alternative pays more and costs no more.
"""

from dataclasses import dataclass, fields, replace
from math import inf, isfinite

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PidLagrangian:
    """A weight that follows a budget; `update` gives the next one.

    Attributes:
        budget: d, the mean cost per episode that is allowed, in payoff units.
        proportional: k_p, at least 0.
        integral: k_i, at least 0.
        derivative: k_d, at least 0.
        cap: Most that the integral may grow to, so that a long violation is not paid off for ever.
        weight: The current weight, to be used in the next step's reward.
        accumulated: I_t.
        last: J_t, or `None` before the first step.
    """

    budget: float
    proportional: float = 1.0
    integral: float = 0.1
    derivative: float = 0.5
    cap: float = inf
    weight: float = 0.0
    accumulated: float = 0.0
    last: float | None = None

    def __post_init__(self) -> None:
        """Checks the settings.

        Raises:
            ValueError: If a number is not finite (the cap may be infinite) or a gain, the cap or the state is negative.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            finite = isfinite(value) or (field.name == "cap" and value == inf)
            if not finite or (value < 0 and field.name not in {"budget", "last"}):
                raise ValueError(f"{field.name} = {value} is not allowed: a finite number of at least 0 is needed")

    def update(self, cost: float) -> "PidLagrangian":
        """The controller after a step.

        Args:
            cost: The step's mean cost per episode, raw.

        Raises:
            ValueError: If the cost is not finite.
        """
        if not isfinite(cost):
            raise ValueError(f"cost = {cost}: a finite mean cost per episode is needed")
        error = cost - self.budget
        accumulated = min(self.cap, max(0.0, self.accumulated + error))
        rise = 0.0 if self.last is None else max(0.0, cost - self.last)
        weight = max(0.0, self.proportional * error + self.integral * accumulated + self.derivative * rise)
        return replace(self, weight=weight, accumulated=accumulated, last=cost)


def break_even_lambda(rewards: npt.ArrayLike, penalties: npt.ArrayLike, target: int) -> float:
    """The least weight under which no alternative beats the target.

    Args:
        rewards: `(n,)` expected payoff of each alternative, the target among them, in payoff units.
        penalties: `(n,)` expected penalty of each, in payoff units.
        target: Place of the policy that ought to be best.

    Returns:
        The weight: 0 if nothing pays more than the target, `inf` if something pays more and costs no more.

    Raises:
        ValueError: If shapes differ, a number is not finite, or there is no such target.
    """
    pay, cost = _alternatives(rewards, penalties)
    if not 0 <= target < len(pay):
        raise ValueError(f"target = {target} does not exist: there are alternatives 0 to {len(pay) - 1}")
    gain, more = pay - pay[target], cost - cost[target]
    tempting = gain > 0
    if (more[tempting] <= 0).any():
        return inf
    return float((gain[tempting] / more[tempting]).max(initial=0.0))


def weight_sweep(rewards: npt.ArrayLike, penalties: npt.ArrayLike, weights: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Which alternative is best at each weight; among equals the one with the least penalty, then the first.

    Args:
        rewards: `(n,)` expected payoff of each alternative.
        penalties: `(n,)` expected penalty of each.
        weights: `(k,)` weights of at least 0.

    Returns:
        `(k,)` places. Penalties of the best never rise with the weight.

    Raises:
        ValueError: If shapes differ, a number is not finite or a weight is negative.
    """
    pay, cost = _alternatives(rewards, penalties)
    given = np.asarray(weights, dtype=np.float64)
    if given.ndim != 1 or not np.isfinite(given).all() or (given < 0).any():
        raise ValueError(f"weights {given.tolist()}: a list of finite numbers of at least 0 is needed")
    order = np.lexsort((np.arange(len(pay)), cost))
    value = pay[order] - given[:, None] * cost[order]
    return np.asarray(order[np.argmax(value, axis=1)])


def _alternatives(rewards: npt.ArrayLike, penalties: npt.ArrayLike) -> tuple[Array, Array]:
    pay, cost = np.asarray(rewards, dtype=np.float64), np.asarray(penalties, dtype=np.float64)
    if pay.ndim != 1 or pay.shape != cost.shape or not len(pay):
        raise ValueError(
            f"rewards of shape {pay.shape} and penalties of shape {cost.shape}: one of each for every alternative is needed"
        )
    if not (np.isfinite(pay).all() and np.isfinite(cost).all()):
        raise ValueError(
            f"rewards {pay.tolist()} and penalties {cost.tolist()} hold a number that is not finite: every alternative needs one of each"
        )
    return pay, cost
