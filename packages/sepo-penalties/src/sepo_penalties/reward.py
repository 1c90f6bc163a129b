"""From episodes to rewards: payoff minus weighted penalties.

    J = payoff - weighted sum of exploitability, collusion, externality and invalid replies

Each part is booked on the pool whose tokens cause it: payoff and externality on `train`, exploitability on
`exploiter`, collusion on `collusive`, invalid replies everywhere. Against an exploiter the part is the
opponent's payoff, unclipped, minus the reference per round times the declared rounds, booked once at the last
valid step (with credit `immediate`: at every step). The clip of e = max(0, surplus) acts on the policy, never
on a rollout: while the policy's surplus is not above 0 the part is switched off (`gate`).
"""

from dataclasses import dataclass, fields
from math import isfinite
from typing import Literal

import numpy as np

from sepo_penalties.episodes import Array, EpisodeBatch
from sepo_penalties.ledger import collusion, externality, gross_harm


@dataclass(frozen=True)
class Weights:
    """Weights of the penalties, in payoff units; `invalid` is the cost of one step without a valid reply."""

    exploitability: float = 1.0
    collusion: float = 1.0
    externality: float = 1.0
    invalid: float = 1.0

    def __post_init__(self) -> None:
        """Checks the weights.

        Raises:
            ValueError: If one is negative or not finite.
        """
        for field in fields(self):
            weight = getattr(self, field.name)
            if not isfinite(weight) or weight < 0:
                raise ValueError(
                    f"weight {field.name} = {weight} is not allowed: a finite number of at least 0 is needed"
                )


@dataclass(frozen=True)
class Parts:
    """`(B, T)` arrays, total = payoff - sum of weight x part; 0 in padding. Parts are unweighted costs."""

    total: Array
    payoff: Array
    exploitability: Array
    collusion: Array
    externality: Array
    invalid: Array


@dataclass(frozen=True)
class SepoReward:
    """Turns an episode batch into rewards.

    Attributes:
        weights: Weights of the penalties.
        reference: The opponents' reference payoff per round.
        gate: Whether the exploitability part is on; the policy's surplus decides.
        credit: `return_to_go`, or `immediate` (preset `paper`), which subtracts the reference at every step.
        against: What an exploiter's payoff is compared with: the `reference`, or the learner's `own` payoff (preset `paper`).
        harm: The externality part: `net` is E of the ledger, `gross` the signed harm to everybody else (preset `pigou`).
    """

    weights: Weights
    reference: float
    gate: bool = True
    credit: Literal["return_to_go", "immediate"] = "return_to_go"
    against: Literal["reference", "own"] = "reference"
    harm: Literal["net", "gross"] = "net"

    def __post_init__(self) -> None:
        """Checks the settings.

        Raises:
            ValueError: If the reference is not finite or an option is unknown.
        """
        if not isfinite(self.reference):
            raise ValueError(f"reference = {self.reference}: a finite payoff per round is needed")
        for name, allowed in (
            ("credit", ("return_to_go", "immediate")),
            ("against", ("reference", "own")),
            ("harm", ("net", "gross")),
        ):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} = {getattr(self, name)!r}: choose {' or '.join(allowed)}")

    def __call__(self, batch: EpisodeBatch) -> Parts:
        """The parts and their total.

        Raises:
            ValueError: If the total of a step is not finite, or harm is `gross` and the game is zero-sum.
        """
        train, exploiter, collusive = (
            (batch.pool == pool)[:, None] & batch.mask for pool in ("train", "exploiter", "collusive")
        )
        payoff = np.where(train, batch.own, 0.0)
        compared = batch.own if self.against == "own" else self._reference(batch)
        exploited = np.where(exploiter, batch.others - compared, 0.0) if self.gate else np.zeros_like(payoff)
        colluded = np.where(collusive, collusion(batch).collusion, 0.0) if collusive.any() else np.zeros_like(payoff)
        harmed = np.where(train, externality(batch) if self.harm == "net" else gross_harm(batch), 0.0)
        invalid = batch.invalid.astype(np.float64)
        w = self.weights
        total = (
            payoff
            - w.exploitability * exploited
            - w.collusion * colluded
            - w.externality * harmed
            - w.invalid * invalid
        )
        if not np.isfinite(total).all():
            row, column = np.argwhere(~np.isfinite(total))[0].tolist()
            raise ValueError(
                f"the reward of episode {row} (group {batch.group[row]}), step {column} is {total[row, column]}"
            )
        return Parts(total, payoff, exploited, colluded, harmed, invalid)

    def _reference(self, batch: EpisodeBatch) -> Array:
        """`(B, T)` the reference payoff, where it is booked."""
        if self.credit == "immediate":
            return np.where(batch.mask, self.reference, 0.0)
        valid = batch.mask & ~batch.invalid
        # A row without a valid step books at its last decision.
        usable = np.where(valid.any(axis=1, keepdims=True), valid, batch.mask)
        last = usable.shape[1] - 1 - np.argmax(usable[:, ::-1], axis=1)
        booked = np.zeros(batch.mask.shape)
        booked[np.arange(len(last)), last] = self.reference * batch.rounds
        return booked
