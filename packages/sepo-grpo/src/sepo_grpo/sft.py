"""Supervised warm start on traces of scripted strategies.

The traces of all games hold few distinct (prompt, reply) pairs, so every step descends the whole data set's loss

    - sum_rows w log pi(reply | prompt) / sum_rows w,     each game's weights w summing to one,

exactly, with the prompt carrying no loss. Rows are split by episode into train and validation.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from sepo_games import Game, sft_rows
from torch import Tensor

from sepo_grpo.forward import Row
from sepo_grpo.language_model import LanguageModel

HELD_OUT = 10
"""Every tenth episode is held out for validation."""


@dataclass(frozen=True)
class WeightedRows:
    """Distinct (prompt, reply) rows and their weights, which sum to one."""

    rows: tuple[Row, ...]
    weights: Tensor


def sft_data(lm: LanguageModel, games: Iterable[Game], preset: str, n: int, seed: int) -> tuple[WeightedRows, WeightedRows]:
    """Train and validation rows: `n` decisions a game, drawn from the preset's mixture of strategies."""
    parts: tuple[Counter[Row], Counter[Row]] = (Counter(), Counter())
    for game in games:
        counts: tuple[Counter[Row], Counter[Row]] = (Counter(), Counter())
        for row in sft_rows(game, preset, n, seed):
            held_out = row.episode % HELD_OUT == HELD_OUT - 1
            counts[held_out][lm.prompt_ids(row.messages), lm.reply_ids(row.reply)] += 1
        for part, of_game in zip(parts, counts, strict=True):
            total = sum(of_game.values())
            for key, count in of_game.items():
                part[key] += count / total  # type: ignore[assignment]
    return _normalised(parts[0]), _normalised(parts[1])


def _normalised(counts: Counter[Row]) -> WeightedRows:
    weights = torch.tensor(list(counts.values()), dtype=torch.float32)
    return WeightedRows(tuple(counts), weights / weights.sum())


def sft_loss(lm: LanguageModel, data: WeightedRows) -> Tensor:
    """Cross-entropy of the replies in nats per decision."""
    logprobs = lm.logprobs(data.rows, temperature=1.0)
    return -(torch.stack([row.sum() for row in logprobs]) * data.weights.to(logprobs[0])).sum()


def train_sft(lm: LanguageModel, train: WeightedRows, steps: int, lr: float, log: Callable[[int, float], None]) -> None:
    """Trains the model's trainable parameters in place; the learning rate warms up, then falls linearly to a tenth.

    Args:
        lm: The language model.
        train: The rows.
        steps: Number of steps.
        lr: Peak learning rate of Adam.
        log: Called after every step with its number and the loss before it.
    """
    parameters = [p for p in lm.model.parameters() if p.requires_grad]
    optimiser = torch.optim.Adam(parameters, lr=lr)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = lr * min(1.0, (step + 1) / max(1, steps // 10)) * (1 - 0.9 * step / steps)
        loss = sft_loss(lm, train)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        log(step, loss.item())
