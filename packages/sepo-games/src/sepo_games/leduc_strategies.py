"""Scripted Leduc poker players: what they do with a weak, a middling and a strong hand.

In round 1 J is weak, Q middling, K strong. In round 2 a pair with the public card is strong, an unpaired K middling, all else weak.
A rule is given by the probability of raising where a check is free, and by probabilities of folding, calling and raising when facing
a raise, each for weak, middling and strong hands. Where no further raise is allowed a raise becomes a call. No preset of the
published work has this game: both presets are ours and the same.
"""

from collections.abc import Mapping
from typing import Any

from sepo_games.errors import check_preset
from sepo_games.strategies import Scripted, uniform
from sepo_games.types import Strategy

Three = tuple[float, float, float]
FOLD, CALL, RAISE = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
LEDUC_HELD_OUT = ("bluffer", "slow-player")


def strength(view: Any) -> int:
    """0 weak, 1 middling, 2 strong."""
    if view.public is None:
        return int(view.rank)
    return 2 if view.paired else int(view.rank == 2)


def playing(opens: Three, answers: tuple[Three, Three, Three]) -> Scripted:
    """A player from its probabilities.

    Args:
        opens: Probability of raising where checking is free, by strength.
        answers: Probabilities of folding, calling and raising when facing a raise, by strength.
    """

    def rule(view: Any) -> Three:
        hand = strength(view)
        fold, call, rise = answers[hand] if view.facing_raise else (0.0, 1 - opens[hand], opens[hand])
        return (fold, call, rise) if 2 in view.legal else (fold, call + rise, 0.0)

    return Scripted(rule)


def leduc_strategies() -> Mapping[str, Strategy]:
    """Every scripted player by name."""
    return {
        "uniform": uniform(3),
        "value": playing((0, 0.5, 1), (FOLD, CALL, RAISE)),
        "tight": playing((0, 0, 1), (FOLD, FOLD, RAISE)),
        "loose": playing((0, 1, 1), (CALL, CALL, RAISE)),
        "maniac": playing((1, 1, 1), (RAISE, RAISE, RAISE)),
        "calling-station": playing((0, 0, 0), (CALL, CALL, CALL)),
        "always-fold": playing((0, 0, 0), (FOLD, FOLD, FOLD)),
        "bluffer": playing((1, 0, 1), ((0.5, 0, 0.5), CALL, RAISE)),
        "slow-player": playing((0, 0, 0), (FOLD, CALL, RAISE)),
    }


def leduc_pools(preset: str) -> Mapping[str, tuple[str, ...]]:
    """Opponents by pool; no collusive pool, since nobody stands outside the game."""
    check_preset(preset)
    return {
        "train": ("value", "tight", "loose"),
        "exploiter": ("maniac", "calling-station"),
        "collusive": (),
    }


def leduc_mixture(preset: str) -> tuple[tuple[str, float], ...]:
    """Weights of the strategies that supervised traces come from."""
    check_preset(preset)
    return (("value", 0.45), ("tight", 0.2), ("loose", 0.25), ("uniform", 0.1))
