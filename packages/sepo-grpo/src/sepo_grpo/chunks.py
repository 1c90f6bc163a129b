"""Merged rows in pieces that fit into memory; the pieces' losses and gradients add up to those of the whole."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from sepo_grpo.loss import MergedRows


def chunks(batch: MergedRows, tokens: int) -> list[tuple[list[int], MergedRows]]:
    """Splits rows by their number of tokens; the canonical replies of an information set stay together.

    Args:
        batch: The rows.
        tokens: Most tokens of prompts and replies in a piece; a unit that is larger stands alone.

    Returns:
        For each piece the places of its rows in the batch, and the piece.
    """
    units = _units(batch)
    pieces: list[list[int]] = []
    room = 0
    for unit in units:
        size = sum(len(prompt) + len(reply) for prompt, reply in (batch.rows[i] for i in unit))
        if not pieces or size > room:
            pieces.append([])
            room = tokens
        pieces[-1] += unit
        room -= size
    if len(pieces) == 1:
        return [(list(range(len(batch.rows))), batch)]
    return [(piece, _part(batch, piece)) for piece in pieces]


def _units(batch: MergedRows) -> list[list[int]]:
    """Rows that must stay together, in the order of their first ones."""
    of_row = {i: number for number, places in enumerate(batch.valid) for i in places}
    units: dict[int, list[int]] = {}
    for i in range(len(batch.rows)):
        units.setdefault(of_row.get(i, -1 - i), []).append(i)
    return list(units.values())


def _part(batch: MergedRows, piece: Sequence[int]) -> MergedRows:
    place = {row: i for i, row in enumerate(piece)}
    at = torch.tensor(piece)
    return replace(
        batch,
        rows=tuple(batch.rows[i] for i in piece),
        positive=batch.positive[at],
        negative=batch.negative[at],
        count=batch.count[at],
        valid=tuple(tuple(place[i] for i in places) for places in batch.valid if places[0] in place),
    )


def among_legal(logprobs: Sequence[Tensor], valid: Sequence[Sequence[int]]) -> list[Tensor]:
    """The log-probability of each row's reply among the canonical replies of its information set, as one number a row.

    Args:
        logprobs: For each row the log-probability of each reply token.
        valid: For each information set the places of its canonical replies; every row must be one of them.
    """
    said = torch.stack([row.sum() for row in logprobs])
    result: list[Tensor] = [said[:0]] * len(logprobs)
    for places in valid:
        normalised = said[list(places)].log_softmax(0)
        for i, place in enumerate(places):
            result[place] = normalised[i : i + 1]
    return result
