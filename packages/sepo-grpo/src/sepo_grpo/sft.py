"""Supervised warm start on traces of scripted strategies.

The traces of all games hold few distinct (prompt, reply) pairs, so every step descends the whole data set's loss

    - sum_rows w log pi(reply | prompt),     each game's weights w adding up to the same share,

exactly, with the prompt carrying no loss. Rows are split by episode into train and validation.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from sepo_games import Game, held_out, sft_rows
from torch import Tensor

from sepo_grpo.forward import Row
from sepo_grpo.language_model import LanguageModel


@dataclass(frozen=True)
class WeightedRows:
    """Distinct (prompt, reply) rows of one game and their weights; over all games the weights sum to one."""

    rows: tuple[Row, ...]
    weights: Tensor


def sft_data(
    lm: LanguageModel, games: Sequence[Game], preset: str, n: int, seed: int
) -> tuple[list[WeightedRows], list[WeightedRows]]:
    """Train and validation rows of each game: `n` decisions a game, drawn from the preset's mixture of strategies."""
    parts: tuple[list[WeightedRows], list[WeightedRows]] = ([], [])
    for game in games:
        counts: tuple[Counter[Row], Counter[Row]] = (Counter(), Counter())
        for row in sft_rows(game, preset, n, seed):
            counts[held_out(row.episode)][lm.prompt_ids(row.messages), lm.reply_ids(row.reply)] += 1
        for part, of_game in zip(parts, counts, strict=True):
            if of_game:
                weights = torch.tensor(list(of_game.values()), dtype=torch.float32)
                part.append(WeightedRows(tuple(of_game), weights / (weights.sum() * len(games))))
    return parts


def sft_loss(lm: LanguageModel, data: WeightedRows) -> Tensor:
    """One game's share of the cross-entropy of the replies, in nats per decision."""
    logprobs = lm.logprobs(data.rows, temperature=1.0)
    return -(torch.stack([row.sum() for row in logprobs]) * data.weights.to(logprobs[0])).sum()


def train_sft(
    lm: LanguageModel, train: Sequence[WeightedRows], steps: int, lr: float, log: Callable[[int, float], None]
) -> None:
    """Trains the model's trainable parameters in place; the learning rate warms up, then falls linearly to a tenth.

    Args:
        lm: The language model.
        train: The rows of each game.
        steps: Number of steps.
        lr: Peak learning rate of Adam.
        log: Called after every step with its number and the loss before it.
    """
    parameters = [p for p in lm.model.parameters() if p.requires_grad]
    # The short memory of squared gradients lets a model that starts from nothing find the cards in a prompt in 100 steps.
    optimiser = torch.optim.Adam(parameters, lr=lr, betas=(0.9, 0.95))
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = lr * min(1.0, (step + 1) / max(1, steps // 6)) * (1 - 0.9 * step / steps)
        optimiser.zero_grad()
        total = 0.0
        for of_game in train:  # games share no prefix, so one token tree for each is cheaper than one for all
            loss = sft_loss(lm, of_game)
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        log(step, total)
