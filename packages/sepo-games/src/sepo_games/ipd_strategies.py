"""Scripted players of the iterated prisoner's dilemma. 0 cooperates, 1 defects; they see the whole history.

A memory-one player is four probabilities of cooperation, after (own, other) = CC, CD, DC, DD, and one for the first round. The
zero-determinant ones among them hold, against every opponent and in the long run, the mean payoffs x (own) and y (other) to the line

    s (x - l) = y - l

of slope s through the baseline l, with any small enough pace f > 0:

    cc = 1 - f (1 - s) (R - l)              dc = f (l - S + s (T - l))
    cd = 1 - f (s (l - S) + T - l)          dd = f (1 - s) (l - P)

(Press and Dyson 2012; in this form Hilbe, Nowak and Sigmund 2013). Baseline P takes 1 / s of every gain (extortion), R bears 1 / s of
every loss (generosity). With 3, 5, 0, 1 the two here are Stewart and Plotkin's (2012) Extort-2, (8/9, 1/2, 1/3, 0), and ZDGTFT-2,
(1, 1/8, 1, 1/4).
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from sepo_games.errors import check_preset
from sepo_games.strategies import Scripted, pure, uniform
from sepo_games.types import Strategy

FORGIVENESS = 0.25
SLOPE = 0.5
"""Of both zero-determinant players: what is taken or borne is twice what the other gains or loses."""


def defecting(chance: Callable[[Any], float], memory: Callable[[Any], Hashable] | None = None) -> Scripted:
    """A player from its probability of defection and, where it looks beyond the last outcome, what it remembers."""

    def rule(view: Any) -> tuple[float, float]:
        p = float(chance(view))
        return (1 - p, p)

    return Scripted(rule, memory is None, memory)


def memory_one(cc: float, cd: float, dc: float, dd: float, first: float) -> Scripted:
    """A player that looks at the last outcome only.

    Args:
        cc: Probability of cooperation after both cooperated.
        cd: After it cooperated and the other defected.
        dc: After it defected and the other cooperated.
        dd: After both defected.
        first: In the first round.

    Raises:
        ValueError: If a number is no probability.
    """
    given = {"cc": cc, "cd": cd, "dc": dc, "dd": dd, "first": first}
    for name, p in given.items():
        if not 0 <= p <= 1:
            raise ValueError(f"memory-one player: {name} = {p} is no probability: numbers from 0 to 1 are needed")
    rows = tuple((float(p), 1 - float(p)) for p in given.values())

    def rule(view: Any) -> tuple[float, float]:
        return rows[2 * view.own[-1] + view.other[-1] if view.own else 4]

    return Scripted(rule)


def zero_determinant(
    temptation: float, reward: float, punishment: float, sucker: float, baseline: float, slope: float, share: float
) -> Scripted:
    """The memory-one player that holds the payoffs to `slope (own - baseline) = other - baseline`; it cooperates first.

    Args:
        temptation: T.
        reward: R.
        punishment: P.
        sucker: S.
        baseline: l, from P to R.
        slope: s, from 0 to below 1.
        share: The pace f, as a share of the largest that leaves all four numbers probabilities; above 0, at most 1.

    Raises:
        ValueError: If an argument is out of its range.
    """
    if not (punishment <= baseline <= reward and 0 <= slope < 1 and 0 < share <= 1):
        raise ValueError(
            f"zero-determinant player: baseline = {baseline}, slope = {slope}, share = {share} are not allowed: a baseline from "
            f"P = {punishment} to R = {reward}, a slope from 0 to below 1, a share above 0 and at most 1"
        )
    steps = (
        (1 - slope) * (reward - baseline),
        slope * (baseline - sucker) + temptation - baseline,
        baseline - sucker + slope * (temptation - baseline),
        (1 - slope) * (baseline - punishment),
    )
    cc, cd, dc, dd = (share * step / max(steps) for step in steps)
    return memory_one(1 - cc, 1 - cd, dc, dd, 1)


def ipd_strategies(temptation: float, reward: float, punishment: float, sucker: float) -> Mapping[str, Strategy]:
    """Every scripted player by name: the published ones, then those that no preset trains on.

    Args:
        temptation: T; the zero-determinant players depend on the table.
        reward: R.
        punishment: P.
        sucker: S.
    """
    table = (temptation, reward, punishment, sucker)
    return {
        "uniform": uniform(2),
        "always-cooperate": Scripted(lambda view: pure(0, 2)),
        "always-defect": Scripted(lambda view: pure(1, 2)),
        "tit-for-tat": defecting(lambda view: view.other[-1] if view.other else 0),
        "generous-tit-for-tat": defecting(lambda view: view.other[-1] * (1 - FORGIVENESS) if view.other else 0),
        "grim-trigger": defecting(lambda view: 1 in view.other, memory=lambda view: 1 in view.other),
        "mixed": uniform(2),
        "alternating-defect": defecting(lambda view: len(view.own) % 2 == 0),
        "win-stay-lose-shift": memory_one(1, 0, 0, 1, 1),
        "tit-for-two-tats": defecting(lambda view: view.other[-2:] == (1, 1), memory=lambda view: view.other[-2:]),
        "suspicious-tit-for-tat": memory_one(1, 0, 1, 0, 0),
        "zd-extort-2": zero_determinant(*table, punishment, SLOPE, 0.5),
        "zd-generous": zero_determinant(*table, reward, SLOPE, 1),
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
