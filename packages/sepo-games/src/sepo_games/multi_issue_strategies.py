"""Scripted players of the multi-issue negotiation.

Each is a rule from a view to a demand. With offers in turn a player makes that demand as its offer, unless the other's open offer leaves
it at least as much worth as the demand: then it accepts. Time is counted in own turns.

`fair`, `tit-for-tat`, `concede`, `greedy` and `hardball` are the published opponents: half the pool; two thirds, then what the other left;
the whole pool less the number of rounds played, at most 2; a share of the pool by its taste, rounded down, plus 1; all but one of each.
`proportional`, `conservative`, `adaptive` and `defensive` are the published players of traces. The others see the other's values as
equal, which is their mean: `nash-bargaining` maximises the product of own worth and the number of items left; time-dependent players
and `tit-for-tat-concession` aim at a worth between half of the pool's and all of it and reach it with as few items as they can.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from sepo_games.bargaining import BOULWARE, CONCEDER, answered, conceded
from sepo_games.errors import check_preset
from sepo_games.multi_issue_values import BUNDLES, TOTAL, Triple, bundle_of, code, demands_within, rest, worth
from sepo_games.strategies import Scripted, pure, uniform
from sepo_games.types import Strategy

MULTI_ISSUE_HELD_OUT = ("conceder", "tit-for-tat-concession")


def share(pool: Triple, rule: Callable[[int, int], int], by: Triple) -> Triple:
    """For each item what a rule says of its number and a value, at most the number."""
    a, b, c = (min(n, rule(n, value)) for n, value in zip(pool, by, strict=True))
    return (a, b, c)


def _tit_for_tat(view: Any) -> Triple:
    return rest(view.pool, view.other[-1]) if view.other else share(view.pool, lambda n, _: 2 * n // 3, view.values)


def _adaptive(view: Any) -> Triple:
    if not view.own or not view.other:
        return share(view.pool, lambda n, value: 3 * n * value // 25, view.values)
    last: Triple = view.own[-1]
    if all(a + b <= n for a, b, n in zip(last, view.other[-1], view.pool, strict=True)):
        return last
    given = [item for item in sorted(range(3), key=lambda item: view.values[item]) if last[item] > 0][:1]
    a, b, c = (n - (item in given) for item, n in enumerate(last))
    return (a, b, c)


def _defensive(view: Any) -> Triple:
    if not view.other:
        return share(view.pool, lambda n, value: n * value // TOTAL, view.values)
    a, b, c = (
        n - sum(wanted) // len(wanted) for n, wanted in zip(view.pool, zip(*view.other, strict=True), strict=True)
    )
    return (a, b, c)


@lru_cache(maxsize=4096)
def balanced(pool: Triple, values: Triple) -> Triple:
    """The demand with the highest product of own worth and items left; of equals the one of most worth, then of least code."""
    bundles = map(bundle_of, demands_within(pool))
    return max(bundles, key=lambda d: (worth(values, d) * sum(rest(pool, d)), worth(values, d), -code(d)))


@lru_cache(maxsize=65536)
def cheapest(pool: Triple, values: Triple, aim: float) -> Triple:
    """The demand of fewest items that is worth at least `aim`; of equals the one of most worth, then of least code."""
    enough = [d for d in map(bundle_of, demands_within(pool)) if worth(values, d) >= aim]
    return min(enough, key=lambda d: (sum(d), -worth(values, d), code(d)))


def _concession(view: Any) -> Triple:
    everything = worth(view.values, view.pool)
    if not view.own or len(view.other) < 2:
        return cheapest(view.pool, view.values, everything)
    left = [worth(view.values, rest(view.pool, demand)) for demand in view.other[-2:]]
    aim = answered(worth(view.values, view.own[-1]), -left[0], -left[1], -(-everything // 2), everything)
    return cheapest(view.pool, view.values, aim)


def multi_issue_strategies(rounds: int, alternating: bool) -> Mapping[str, Strategy]:
    """Every scripted player by name.

    Args:
        rounds: Rounds of demands, or offers of each side; time-dependent players look at it.
        alternating: Whether offers are made in turn.
    """
    n = BUNDLES + alternating

    def demanding(demand: Callable[[Any], Triple], markov: bool = False) -> Scripted:
        def rule(view: Any) -> tuple[float, ...]:
            wanted = demand(view)
            if alternating and view.other:
                left = worth(view.values, rest(view.pool, view.other[-1]))
                if left >= worth(view.values, wanted):
                    return pure(BUNDLES, n)
            return pure(code(wanted), n)

        return Scripted(rule, markov and not alternating)

    def timed(beta: float) -> Scripted:
        def demand(view: Any) -> Triple:
            aim = (1 - conceded(len(view.own), rounds, beta) / 2) * worth(view.values, view.pool)
            return cheapest(view.pool, view.values, aim)

        return demanding(demand)

    return {
        "uniform": uniform(n),
        "fair": demanding(lambda view: share(view.pool, lambda n, _: n // 2, view.values), markov=True),
        "tit-for-tat": demanding(_tit_for_tat),
        "concede": demanding(
            lambda view: share(view.pool, lambda n, _: max(0, n - min(len(view.own), 2)), view.values), markov=True
        ),
        "greedy": demanding(lambda view: share(view.pool, lambda n, value: n * value // TOTAL + 1, view.taste)),
        "hardball": demanding(lambda view: share(view.pool, lambda n, _: n - 1, view.values), markov=True),
        # Python rounds halves to even, as the published rule does.
        "proportional": demanding(
            lambda view: share(view.pool, lambda n, value: round(n * value / TOTAL + 0.5), view.values)
        ),
        "conservative": demanding(lambda view: share(view.pool, lambda n, value: 2 * n * value // 25, view.values)),
        "adaptive": demanding(_adaptive),
        "defensive": demanding(_defensive),
        "nash-bargaining": demanding(lambda view: balanced(view.pool, view.values)),
        "boulware": timed(BOULWARE),
        "conceder": timed(CONCEDER),
        "tit-for-tat-concession": demanding(_concession),
    }


def multi_issue_pools(preset: str) -> Mapping[str, tuple[str, ...]]:
    """Opponents by pool: the published ones, or ours, whose demands follow their own values; without outsiders none is collusive."""
    check_preset(preset)
    if preset == "paper":
        return {
            "train": ("fair", "tit-for-tat", "concede"),
            "exploiter": ("greedy", "hardball"),
            "collusive": ("fair",),
        }
    return {
        "train": ("nash-bargaining", "conservative", "adaptive"),
        "exploiter": ("greedy", "boulware"),
        "collusive": (),
    }


def multi_issue_mixture(preset: str) -> tuple[tuple[str, float], ...]:
    """The published mixture of traces; both presets use its weights."""
    check_preset(preset)
    return (("proportional", 0.35), ("conservative", 0.25), ("adaptive", 0.25), ("defensive", 0.15))
