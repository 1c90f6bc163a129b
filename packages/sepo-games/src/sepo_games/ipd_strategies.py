"""Scripted players of the iterated prisoner's dilemma. 0 cooperates, 1 defects; they see the whole history."""

from collections.abc import Callable, Mapping
from typing import Any

from sepo_games.errors import check_preset
from sepo_games.strategies import Scripted, pure, uniform
from sepo_games.types import Strategy

FORGIVENESS = 0.25


def defecting(chance: Callable[[Any], float], markov: bool = True) -> Scripted:
    """A player from its probability of defection."""

    def rule(view: Any) -> tuple[float, float]:
        p = float(chance(view))
        return (1 - p, p)

    return Scripted(rule, markov)


def ipd_strategies() -> Mapping[str, Strategy]:
    """Every scripted player by name, as published."""
    return {
        "uniform": uniform(2),
        "always-cooperate": Scripted(lambda view: pure(0, 2)),
        "always-defect": Scripted(lambda view: pure(1, 2)),
        "tit-for-tat": defecting(lambda view: view.other[-1] if view.other else 0),
        "generous-tit-for-tat": defecting(lambda view: view.other[-1] * (1 - FORGIVENESS) if view.other else 0),
        "grim-trigger": defecting(lambda view: 1 in view.other, markov=False),
        "mixed": uniform(2),
        "alternating-defect": defecting(lambda view: len(view.own) % 2 == 0),
    }


def ipd_pools(preset: str) -> Mapping[str, tuple[str, ...]]:
    """Opponents by pool."""
    check_preset(preset)
    return {
        "train": ("tit-for-tat", "generous-tit-for-tat", "mixed", "grim-trigger"),
        "exploiter": ("always-defect", "alternating-defect"),
        "collusive": ("always-cooperate",),
    }


def ipd_mixture(preset: str) -> tuple[tuple[str, float], ...]:
    """Trace strategies: the published mixture, or ours, whose over-cooperators leave something to correct."""
    check_preset(preset)
    if preset == "paper":
        return (
            ("tit-for-tat", 0.33),
            ("always-defect", 0.27),
            ("grim-trigger", 0.22),
            ("uniform", 0.08),
            ("generous-tit-for-tat", 0.05),
            ("always-cooperate", 0.05),
        )
    return (
        ("always-cooperate", 0.35),
        ("tit-for-tat", 0.25),
        ("generous-tit-for-tat", 0.20),
        ("grim-trigger", 0.15),
        ("uniform", 0.05),
    )
