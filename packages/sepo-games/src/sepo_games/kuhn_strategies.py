"""Scripted Kuhn poker players: betting probabilities by seat, situation and card.

A rule is given by the probability of betting with J, Q, K when not facing a bet, and of calling when facing one, for each
seat. The equilibria of the game are the family alpha in [0, 1/3]: the first player bets J with alpha, never Q, K with
3 alpha, and calls with Q at alpha + 1/3; the second player bets J after a pass with 1/3 and calls a bet with Q at 1/3.

A pure player is a number from 0 to 63, `pure-0` to `pure-63`: bits 0, 1, 2 say whether it bets J, Q, K when not facing a bet, bits 3, 4,
5 whether it calls with J, Q, K. It is a pure strategy of each seat, and each seat has just these. `pure-0` always passes and folds,
`pure-63` always bets and calls.
"""

from collections.abc import Mapping
from typing import Any

from sepo_games.errors import check_preset
from sepo_games.strategies import Scripted, uniform
from sepo_games.types import Strategy

Three = tuple[float, float, float]
PURE = 64
"""Number of pure strategies of a seat."""
KUHN_HELD_OUT = ("tight", "loose", "maniac")


def betting(bet: tuple[Three, Three], call: tuple[Three, Three]) -> Scripted:
    """A player from its probabilities.

    Args:
        bet: For each seat, probability of betting with J, Q, K.
        call: For each seat, probability of calling with J, Q, K.
    """

    def rule(view: Any) -> tuple[float, float]:
        yes = (call if view.facing_bet else bet)[view.seat][view.card]
        return (1 - yes, yes)

    return Scripted(rule)


def both(bet: Three, call: Three) -> Scripted:
    """A player that does not look at its seat."""
    return betting((bet, bet), (call, call))


def pure_player(index: int) -> Scripted:
    """The pure player of a number; the module says which.

    Raises:
        ValueError: If the number is not 0 to 63.
    """
    if index not in range(PURE):
        raise ValueError(f"pure strategy {index} of Kuhn poker does not exist: a seat has {PURE}, 0 to {PURE - 1}")
    bets = [float(index >> bit & 1) for bit in range(6)]
    return both((bets[0], bets[1], bets[2]), (bets[3], bets[4], bets[5]))


def equilibrium(alpha: float) -> Scripted:
    """A member of the equilibrium family.

    Raises:
        ValueError: If alpha is outside [0, 1/3].
    """
    if not 0 <= alpha <= 1 / 3:
        raise ValueError(f"alpha = {alpha} is not allowed: Kuhn poker's equilibria have alpha in [0, 1/3]")
    return betting(((alpha, 0, 3 * alpha), (1 / 3, 0, 1)), ((0, alpha + 1 / 3, 1), (0, 1 / 3, 1)))


def kuhn_strategies(preset: str) -> Mapping[str, Strategy]:
    """Every scripted player by name.

    `nash` calls with Q at 1/3 in both seats as published, or rightly in preset `sepo`, where it is the equilibrium at alpha = 1/3.
    Three players stand in the mixture of traces only, published by name and meaning: `tight-value` bets K alone and calls with
    Q half the time; `pot-control` bluffs J at 1/5 and calls with K alone; `always-pass-queen` never bets Q and else flips coins.
    Held out of all training are `tight`, which bets K half the time and calls with Q a quarter of it; `loose`, which bets J and Q half the
    time and calls with J a quarter of it; and `maniac`, which bets everything and folds J to a bet half the time.
    """
    check_preset(preset)
    published_nash = both((1 / 3, 0, 1), (0, 1 / 3, 1))
    return {
        "uniform": uniform(2),
        "equilibrium": equilibrium(0.2),
        "nash": published_nash if preset == "paper" else equilibrium(1 / 3),
        "tight-passive": both((0, 0, 1), (0, 0, 1)),
        "loose-aggressive": both((0, 1, 1), (0, 1, 1)),
        "always-pass": both((0, 0, 0), (0, 0, 0)),
        "always-bet": both((1, 1, 1), (1, 1, 1)),
        "max-exploiter": both((0, 1, 1), (0, 0, 1)),
        "tight-value": both((0, 0, 1), (0, 0.5, 1)),
        "pot-control": both((0.2, 0, 1), (0, 0, 1)),
        "always-pass-queen": both((0.5, 0, 0.5), (0.5, 0.5, 1)),
        "tight": both((0, 0, 0.5), (0, 0.25, 1)),
        "loose": both((0.5, 0.5, 1), (0.25, 1, 1)),
        "maniac": both((1, 1, 1), (0.5, 1, 1)),
        **{f"pure-{index}": pure_player(index) for index in range(PURE)},
    }


def kuhn_pools(preset: str) -> Mapping[str, tuple[str, ...]]:
    """Opponents by pool; no collusive pool, since nobody stands outside the game."""
    check_preset(preset)
    return {
        "train": ("nash", "tight-passive", "loose-aggressive"),
        "exploiter": ("nash", "always-bet"),
        "collusive": (),
    }


def kuhn_mixture(preset: str) -> tuple[tuple[str, float], ...]:
    """The published mixture of traces; both presets use its weights."""
    check_preset(preset)
    return (
        ("nash", 0.45),
        ("tight-value", 0.25),
        ("pot-control", 0.20),
        ("uniform", 0.08),
        ("always-pass-queen", 0.02),
    )
