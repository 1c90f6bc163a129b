"""Scripted bidders. Actions 0, 1, 2 are the bids 1, 2, 3; values 0, 1 are 2 and 4."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from sepo_games.errors import check_preset
from sepo_games.strategies import Scripted, pure, uniform
from sepo_games.types import Strategy

AUCTION_HELD_OUT = ("grim-cartel", "bid-rotation")


def bidding(bid: Callable[[Any], int], memory: Callable[[Any], Hashable] | None = None) -> Scripted:
    """A bidder from its bid and, where it looks beyond the last round, what it remembers."""
    return Scripted(lambda view: pure(bid(view), 3), memory is None, memory)


def _adaptive(view: Any) -> int:
    return min(2, view.other[-1] + 1) if view.other else 1


def _answering(view: Any) -> int:
    """LOW at value 2; at value 4 HIGH if the rival's bids average 2.5 or more, else MEDIUM."""
    if view.value == 0:
        return 0
    return 2 if view.other and sum(view.other) / len(view.other) >= 1.5 else 1


def _betrayed(view: Any) -> bool:
    return any(view.other)


def _rotating(view: Any) -> int:
    """In its turn, every second round, it bids to win; else it lets the other win cheaply."""
    return int(view.value) if len(view.own) % 2 == view.seat else 0


def auction_strategies() -> Mapping[str, Strategy]:
    """Every scripted bidder by name, as published, and the equilibrium bidder.

    `conservative`, `shaded` and `collusive-low` are one rule under the three published names; `truthful` does not look at its value.
    `aggressive-value` bids HIGH at value 4 and LOW at value 2. `answering` follows the mean of the rival's bids.
    `grim-cartel` bids LOW until the rival once bids more, then as in equilibrium; `bid-rotation` leaves every second round to the rival.
    No preset trains on the last two.
    """
    return {
        "uniform": uniform(3),
        "truthful": Scripted(lambda view: (0.5, 0.5, 0.0)),
        "aggressive": bidding(lambda view: 2),
        "conservative": bidding(lambda view: 0),
        "shaded": bidding(lambda view: 0),
        "collusive-low": bidding(lambda view: 0),
        "adaptive": bidding(_adaptive),
        "bayes-nash": bidding(lambda view: view.value),
        "aggressive-value": bidding(lambda view: 2 * view.value),
        "answering": bidding(_answering, memory=lambda view: sum(view.other)),
        "grim-cartel": bidding(lambda view: int(view.value) if _betrayed(view) else 0, memory=_betrayed),
        "bid-rotation": bidding(_rotating),
    }


def auction_pools(preset: str) -> Mapping[str, tuple[str, ...]]:
    """Opponents by pool."""
    check_preset(preset)
    return {
        "train": ("truthful", "conservative", "shaded", "adaptive"),
        "exploiter": ("aggressive",),
        "collusive": ("collusive-low",),
    }


def auction_mixture(preset: str) -> tuple[tuple[str, float], ...]:
    """The published mixture of traces; both presets use its weights."""
    check_preset(preset)
    return (("bayes-nash", 0.44), ("aggressive-value", 0.28), ("answering", 0.20), ("uniform", 0.08))
