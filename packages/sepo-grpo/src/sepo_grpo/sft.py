"""Supervised warm start on traces of scripted strategies.

The traces of most games hold few distinct (prompt, reply) pairs, so every step descends the whole data set's loss

    - sum_rows w log pi(reply | prompt) - form mean_I log sum_a pi(reply of a | I),

exactly, with the prompt carrying no loss. Each game's weights w add up to the same share. The second term asks for the canonical form
at every information set alike, also where play seldom goes and traces say little; it is left out where prompts show more than
can be listed, and where its weight is 0. A game with more distinct rows than fit into a batch gives an unbiased sample of them each
step. Rows are split by episode into train and validation.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sepo_games import Game, held_out, sft_rows
from torch import Tensor

from sepo_grpo.forward import Row
from sepo_grpo.language_model import LanguageModel
from sepo_grpo.rows import canonical_rows, distinct_prompts


@dataclass(frozen=True)
class WeightedRows:
    """Distinct (prompt, reply) rows of one game.

    Attributes:
        rows: The rows.
        weights: How much each counts; together the game's share, which is the same for all games and 1 over all of them.
        choices: For each information set, the places in `rows` of its legal actions' canonical replies.
        form: The weight of the term that asks for the canonical form.
    """

    rows: tuple[Row, ...]
    weights: Tensor
    choices: tuple[tuple[int, ...], ...]
    form: float

    def sample(self, batch: int, seed: tuple[int, ...]) -> "WeightedRows":
        """At most `batch` draws of rows, and a quarter as many information sets, whose loss is this one's in expectation."""
        if len(self.rows) <= batch:
            return self
        rng = np.random.default_rng(seed)
        weights = self.weights.double().numpy()
        drawn, counts = np.unique(rng.choice(len(self.rows), batch, p=weights / weights.sum()), return_counts=True)
        some = min(len(self.choices), max(1, batch // 4))
        sets = rng.choice(len(self.choices), some, replace=False).tolist() if some else []
        kept = dict.fromkeys([*drawn.tolist(), *(row for i in sets for row in self.choices[i])])
        place = {row: i for i, row in enumerate(kept)}
        share = torch.zeros(len(kept))
        share[[place[row] for row in drawn.tolist()]] = torch.tensor(
            counts / batch * weights.sum(), dtype=torch.float32
        )
        return WeightedRows(
            tuple(self.rows[row] for row in kept),
            share,
            tuple(tuple(place[row] for row in self.choices[i]) for i in sets),
            self.form,
        )

    def pieces(self, batch: int) -> "list[WeightedRows]":
        """Parts of at most `batch` rows whose losses add up to that of the traces; the whole where it is no larger."""
        if len(self.rows) <= batch:
            return [self]
        starts = range(0, len(self.rows), batch)
        return [WeightedRows(self.rows[i : i + batch], self.weights[i : i + batch], (), self.form) for i in starts]


def sft_data(
    lm: LanguageModel, games: Sequence[Game], preset: str, n: int, form: float, seed: int
) -> tuple[list[WeightedRows], list[WeightedRows]]:
    """Train and validation rows of each game: `n` decisions a game, drawn from the preset's mixture of strategies.

    Args:
        lm: The language model, whose tokens the rows are of.
        games: The games.
        preset: Whose mixture.
        n: Decisions a game.
        form: Weight of the term for canonical replies, in shares of the game; 0 leaves it out.
        seed: Of deals, coins and strategies.
    """
    parts: tuple[list[WeightedRows], list[WeightedRows]] = ([], [])
    for game in games:
        counts: tuple[Counter[Row], Counter[Row]] = (Counter(), Counter())
        for row in sft_rows(game, preset, n, seed):
            counts[held_out(row.episode)][lm.prompt_ids(row.messages), lm.reply_ids(row.reply)] += 1
        choices = canonical_rows(lm, game, distinct_prompts(game)) if form and game.enumerable else []
        for part, of_game in zip(parts, counts, strict=True):
            if of_game:
                part.append(_weighted(of_game, choices, 1 / len(games), form))
    return parts


def _weighted(counts: Counter[Row], choices: Sequence[Sequence[Row]], share: float, form: float) -> WeightedRows:
    rows = tuple(dict.fromkeys([*counts, *(row for of in choices for row in of)]))
    place = {row: i for i, row in enumerate(rows)}
    weights = torch.tensor([counts[row] for row in rows], dtype=torch.float32)
    return WeightedRows(
        rows, weights * (share / weights.sum()), tuple(tuple(place[row] for row in of) for of in choices), share * form
    )


def sft_loss(lm: LanguageModel, data: WeightedRows) -> Tensor:
    """One game's share of the loss, in nats per decision."""
    logprobs = torch.stack([row.sum() for row in lm.logprobs(data.rows, temperature=1.0)])
    loss = -(logprobs * data.weights.to(logprobs)).sum()
    if data.choices:
        mass = torch.stack([logprobs[list(of)].logsumexp(0) for of in data.choices])
        loss = loss - data.form * mass.mean()
    return loss


def train_sft(
    lm: LanguageModel,
    train: Sequence[WeightedRows],
    steps: int,
    lr: float,
    log: Callable[[int, float], None],
    batch: int = 512,
    seed: int = 0,
) -> None:
    """Trains the model's trainable parameters in place; the learning rate warms up, then falls linearly to 0.

    Args:
        lm: The language model.
        train: The rows of each game.
        steps: Number of steps.
        lr: Peak learning rate of Adam.
        log: Called after every step with its number and the loss before it.
        batch: Most rows of a game in one step.
        seed: Of the samples of rows.
    """
    parameters = [p for p in lm.model.parameters() if p.requires_grad]
    # The short memory of squared gradients lets a model that starts from nothing find the cards in a prompt in 100 steps.
    optimiser = torch.optim.Adam(parameters, lr=lr, betas=(0.9, 0.95))
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = lr * min(1.0, (step + 1) / max(1, steps // 6)) * (1 - step / steps)
        optimiser.zero_grad()
        total = 0.0
        for place, of_game in enumerate(
            train
        ):  # games share no prefix: one token tree for each is cheaper than one for all
            loss = sft_loss(lm, of_game.sample(batch, (seed, step, place)))
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        log(step, total)
