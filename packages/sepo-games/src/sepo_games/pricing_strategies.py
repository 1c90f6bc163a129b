"""Scripted firms. Actions are prices from low to high; every firm sees all prices so far.

No preset of the published work has this game: both presets are ours and the same.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sepo_games.errors import check_preset
from sepo_games.strategies import Scripted, pure, uniform
from sepo_games.types import Strategy

HELD_OUT = ("grim", "best-reply")


def pricing_strategies(profits: npt.NDArray[np.float64], nash: int, monopoly: int) -> Mapping[str, Strategy]:
    """Every scripted firm by name.

    `tit-for-tat` begins with the monopoly price and then charges what the rival last charged. `undercut` goes one step below the rival's
    last price, never below the equilibrium price. `grim` charges the monopoly price until the rival once charged less, then the
    equilibrium price for ever. `best-reply` earns most if the rival repeats its last price, and expects the equilibrium price first.

    Args:
        profits: `(m, m)` profit by own and the rival's price.
        nash: Action of the one-round equilibrium.
        monopoly: Action of the highest joint profit at equal prices.
    """
    n = len(profits)
    replies = profits.argmax(axis=0).tolist()

    def last(view: Any, first: int) -> int:
        return int(view.other[-1]) if view.other else first

    def betrayed(view: Any) -> bool:
        return any(price < monopoly for price in view.other)

    def grim(view: Any) -> Sequence[float]:
        return pure(nash if betrayed(view) else monopoly, n)

    return {
        "uniform": uniform(n),
        "nash": Scripted(lambda view: pure(nash, n)),
        "monopoly": Scripted(lambda view: pure(monopoly, n)),
        "tit-for-tat": Scripted(lambda view: pure(last(view, monopoly), n)),
        "undercut": Scripted(lambda view: pure(max(nash, last(view, monopoly) - 1), n)),
        "grim": Scripted(grim, markov=False, memory=betrayed),
        "best-reply": Scripted(lambda view: pure(replies[last(view, nash)], n)),
    }


def pricing_pools(preset: str) -> Mapping[str, tuple[str, ...]]:
    """Opponents by pool."""
    check_preset(preset)
    return {"train": ("nash", "tit-for-tat", "uniform"), "exploiter": ("undercut",), "collusive": ("monopoly",)}


def pricing_mixture(preset: str) -> tuple[tuple[str, float], ...]:
    """Weights of the strategies that supervised traces come from."""
    check_preset(preset)
    return (("nash", 0.35), ("tit-for-tat", 0.25), ("monopoly", 0.2), ("uniform", 0.2))
