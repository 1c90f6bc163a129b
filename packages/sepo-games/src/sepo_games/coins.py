"""Counter-based randomness: a coin depends on its key and on nothing else.

All rollouts of a group that reach the same place of the same round meet the same coin, whatever happened before and in
whatever order episodes are played.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

CHANCE, OPPONENT = 1_000_001, 1_000_002
"""Kinds of coins. A coin's key has its kind where a request's key has a number of decisions, so these must be numbers that no
player reaches: a learner whose draw is the deal's would know the cards."""


@lru_cache(maxsize=200_000)
def coin(*key: int) -> float:
    """A uniform on [0, 1) that depends on the key alone.

    Args:
        *key: Non-negative integers: seed, group, segment, round, kind and, for chance, its order in the round.
    """
    return float(np.random.Generator(np.random.Philox(np.random.SeedSequence(key))).random())


def draw(probabilities: Sequence[float], uniform: float) -> int:
    """The index whose cumulative probability interval holds the uniform; never one of probability 0."""
    total = 0.0
    last = 0
    for index, probability in enumerate(probabilities):
        if probability > 0:
            total += probability
            last = index
            if uniform < total:
                return index
    return last
