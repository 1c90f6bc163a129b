"""Repeated two-action games between policies that remember the last round: payoffs and best responses.

A policy is five probabilities of action 0 (cooperation): in the first round, and after the outcomes 00, 01, 10,
11, own action first. It may differ from round to round. The outcomes of two such policies are a Markov chain
on four states with transition M and first distribution d; with u the stage payoffs, payoffs per round are

    finite horizon T     (1/T) sum_t d M_1 ... M_{t-1} u,
    discounted           (1 - gamma) d (I - gamma M)^-1 u,
    limit of means       d M* u,  M* = lim (1/T) sum_t M^t.

M* comes from the Markov chain tree theorem (Leighton and Rivest 1986): entry (i, j) is the share, by weight, of
the maximal in-forests in which i leads to the root j. It is exact for every chain, with several closed classes
or periodic ones too, and needs no iteration. All functions take any batch of policies.

A best responder that remembers everything does no better than one that knows the round and the last outcome,
because nothing else moves the policy's future play.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite

import numpy as np
import numpy.typing as npt

from sepo_penalties.best_response import BestResponse
from sepo_penalties.sequence_form import Array, SequenceForm

SWAP = [0, 2, 1, 3]
"""Outcomes as the other player counts them."""

GAIN = 1e-12
"""Least improvement, in units of the largest payoff, for which policy iteration changes an action."""


@dataclass(frozen=True)
class MemoryOne:
    """Memory-one policies.

    Attributes:
        table: `(..., R, 5)` probability of action 0 first, and after 00, 01, 10, 11; R = 1 if all rounds are
            alike.
    """

    table: Array

    @classmethod
    def stationary(cls, table: npt.ArrayLike) -> "MemoryOne":
        """The same `(..., 5)` probabilities in every round.

        Raises:
            ValueError: If the shape is another one or an entry is no probability.
        """
        return cls(_checked(table, 1)[..., None, :])

    @classmethod
    def by_round(cls, table: npt.ArrayLike) -> "MemoryOne":
        """Probabilities `(..., T, 5)` for each of T rounds; of round 1 the first, of later rounds the other four.

        Raises:
            ValueError: If the shape is another one or an entry is no probability.
        """
        return cls(_checked(table, 2))

    def rounds(self, number: int) -> list[Array]:
        """The `(..., 5)` table of each round.

        Raises:
            ValueError: If the policy is round-dependent with another number of rounds.
        """
        known = self.table.shape[-2]
        if known not in {1, number}:
            raise ValueError(f"the policy has tables for {known} rounds, but {number} are played")
        return [self.table[..., t if known > 1 else 0, :] for t in range(number)]


def memory_one_value(
    payoffs: npt.ArrayLike, policies: Sequence[MemoryOne], rounds: int | None = None, discount: float | None = None
) -> Array:
    """Exact expected payoffs of two memory-one policies, per round.

    Args:
        payoffs: `(2, 2, 2)` stage payoff of each player for each joint action, player 0's first.
        policies: One for each player; leading axes broadcast.
        rounds: Number of rounds of a finite horizon; or
        discount: Weight of a round relative to the one before, in [0, 1): the probability that play goes on. With
            neither, the limit of means.

    Returns:
        `(..., 2)` in payoff units per round.

    Raises:
        ValueError: If payoffs have a wrong shape, there are not two policies, both horizons are given or one is
            out of range, or a round-dependent policy meets another horizon than its own.
    """
    stage = _stage(payoffs)
    if len(policies) != 2:
        raise ValueError(f"{len(policies)} policies were given: one for each of the 2 players is needed")
    _check_horizon(rounds, discount)
    if rounds is not None:
        steps = list(zip(*(policy.rounds(rounds) for policy in policies), strict=True))
        state = _joint(steps[0][0][..., :1], steps[0][1][..., :1])
        total = state @ stage
        for first, second in steps[1:]:
            state = state @ _chain(first, second)
            total = total + state @ stage
        return np.asarray(total[..., 0, :] / rounds)
    first, second = (_endless(policy) for policy in policies)
    start = _joint(first[..., :1], second[..., :1])
    return np.asarray((start @ _averaged(_chain(first, second), discount) @ stage)[..., 0, :])


def memory_one_best_response(
    payoffs: npt.ArrayLike,
    policy: MemoryOne,
    player: int,
    rounds: int | None = None,
    discount: float | None = None,
) -> BestResponse:
    """The exact best response of `player` to the other player's memory-one policy.

    Args:
        payoffs: `(2, 2, 2)` stage payoff of each player for each joint action, player 0's first.
        policy: The *other* player's.
        player: The responder.
        rounds: Number of rounds of a finite horizon; or
        discount: Weight of a round relative to the one before, in [0, 1). With neither, the limit of means.

    Returns:
        Value `(...,)` per round; policy and action values `(..., R, 5, 2)`: round (one if the horizon is not
        finite), then first round, 00, 01, 10, 11 as the responder counts them, then its action. Action values are
        sums from that round on: over the remaining rounds, discounted; in the limit of means, payoffs per round.
        In rounds after the first the row of the first round repeats what it says there.

    Raises:
        ValueError: As `memory_one_value`, or if there is no such player.
    """
    if player not in {0, 1}:
        raise ValueError(f"player {player} does not exist: choose 0 or 1")
    # (own action, other's action)
    stage = _stage(payoffs)[:, player].reshape(2, 2)
    stage = stage if player == 0 else stage.T
    _check_horizon(rounds, discount)
    if rounds is not None:
        tables = _seen(np.stack(policy.rounds(rounds)) if policy.table.shape[-2] > 1 else policy.table[None, ..., 0, :])
        plays = np.ascontiguousarray(np.moveaxis(tables, -1, 1))
        return _finite_response(stage, np.broadcast_to(plays, (rounds, *plays.shape[1:])))
    seen = _seen(_endless(policy))
    return _mean_response(stage, seen) if discount is None else _discounted_response(stage, seen, discount)


def _finite_response(stage: Array, plays: Array) -> BestResponse:
    """Dynamic programming from the last round; `plays (T, 5, ...)`, the batch innermost for speed."""
    q = np.empty((len(plays), 5, 2, *plays.shape[2:]))
    ahead = np.zeros((4, *plays.shape[2:]))
    for t in reversed(range(len(plays))):
        for own in (0, 1):
            met, missed = (stage[own, other] + ahead[2 * own + other] for other in (0, 1))
            np.multiply(plays[t], met - missed, out=q[t, :, own])
            q[t, :, own] += missed
        ahead = q[t, 1:].max(axis=1)
    policy = np.empty_like(q)
    np.greater_equal(q[:, :, 0], q[:, :, 1], out=policy[:, :, 0])
    np.subtract(1.0, policy[:, :, 0], out=policy[:, :, 1])
    value = q[0, 0].max(axis=0) / len(plays)
    return BestResponse(value, np.moveaxis(policy, (0, 1, 2), (-3, -2, -1)), np.moveaxis(q, (0, 1, 2), (-3, -2, -1)))


def _discounted_response(stage: Array, play: Array, discount: float) -> BestResponse:
    """Policy iteration; it ends because every step improves one of finitely many policies."""
    slack = GAIN * max(1.0, float(np.abs(stage).max())) / (1 - discount)
    choice = _action_values(play, stage, np.zeros(4)).argmax(axis=-1)
    while True:
        own = 1.0 - choice
        chain = _joint(own[..., 1:], play[..., 1:])
        earned = chain @ stage.ravel()
        ahead = np.asarray(np.linalg.solve(np.eye(4) - discount * chain, earned[..., None]), dtype=np.float64)[..., 0]
        q = _action_values(play, stage, discount * ahead)
        held = np.take_along_axis(q, choice[..., None], axis=-1)[..., 0]
        better = np.where(q.max(axis=-1) > held + slack, q.argmax(axis=-1), choice)
        if (better == choice).all():
            value = (1 - discount) * q[..., 0, :].max(axis=-1)
            return BestResponse(value, np.eye(2)[choice][..., None, :, :], q[..., None, :, :])
        choice = better


def _mean_response(stage: Array, play: Array) -> BestResponse:
    """The best of the 16 stationary pure responses; one of them is best from every outcome (Howard 1960)."""
    best = np.full((*play.shape[:-1], 4), -np.inf)
    rows = np.zeros((*play.shape[:-1], 4, 2))
    for response in product((0, 1), repeat=4):
        chain = _joint(1.0 - np.array(response), play[..., 1:])
        gain = _averaged(chain, None) @ stage.ravel()
        # One response attains the maximum everywhere, so the sum over outcomes finds it.
        better = gain.sum(axis=-1) > best.sum(axis=-1) + GAIN * np.abs(stage).max()
        best = np.where(better[..., None], gain, best)
        rows = np.where(better[..., None, None], np.eye(2)[list(response)], rows)
    q = _action_values(play, np.zeros((2, 2)), best)
    chosen = np.concatenate([np.eye(2)[q[..., 0, :].argmax(axis=-1)][..., None, :], rows], axis=-2)
    return BestResponse(q[..., 0, :].max(axis=-1), chosen[..., None, :, :], q[..., None, :, :])


def _action_values(play: Array, stage: Array, ahead: Array) -> Array:
    """`(..., 5, 2)` expected payoff of own action b now plus `ahead (..., 4)` of the outcome it leads to."""
    total = stage + ahead.reshape(*ahead.shape[:-1], 1, 2, 2)
    return np.asarray(play[..., None] * total[..., 0] + (1 - play[..., None]) * total[..., 1])


def _averaged(chain: Array, discount: float | None) -> Array:
    """`(..., 4, 4)` normalised expected visits: (1 - gamma)(I - gamma M)^-1, or its limit M*."""
    if discount is not None:
        return np.asarray((1 - discount) * np.linalg.inv(np.eye(4) - discount * chain))
    parents, roots, sizes = FORESTS
    # (..., forests) weight: the product of M(i, parent of i); a root, its own parent, counts 1.
    steps = np.where(np.eye(4, dtype=bool), 1.0, chain)
    weight = np.ones((*chain.shape[:-2], len(parents)))
    for i in range(4):
        weight = weight * steps[..., i, parents[:, i]]
    fewest = np.where(weight > 0, sizes, 5).min(axis=-1, keepdims=True)
    weight = np.where(sizes == fewest, weight, 0.0)
    return np.asarray(np.tensordot(weight / weight.sum(axis=-1, keepdims=True), roots, axes=1))


def _forests() -> tuple[npt.NDArray[np.int64], Array, npt.NDArray[np.int64]]:
    """All 125 rooted forests on four nodes: parents, one-hot root of each node, and how many roots."""
    found = []
    for parents in product(range(4), repeat=4):
        roots = list(range(4))
        for _ in range(4):
            roots = [parents[i] for i in roots]
        if all(parents[r] == r for r in roots):
            found.append((parents, np.eye(4)[roots], sum(p == i for i, p in enumerate(parents))))
    parents_, roots_, sizes = zip(*found, strict=True)
    return np.array(parents_, dtype=np.int64), np.array(roots_), np.array(sizes, dtype=np.int64)


FORESTS = _forests()


def _seen(table: Array) -> Array:
    """A policy's table in the order of outcomes that the other player counts."""
    return table[..., [0, *(1 + k for k in SWAP)]]


def _chain(first: Array, second: Array) -> Array:
    """`(..., 4, 4)` transition between outcomes as player 0 counts them."""
    return _joint(first[..., 1:], _seen(second)[..., 1:])


def _joint(p: Array, q: Array) -> Array:
    """`(..., 4)` probability of 00, 01, 10, 11 from the probabilities of action 0."""
    return np.stack(np.broadcast_arrays(p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)), axis=-1)


def _endless(policy: MemoryOne) -> Array:
    if policy.table.shape[-2] != 1:
        raise ValueError(
            f"the policy has tables for {policy.table.shape[-2]} rounds: an endless game needs a stationary policy"
        )
    return policy.table[..., 0, :]


def _stage(payoffs: npt.ArrayLike) -> Array:
    """`(4, 2)` payoffs of both players for each outcome."""
    if np.shape(payoffs) != (2, 2, 2):
        raise ValueError(f"payoffs have shape {np.shape(payoffs)}: (2, 2, 2) is needed")
    return SequenceForm.from_matrix(payoffs).payoffs.T


def _check_horizon(rounds: int | None, discount: float | None) -> None:
    if rounds is not None and discount is not None:
        raise ValueError(f"rounds = {rounds} and discount = {discount} are both given: choose one, or none")
    if rounds is not None and rounds < 1:
        raise ValueError(f"rounds = {rounds}: at least one is needed")
    if discount is not None and not (isfinite(discount) and 0 <= discount < 1):
        raise ValueError(f"discount = {discount}: it must lie in [0, 1); without it the limit of means is taken")


def _checked(table: npt.ArrayLike, axes: int) -> Array:
    array = np.asarray(table, dtype=np.float64)
    if array.ndim < axes or array.shape[-1] != 5 or (axes == 2 and array.shape[-2] == 0):
        raise ValueError(f"the table has shape {array.shape}: (..., {'5' if axes == 1 else 'T, 5'}) is needed")
    bad = ~((array >= 0) & (array <= 1))
    if bad.any():
        place = tuple(np.argwhere(bad)[0].tolist())
        raise ValueError(f"entry {place} is {array[place]}: a probability is needed")
    return array
