"""Counter-based randomness: a coin depends on its key and on nothing else.

All rollouts of a group that reach the same place of the same round meet the same coin, whatever happened before and in
whatever order episodes are played. A coin is the first draw of the Philox generator that numpy seeds with the key. `coin` asks
numpy for one; `coins` computes many keys of one length at once and gives the same numbers, bit for bit.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

CHANCE, OPPONENT = 1_000_001, 1_000_002
"""Kinds of coins. A coin's key has its kind where a request's key has a number of decisions, so these must be numbers that no
player reaches: a learner whose draw is the deal's would know the cards."""

Words = npt.NDArray[np.uint32]
Longs = npt.NDArray[np.uint64]
WORD = 1 << 32
FEW = 16
"""Up to so many coins are as quick one by one."""
_FACTORS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B))
BLOCK = 1 << 14
"""Coins computed at a time: their numbers stay in the processor's cache."""


@lru_cache(maxsize=200_000)
def coin(*key: int) -> float:
    """A uniform on [0, 1) that depends on the key alone.

    Args:
        *key: Non-negative integers: seed, group, segment, round, kind and, for chance, its order in the round.
    """
    first = int(np.random.Philox(np.random.SeedSequence(key)).random_raw())
    return (first >> 11) * 2.0**-53


def coins(keys: Sequence[Sequence[int]] | npt.NDArray[np.int64]) -> list[float]:
    """`coin(*key)` for every key.

    Args:
        keys: `n` keys, non-negative integers.
    """
    if len(keys) <= FEW or len({len(key) for key in keys}) > 1:
        return [coin(*(int(word) for word in key)) for key in keys]
    table = np.asarray(keys)
    if table.dtype.kind not in "iu" or table.shape[1] < 1 or table.min() < 0 or table.max() >= WORD:
        return [coin(*(int(word) for word in key)) for key in keys]
    result: list[float] = coin_array(table).tolist()
    return result


def coin_array(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """`coin(*key)` for every row.

    Args:
        keys: `(n, w)` integers from 0 to 2^32 - 1.
    """
    uniforms = np.empty(len(keys))
    for start in range(0, len(keys), BLOCK):
        block = slice(start, start + BLOCK)
        uniforms[block] = (_philox(_seeded(keys[block].astype(np.uint32))) >> np.uint64(11)) * 2.0**-53
    return uniforms


def draw(probabilities: Sequence[float], uniform: float) -> int:
    """The index whose cumulative probability interval holds the uniform; never one of probability 0.

    Raises:
        ValueError: If the uniform lies beyond the sum of the probabilities although it is below 1 by more than rounding.
    """
    total = 0.0
    last = -1
    for index, probability in enumerate(probabilities):
        if probability > 0:
            total += probability
            last = index
            if uniform < total:
                return index
    if last < 0 or total < 1 - 1e-6:
        raise ValueError(
            f"the probabilities {tuple(probabilities)} add up to {total}: give every action a number from 0 to 1, together 1"
        )
    return last


def _seeded(entropy: Words) -> Longs:
    """The two 64-bit words that numpy's SeedSequence makes of `(n, w)` entropy words, shape `(n, 2)`."""
    constant = 0x43B0D7E5

    def hashed(value: Words) -> Words:
        nonlocal constant
        value = value ^ np.uint32(constant)
        constant = constant * 0x931E8875 % WORD
        value = value * np.uint32(constant)
        return _folded(value)

    def mixed(x: Words, y: Words) -> Words:
        return _folded(x * np.uint32(0xCA01F9DD) - y * np.uint32(0x4973F715))

    columns = [np.ascontiguousarray(column) for column in entropy.T]
    zero = np.zeros(len(entropy), dtype=np.uint32)
    pool = [hashed(columns[i] if i < len(columns) else zero) for i in range(4)]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = mixed(pool[target], hashed(pool[source]))
    for column in columns[4:]:
        for target in range(4):
            pool[target] = mixed(pool[target], hashed(column))
    constant, words = 0x8B51F9DD, []
    for word in pool:
        value = word ^ np.uint32(constant)
        constant = constant * 0x58F38DED % WORD
        value = value * np.uint32(constant)
        words.append(_folded(value).astype(np.uint64))
    shift = np.uint64(32)
    return np.stack([words[0] | words[1] << shift, words[2] | words[3] << shift], axis=1)


def _folded(value: Words) -> Words:
    folded: Words = value ^ (value >> np.uint32(16))
    return folded


def _philox(keys: Longs) -> Longs:
    """First output word of Philox 4x64 with 10 rounds at counter 1, for `(n, 2)` keys; shape `(n,)`."""
    k0, k1 = keys[:, 0].copy(), keys[:, 1].copy()
    # The first round turns the counter 1, 0, 0, 0 into 0 ^ k0, 0, 0 ^ k1, the first factor.
    c0, c1, c2, c3 = k0, np.zeros_like(k0), k1, np.full_like(k0, _FACTORS[0])
    for turn in range(1, 10):
        k0, k1 = k0 + _WEYL[0], k1 + _WEYL[1]
        high1, low1 = _product(_FACTORS[1], c2)
        if turn == 9:  # only the first word is asked for
            return high1 ^ c1 ^ k0
        high0, low0 = _product(_FACTORS[0], c0)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
    raise AssertionError


def _product(factor: int, values: Longs) -> tuple[Longs, Longs]:
    """Upper and lower 64 bits of the product of a 64-bit number with each value."""
    mask, shift = np.uint64(WORD - 1), np.uint64(32)
    a1, a0 = np.uint64(factor >> 32), np.uint64(factor % WORD)
    b1, b0 = values >> shift, values & mask
    low = a0 * b0
    middle = a1 * b0 + (low >> shift)
    other = a0 * b1 + (middle & mask)
    return a1 * b1 + (middle >> shift) + (other >> shift), np.uint64(factor) * values
