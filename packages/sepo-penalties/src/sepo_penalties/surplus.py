"""How much the opponents of a policy get out of it.

    surplus = max_b u_opponent(b, pi) / rounds - reference          signed, per round
    e       = max(0, surplus)                                       clips the policy, never a rollout

The reference is a payoff the opponent is entitled to: the game's value (then the surplus *is* the policy's
exploitability), what it gets in a named equilibrium, or what it gets at the fair efficient outcome.

    pool advantage = (1 / |E|) sum_{opponents o} max(0, mean payoff of o - mean own payoff)

is what scripted opponents happen to win, and is no bound on what a best response would.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

import numpy as np
import numpy.typing as npt

from sepo_penalties.interval import Interval

Kind = Literal["exact", "lower", "upper", "interval"]


@dataclass(frozen=True)
class Surplus:
    """What the best response wins beyond the reference.

    Attributes:
        signed: Per round, in payoff units; negative when even the best response gets less than the reference.
        clipped: max(0, signed).
        kind: Whether the numbers are exact, lower or upper bounds, or, both ends given, an `Interval`.
    """

    signed: float | Interval
    clipped: float | Interval
    kind: Kind


def opponent_surplus(
    best_response_value: float | Interval, reference: float, rounds: int = 1, kind: Kind | None = None
) -> Surplus:
    """The opponent's surplus against one policy.

    Args:
        best_response_value: max_b u_opponent(b, pi), over all rounds; a number, or an interval that holds it.
        reference: What the opponent is entitled to, per round.
        rounds: Rounds that the value is summed over; 1 if it is per round already.
        kind: What a number is; `exact` by default. An interval is always of kind `interval`.

    Raises:
        ValueError: If a number is not finite, there is no round, an interval is upside down, or the kind does
            not fit the value.
    """
    given = isinstance(best_response_value, Interval)
    ends = (
        (best_response_value.low, best_response_value.high)
        if isinstance(best_response_value, Interval)
        else (best_response_value,) * 2
    )
    if not all(map(isfinite, (*ends, reference))) or ends[0] > ends[1]:
        raise ValueError(
            f"best response value {best_response_value} and reference {reference}: finite numbers, "
            "low at most high, are needed"
        )
    if rounds < 1:
        raise ValueError(f"rounds = {rounds}: at least one is needed")
    allowed: tuple[Kind, ...] = ("interval",) if given else ("exact", "lower", "upper")
    name: Kind = kind or allowed[0]
    if name not in allowed:
        raise ValueError(
            f"kind = {name!r} does not fit {'an interval' if given else 'a number'}: choose from {', '.join(allowed)}"
        )
    low, high = (end / rounds - reference for end in ends)
    if given:
        return Surplus(Interval(low, high), Interval(max(0.0, low), max(0.0, high)), name)
    return Surplus(low, max(0.0, low), name)


def pool_advantage(own: npt.ArrayLike, opponent: npt.ArrayLike, names: Sequence[str] | npt.NDArray[np.str_]) -> float:
    """Mean over opponents of max(0, mean opponent payoff - mean own payoff), in the units of the payoffs.

    Args:
        own: `(B,)` the learner's payoff in each episode.
        opponent: `(B,)` the opponent's payoff in each episode.
        names: `(B,)` which opponent it was; every opponent counts the same, however many episodes it played.

    Raises:
        ValueError: If shapes differ, there is no episode, or a payoff is not finite; the message names the
            episode.
    """
    mine, theirs, who = (
        np.asarray(own, dtype=np.float64),
        np.asarray(opponent, dtype=np.float64),
        np.asarray(names),
    )
    if mine.ndim != 1 or mine.size == 0 or theirs.shape != mine.shape or who.shape != mine.shape:
        raise ValueError(
            f"own, opponent and names have shapes {mine.shape}, {theirs.shape} and {who.shape}: "
            "one entry for each of at least one episode is needed"
        )
    bad = ~(np.isfinite(mine) & np.isfinite(theirs))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"episode {row} against {str(who[row])!r} has payoffs {mine[row]} and {theirs[row]}: "
            "finite numbers are needed"
        )
    gap = theirs - mine
    return float(np.mean([max(0.0, float(gap[who == name].mean())) for name in np.unique(who)]))
