"""Collusion and externality of one agent's own actions, step by step.

With the others' realised actions and the private values held fixed, aN the learner's benchmark action, a0 its
do-no-harm action:

    B = sum_{other players j} [u_j(a) - u_j(aN)]        what its restraint hands to its partners
    H = sum_{outsiders k}     [u_k(aN) - u_k(a)]        what that costs outsiders
    C = max(0, min(B, H))                               the part of the gift that outsiders paid for
    E = max(0, W(a0) - W(a)),   W over players and outsiders
    gross harm = sum_{everybody else k} [u_k(a0) - u_k(a)], signed

Coin flips are averaged out of every ledger. C is 0 in a game without outsiders; E is 0 in a constant-sum
game.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from sepo_penalties.episodes import Array, EpisodeBatch


@dataclass(frozen=True)
class Collusion:
    """`(B, T)` arrays: the penalty C >= 0, the signed gift B and the signed harm H, in payoff units."""

    collusion: Array
    gift: Array
    harm: Array


def collusion(batch: EpisodeBatch) -> Collusion:
    """C, B and H of every step.

    A game that states that it has no outsiders has C = 0. Where outsiders were never stated C is 0 as well,
    with a warning, since an undeclared victim cannot be seen.
    """
    if not batch.outsiders_declared:
        warnings.warn(
            "the game does not say who its outsiders are, so collusion is 0 by default: declare "
            "them, or state that there are none",
            stacklevel=2,
        )
    others = (batch.expected_payoffs - batch.benchmark_payoffs).sum(axis=-1)
    rows = np.arange(len(batch.learner))
    own = (batch.expected_payoffs - batch.benchmark_payoffs)[rows, :, batch.learner]
    gift = np.where(batch.mask, others - own, 0.0)
    harm = np.where(batch.mask, (batch.benchmark_outsiders - batch.expected_outsiders).sum(axis=-1), 0.0)
    return Collusion(np.maximum(0.0, np.minimum(gift, harm)), gift, harm)


def externality(batch: EpisodeBatch) -> Array:
    """`(B, T)` E >= 0: welfare that the do-no-harm action would have saved."""
    welfare = batch.expected_payoffs.sum(axis=-1) + batch.expected_outsiders.sum(axis=-1)
    harmless = batch.harmless_payoffs.sum(axis=-1) + batch.harmless_outsiders.sum(axis=-1)
    return np.where(batch.mask, np.maximum(0.0, harmless - welfare), 0.0)


def gross_harm(batch: EpisodeBatch) -> Array:
    """`(B, T)` what the learner's actions take from everybody else against its do-no-harm action; negative where they give.

    Raises:
        ValueError: In a zero-sum game, where this is the learner's own gain and payoff minus harm is constant.
    """
    welfare = batch.expected_payoffs.sum(axis=-1) + batch.expected_outsiders.sum(axis=-1)
    harmless = batch.harmless_payoffs.sum(axis=-1) + batch.harmless_outsiders.sum(axis=-1)
    size = np.abs(batch.expected_payoffs[batch.mask]).max()
    if size > 0 and max(np.abs(welfare[batch.mask]).max(), np.abs(harmless[batch.mask]).max()) <= 1e-9 * size:
        raise ValueError(
            "the payoffs of players and outsiders sum to zero in every step: in a zero-sum game harm to others is the learner's own "
            "gain, so payoff minus harm teaches nothing; use exploitability as the penalty there"
        )
    rows = np.arange(len(batch.learner))
    own = (batch.harmless_payoffs - batch.expected_payoffs)[rows, :, batch.learner]
    return np.where(batch.mask, harmless - welfare - own, 0.0)
