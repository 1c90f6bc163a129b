"""Scripted players of repeated matrix games, made from the payoff table.

Ties go to the action of the lowest number. Who has seen nothing yet replies to a uniformly random partner. `pure-k` always plays
action k, or its last action in a seat that has fewer. `copy` plays what the other last played and begins with action 0; it exists in
games with as many rows as columns. `joint-optimum` plays its part of the outcome with the highest sum of both players' payoffs.
No preset of the published work has this game: both presets are ours and the same.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sepo_games.errors import check_preset
from sepo_games.strategies import Scripted, pure, uniform
from sepo_games.types import Strategy

Array = npt.NDArray[np.float64]


def own_tables(payoffs: Any) -> tuple[Array, Array]:
    """For each seat its payoffs by (own action, other's action)."""
    table = np.asarray(payoffs, dtype=np.float64)
    return table[0], table[1].T


def security(own: Array) -> tuple[int, float]:
    """The pure action that promises its player most, and what it promises: max_a min_b u(a, b)."""
    promised = own.min(axis=1)
    return int(promised.argmax()), float(promised.max())


def matrix_strategies(payoffs: Any) -> Mapping[str, Strategy]:
    """Every scripted player by name.

    Args:
        payoffs: `(2, n, m)` payoffs of both seats.
    """
    table = np.asarray(payoffs, dtype=np.float64)
    own, shape, n = own_tables(payoffs), table.shape[1:], max(table.shape[1:])
    safe = [security(mine)[0] for mine in own]
    best_joint = np.unravel_index(table.sum(axis=0).argmax(), shape)

    def counts(seat: int, actions: Sequence[int]) -> tuple[int, ...]:
        """How often the other side's actions are among these."""
        return tuple(actions.count(action) for action in range(shape[1 - seat]))

    def reply_to(seat: int, seen: tuple[int, ...]) -> tuple[float, ...]:
        return pure(int((own[seat] @ np.array(seen if any(seen) else [1] * len(seen))).argmax()), n)

    return {
        "uniform": uniform(n),
        "maxmin": Scripted(lambda view: pure(safe[view.seat], n)),
        "joint-optimum": Scripted(lambda view: pure(int(best_joint[view.seat]), n)),
        "best-reply-to-last": Scripted(lambda view: reply_to(view.seat, counts(view.seat, view.other[-1:]))),
        "fictitious-play": Scripted(
            lambda view: reply_to(view.seat, counts(view.seat, view.other)),
            markov=False,
            memory=lambda view: counts(view.seat, view.other),
        ),
        **(
            {"copy": Scripted(lambda view: pure(view.other[-1] if view.other else 0, n))}
            if shape[0] == shape[1]
            else {}
        ),
        **{f"pure-{k}": _always(k, n) for k in range(n)},
    }


def _always(action: int, n: int) -> Scripted:
    return Scripted(lambda view: pure(min(action, view.legal[-1]), n))


def matrix_held_out(shape: tuple[int, int]) -> tuple[str, ...]:
    """Fictitious play and the pure actions."""
    return ("fictitious-play", *(f"pure-{k}" for k in range(max(shape))))


def matrix_pools(preset: str, square: bool, outsiders: bool) -> Mapping[str, tuple[str, ...]]:
    """Opponents by pool; a collusive one where somebody stands outside the game."""
    check_preset(preset)
    return {
        "train": ("maxmin", "uniform", *(("copy",) if square else ())),
        "exploiter": ("best-reply-to-last",),
        "collusive": ("joint-optimum",) if outsiders else (),
    }


def matrix_mixture(preset: str) -> tuple[tuple[str, float], ...]:
    """Weights of the strategies that supervised traces come from."""
    check_preset(preset)
    return (("best-reply-to-last", 0.35), ("maxmin", 0.25), ("joint-optimum", 0.2), ("uniform", 0.2))
