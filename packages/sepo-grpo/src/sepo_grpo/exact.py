"""How the current policy can be exploited.

Exactly, by best responses to the policy read off the model, as an opponent that can be played against; or, where prompts show more than
can be listed, from below, by what the strongest scripted exploiter won in the step.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sepo_games import Game, ReadPolicy, SeatTables, Strategy
from sepo_penalties import EpisodeBatch, best_replies


@dataclass(frozen=True)
class Exploitation:
    """How the current policy can be exploited.

    Attributes:
        strategy: The best responder, in either seat; `None` where none is known.
        surplus: Mean over seats of max_b u_opp(b, pi) minus the reference, per round, signed; or a lower bound of it.
        exploitability: NashConv / 2 per round in a two-player zero-sum game, else `None`.
        reference: The opponent's reference payoff per round, mean over seats.
        gate: Whether the exploitability part is on: the surplus is above 0.
    """

    strategy: Strategy | None
    surplus: float
    exploitability: float | None
    reference: float
    gate: bool


def exploit(game: Game, tables: Sequence[ReadPolicy]) -> Exploitation:
    """Computes the best responses to the policy in `tables`, one table for each seat."""
    replies = best_replies(game, [table.as_dict() for table in tables])
    references = [game.references[seat] for seat in range(len(tables))]
    surplus = sum(reply.value - r for reply, r in zip(replies, references, strict=True)) / len(tables)
    return Exploitation(
        strategy=SeatTables(game, {1 - seat: reply.policy for seat, reply in enumerate(replies)}),
        surplus=surplus,
        exploitability=surplus if game.zero_sum else None,
        reference=sum(references) / len(references),
        gate=surplus > 0,
    )


def bounded(game: Game, batch: EpisodeBatch) -> Exploitation:
    """Bounds the surplus from below by the scripted exploiter that won most in a step's episodes."""
    reference = sum(game.references) / len(game.references)
    won = batch.others.sum(axis=1) / batch.rounds
    exploiters = np.unique(batch.opponent[batch.pool == "exploiter"])
    best = max(float(won[(batch.opponent == name) & (batch.pool == "exploiter")].mean()) for name in exploiters)
    return Exploitation(None, best - reference, None, reference, best > reference)
