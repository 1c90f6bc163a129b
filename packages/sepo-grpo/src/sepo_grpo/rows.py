"""The rows that a step's loss is made of: identical (prompt, reply) samples merged, canonical replies added."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from sepo_games import Episode, Game, InfoSet
from sepo_penalties import solvable

from sepo_grpo.config import RunConfig, game_weights
from sepo_grpo.forward import Row
from sepo_grpo.language_model import LanguageModel
from sepo_grpo.loss import MergedRows

SMALLEST_UNIT = 0.1
"""Least standard deviation of advantages, in payoff units, that a game's loss is divided by: below it there is only noise."""


def merge_rows(
    lm: LanguageModel,
    game: Game,
    episodes: Sequence[Episode],
    advantages: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    config: RunConfig,
) -> MergedRows:
    """Merges the samples of identical (prompt, reply) pairs, and adds the canonical replies of every information set; see `loss`.

    Each game's loss is divided by its *unit*, the standard deviation of its advantages in this batch: one constant for all pools and
    parts, so that weights keep their meaning and games of different stakes share one optimiser. It is multiplied by the game's weight.

    Args:
        lm: Turns messages into prompt ids.
        game: The game.
        episodes: `B` episodes.
        advantages: `(B, T)` advantage of each step's accepted reply.
        weights: `(B,)` weight of each rollout.
        config: The run's settings.
    """
    sums: dict[Row, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for episode, advantage, weight in zip(episodes, advantages, weights, strict=True):
        for taken in episode.steps:
            prompt = lm.prompt_ids(taken.messages)
            for attempt, reply in enumerate(taken.replies):
                accepted = taken.valid and attempt == len(taken.replies) - 1
                value = float(advantage[taken.slot]) if accepted else -config.invalid_cost * weight
                sample = sums[prompt, reply.tokens]
                sample[int(value < 0)] += value
                sample[2] += weight
    canonical = canonical_rows(lm, game, distinct_prompts(game, episodes, config.actions == "choose"))
    table = torch.tensor([sums[row] for row in dict.fromkeys([*sums, *(row for of in canonical for row in of)])])
    place = {row: i for i, row in enumerate(sums)}
    spread = float(advantages[advantages != 0].std()) if (advantages != 0).any() else 0.0
    unit = max(spread, SMALLEST_UNIT) / game_weights(config.games).get(game.name, 1.0)
    norm = len(episodes) * game.rounds * unit
    if config.loss == "dapo":
        samples = float(table[:, 2].sum())
        tokens = sum(float(count) * len(reply) for (_, reply), count in zip(sums, table[:, 2], strict=True))
        norm *= tokens / samples
    return MergedRows(
        rows=tuple(sums),
        positive=table[:, 0],
        negative=table[:, 1],
        count=table[:, 2],
        norm=norm,
        valid=tuple(tuple(place[row] for row in of) for of in canonical),
        infosets=max(1, len(canonical)),
        invalid_cost=config.invalid_cost,
        unit=unit,
    )


def canonical_rows(lm: LanguageModel, game: Game, infosets: Sequence[InfoSet]) -> list[list[Row]]:
    """For each information set the rows of its legal actions' canonical replies."""
    return [
        [(lm.prompt_ids(game.render(i.view)), lm.reply_ids(game.reply(i.view, action))) for action in i.legal]
        for i in infosets
    ]


def distinct_prompts(game: Game, episodes: Sequence[Episode] = (), choosing: bool = False) -> list[InfoSet]:
    """One information set for each different prompt; seats of a symmetric game share theirs.

    Where prompts show more than can be listed, those that the episodes met; and none in a game of too many actions to score them all,
    except for a policy that chooses by scoring them.
    """
    if not game.enumerable:
        if not solvable(game) and not choosing:
            return []
        met = {taken.messages[-1]["content"]: taken for episode in episodes for taken in episode.steps}
        return [InfoSet(taken.key, taken.view, taken.view.legal) for taken in met.values()]
    found: dict[tuple[str, ...], InfoSet] = {}
    for seat in range(game.num_players()):
        for infoset in game.infosets(seat):
            found.setdefault(tuple(m["content"] for m in game.render(infoset.view)), infoset)
    return list(found.values())
