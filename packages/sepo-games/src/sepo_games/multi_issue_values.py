"""Items and what they are worth: what chance draws in a multi-issue negotiation, and what a fair division pays.

There are 1 to 4 books, hats and balls each, all 64 pools equally likely. A side's values come from a multinomial draw of ten points on
three items; then, item by item, a zero becomes 1 and the highest value (the first of equals) pays for it. 36 triples remain, each
with the sum 10.

A bundle's code writes its three counts as digits of base 5, so that books, hats, balls = 2, 1, 0 is 2 * 25 + 1 * 5 + 0 = 55.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import product
from math import factorial, prod

import numpy as np

Triple = tuple[int, int, int]
MOST, TOTAL, BUNDLES = 4, 10, 125


def code(bundle: Sequence[int]) -> int:
    """The number of a bundle."""
    return 25 * bundle[0] + 5 * bundle[1] + bundle[2]


def bundle_of(number: int) -> Triple:
    """The bundle of a number from 0 to 124."""
    return (number // 25, number // 5 % 5, number % 5)


def worth(values: Triple, bundle: Triple) -> int:
    """What a bundle is worth."""
    return values[0] * bundle[0] + values[1] * bundle[1] + values[2] * bundle[2]


def rest(pool: Triple, bundle: Triple) -> Triple:
    """What is left of a pool."""
    return (pool[0] - bundle[0], pool[1] - bundle[1], pool[2] - bundle[2])


def _raised(drawn: Sequence[int]) -> Triple:
    values = list(drawn)
    for item in range(3):
        if values[item] == 0:
            values[item] = 1
            values[values.index(max(values))] -= 1
    return (values[0], values[1], values[2])


def _all_values() -> tuple[tuple[Triple, float], ...]:
    ways: Counter[Triple] = Counter()
    for a, b in product(range(TOTAL + 1), repeat=2):
        if a + b <= TOTAL:
            drawn = (a, b, TOTAL - a - b)
            ways[_raised(drawn)] += factorial(TOTAL) // prod(map(factorial, drawn))
    return tuple((values, ways[values] / 3**TOTAL) for values in sorted(ways))


POOLS: tuple[Triple, ...] = tuple((a, b, c) for a, b, c in product(range(1, MOST + 1), repeat=3))
VALUES = _all_values()
"""Every triple of values with its probability."""


@cache
def demands_within(pool: Triple) -> tuple[int, ...]:
    """Codes of all bundles of a pool, in ascending order."""
    return tuple(code(bundle) for bundle in product(*(range(n + 1) for n in pool)))


@cache
def nash_payoff() -> float:
    """What either side gets on average from the Nash bargaining solution with both sides' values known.

    For every pool and pair of values, the division of all items with the highest product of both sides' worth; where several have it,
    their mean. The average over all 64 * 36 * 36 cases, by their probabilities, is the same for both sides.
    """
    triples = np.array([values for values, _ in VALUES])
    chance = np.array([p for _, p in VALUES])
    total = 0.0
    for pool in POOLS:
        bundles = np.array([bundle_of(number) for number in demands_within(pool)])
        mine = triples @ bundles.T
        theirs = triples @ (np.array(pool) - bundles).T
        products = mine[:, None, :] * theirs[None, :, :]
        best = products == products.max(axis=-1, keepdims=True)
        paid = (best * mine[:, None, :]).sum(axis=-1) / best.sum(axis=-1)
        total += float(chance @ paid @ chance) / len(POOLS)
    return total
