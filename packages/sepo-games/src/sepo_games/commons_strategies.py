"""Scripted players of the commons. Actions 0, 1, 2 ask for 1, 2, 3 units; they see stock and history."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from sepo_games.errors import check_preset
from sepo_games.strategies import Scripted, pure, uniform
from sepo_games.types import Strategy

LOW, MEDIUM, HIGH = 0, 1, 2
SCARCE = 6
"""Published: at this stock or below the scarcity-aware player asks for little."""
COMMONS_HELD_OUT = ("by-stock", "last-minute")


def asking(action: Callable[[Any], int], memory: Callable[[Any], Hashable] | None = None) -> Scripted:
    """A player from its action and, where it looks beyond the last round, what it remembers."""
    return Scripted(lambda view: pure(action(view), 3), memory is None, memory)


def _by_stock(view: Any) -> int:
    return HIGH if view.stocks[-1] > 8 else MEDIUM if view.stocks[-1] > 4 else LOW


def _reciprocal(view: Any) -> int:
    if not view.other:
        return MEDIUM
    return HIGH if view.other[-1] == HIGH else LOW


def commons_strategies(rounds: int) -> Mapping[str, Strategy]:
    """Every scripted player by name: the published ones, then those that no preset trains on.

    `grim` asks for LOW until the other once asks for HIGH, then for HIGH. `last-minute` asks for LOW but for HIGH in the last two rounds.

    Args:
        rounds: Rounds of the game.
    """
    return {
        "uniform": uniform(3),
        "low": asking(lambda view: LOW),
        "medium": asking(lambda view: MEDIUM),
        "high": asking(lambda view: HIGH),
        "scarcity-aware": asking(lambda view: LOW if view.stocks[-1] <= SCARCE else MEDIUM),
        "reciprocal": asking(_reciprocal),
        "tit-for-tat": asking(lambda view: view.other[-1] if view.other else LOW),
        "grim": asking(lambda view: HIGH if HIGH in view.other else LOW, memory=lambda view: HIGH in view.other),
        "by-stock": asking(_by_stock),
        "last-minute": asking(lambda view: HIGH if len(view.own) >= rounds - 2 else LOW),
    }


def commons_pools(preset: str) -> Mapping[str, tuple[str, ...]]:
    """Opponents by pool: the published ones, in which `high` stands three times, or ours."""
    check_preset(preset)
    if preset == "paper":
        return {"train": ("high", "medium", "scarcity-aware"), "exploiter": ("high",), "collusive": ("high",)}
    return {"train": ("medium", "scarcity-aware", "reciprocal"), "exploiter": ("high",), "collusive": ("low",)}


def commons_mixture(preset: str) -> tuple[tuple[str, float], ...]:
    """The published mixture of traces; both presets use its weights."""
    check_preset(preset)
    return (("tit-for-tat", 0.40), ("grim", 0.22), ("scarcity-aware", 0.18), ("low", 0.12), ("uniform", 0.08))
