"""Logit demand for two firms: prices, profits and consumer surplus (Calvano, Calzolari, Denicolo and Pastorello 2020).

    q_i = exp((a - p_i) / mu) / (sum_j exp((a - p_j) / mu) + exp(a0 / mu))        profit_i = (p_i - c) q_i
    CS  = mu ln(sum_j exp((a - p_j) / mu) + exp(a0 / mu)) - a0

Consumer surplus is counted from what the outside option is worth: 0 if nobody buys. The competitive price p_N solves
(p - c)(1 - q) = mu and the price of a joint monopoly p_M solves (p - c)(1 - 2q) = mu at equal prices. Both left sides rise in p.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Demand:
    """A market of two firms.

    Attributes:
        quality: a, what the good is worth to consumers before their taste.
        cost: c, of one unit.
        outside: a0, what consumers have who buy nothing.
        spread: mu, how much tastes differ; the higher, the less consumers follow prices.

    Raises:
        ValueError: If a number is not finite, `cost` is negative or `spread` is not positive.
    """

    quality: float = 2.0
    cost: float = 1.0
    outside: float = 0.0
    spread: float = 0.25

    def __post_init__(self) -> None:
        """Checks the numbers."""
        numbers = (self.quality, self.cost, self.outside, self.spread)
        if not all(map(isfinite, numbers)) or self.cost < 0 or self.spread <= 0:
            raise ValueError(
                f"pricing: quality, cost, outside, spread = {numbers} are not allowed: finite numbers, cost at least 0, spread above 0"
            )

    def market(self, prices: Sequence[float]) -> tuple[Array, float]:
        """Profits `(2,)` and the consumer surplus at two prices."""
        given = np.asarray(prices, dtype=np.float64)
        logits = (self.quality - given) / self.spread
        total = np.logaddexp(np.logaddexp.reduce(logits), self.outside / self.spread)
        return (given - self.cost) * np.exp(logits - total), float(self.spread * total - self.outside)

    def competitive_price(self) -> float:
        """p_N, of the equilibrium of one round with any prices."""
        return self._price(1)

    def monopoly_price(self) -> float:
        """p_M, of the highest joint profit."""
        return self._price(2)

    def _price(self, owned: int) -> float:
        """Solves (p - c)(1 - owned q) = mu by bisection."""
        low, width = self.cost + self.spread, self.spread
        while not self._pays(low + width, owned):
            width *= 2
        high = low + width
        while low < (middle := (low + high) / 2) < high:
            low, high = (low, middle) if self._pays(middle, owned) else (middle, high)
        return high

    def _pays(self, price: float, owned: int) -> bool:
        logit, outside = (self.quality - price) / self.spread, self.outside / self.spread
        # 1 - owned q, without cancellation.
        others = np.logaddexp(logit, outside) if owned == 1 else outside
        rest = np.exp(others - np.logaddexp(logit + np.log(2), outside))
        return bool((price - self.cost) * rest >= self.spread)


def price_grid(demand: Demand, points: int, margin: float) -> tuple[float, ...]:
    """Evenly spaced prices from p_N - margin (p_M - p_N) to p_M + margin (p_M - p_N).

    Raises:
        ValueError: If there are fewer than two points, the margin is negative or not finite, or the lowest price is not above cost.
    """
    competitive, monopoly = demand.competitive_price(), demand.monopoly_price()
    reach = margin * (monopoly - competitive)
    if (
        type(points) is not int
        or points < 2
        or not isfinite(margin)
        or margin < 0
        or competitive - reach <= demand.cost
    ):
        raise ValueError(
            f"pricing: points = {points!r}, margin = {margin} are not allowed: at least 2 points and a margin of at least 0 that "
            f"leaves the lowest price, {competitive - reach:.6g}, above the cost {demand.cost:.6g}"
        )
    return tuple(np.linspace(competitive - reach, monopoly + reach, points).tolist())


def pure_equilibria(profits: Array) -> tuple[tuple[int, int], ...]:
    """Pure Nash equilibria of the symmetric one-round game.

    Args:
        profits: `(m, m)` profit by own and the rival's price.
    """
    best = profits >= profits.max(axis=0) - 1e-12
    return tuple((int(i), int(j)) for i, j in np.argwhere(best & best.T))
