"""Scripted players who split a pie. Action a is the demand a + 1; demands here are written for a pie of ten and scale with it.

The published opponents and the published players of supervised traces share names but not rules: `balanced` and `concede` are the
opponents, `balanced-yielding` and `concede-stepwise` the players of traces. With equal rights, the Nash bargaining solution is half.
"""

from collections.abc import Callable, Mapping
from typing import Any

from sepo_games.bargaining import BOULWARE, CONCEDER, answered, conceded
from sepo_games.errors import check_preset
from sepo_games.strategies import Scripted, pure, uniform
from sepo_games.types import Strategy

SPLIT_HELD_OUT = ("boulware", "conceder", "tit-for-tat-concession")


def split_strategies(pie: int, rounds: int) -> Mapping[str, Strategy]:
    """Every scripted player by name.

    Args:
        pie: What is split.
        rounds: Rounds of the game; time-dependent players look at it.
    """
    n, half = pie - 1, pie // 2

    def scaled(tenths: int) -> int:
        return max(1, tenths * pie // 10)

    def demanding(demand: Callable[[Any], int], markov: bool = True) -> Scripted:
        memory = None if markov else _last_two
        return Scripted(lambda view: pure(demand(view) - 1, n), markov, memory)

    def broke_down(view: Any) -> bool:
        return bool(view.own) and view.own[-1] + view.other[-1] + 2 > pie

    def timed(beta: float) -> Scripted:
        return demanding(lambda view: round(n - conceded(len(view.own), rounds, beta) * (n - half)))

    def concession(view: Any) -> int:
        if len(view.own) < 2:
            return n
        return answered(view.own[-1] + 1, view.other[-2], view.other[-1], half, n)

    def from_three_to_seven(view: Any) -> tuple[float, ...]:
        low, high = scaled(3), scaled(7)
        return tuple((low <= action + 1 <= high) / (high - low + 1) for action in range(n))

    return {
        "uniform": uniform(n),
        "fair": demanding(lambda view: half),
        "balanced": demanding(lambda view: scaled(6)),
        "selfish": demanding(lambda view: scaled(7)),
        "hardball": demanding(lambda view: scaled(8)),
        "concede": demanding(lambda view: half if broke_down(view) else scaled(6)),
        "balanced-yielding": demanding(
            lambda view: scaled(3) if view.other and view.other[-1] + 1 >= scaled(7) else scaled(6)
        ),
        "concede-stepwise": demanding(lambda view: max(scaled(3), view.own[-1]) if broke_down(view) else scaled(6)),
        "tit-for-tat": demanding(lambda view: pie - (view.other[-1] + 1) if view.other else half),
        "random-3-to-7": Scripted(from_three_to_seven),
        "nash-bargaining": demanding(lambda view: half),
        "boulware": timed(BOULWARE),
        "conceder": timed(CONCEDER),
        "tit-for-tat-concession": demanding(concession, markov=False),
    }


def _last_two(view: Any) -> tuple[int, ...]:
    return tuple(view.other[-2:])


def split_pools(preset: str) -> Mapping[str, tuple[str, ...]]:
    """Opponents by pool: the published ones, or ours, where nobody is in two pools and, without outsiders, none is collusive."""
    check_preset(preset)
    if preset == "paper":
        return {
            "train": ("fair", "balanced", "concede", "hardball"),
            "exploiter": ("selfish", "hardball"),
            "collusive": ("fair",),
        }
    return {
        "train": ("fair", "balanced", "concede", "tit-for-tat"),
        "exploiter": ("selfish", "hardball"),
        "collusive": (),
    }


def split_mixture(preset: str) -> tuple[tuple[str, float], ...]:
    """The published mixture of traces; both presets use its weights."""
    check_preset(preset)
    return (
        ("fair", 0.32),
        ("balanced-yielding", 0.27),
        ("concede-stepwise", 0.18),
        ("tit-for-tat", 0.15),
        ("random-3-to-7", 0.08),
    )
