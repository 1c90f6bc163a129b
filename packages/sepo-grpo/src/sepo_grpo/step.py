"""One training step of one game: read the policy, plan, play, score, advantages, merged rows.

    1. read the policy off the model at its information sets and compute the exact best response to it, per seat;
    2. play the planned match-ups under common random numbers;
    3. turn the episodes into rewards and leave-one-out advantages in payoff units;
    4. merge identical (prompt, reply) samples.

A rejected reply gets the invalid cost and nothing else; the step's fallback action earns no reply any credit.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from sepo_games import Episode, Game, InfoSet, ReadPolicy, play, project_policy, read_policy, to_arrays
from sepo_penalties import EpisodeBatch, Parts, SepoReward, Weights, group_advantages

from sepo_grpo.config import RunConfig
from sepo_grpo.credit import credited_rewards
from sepo_grpo.exact import Exploitation, exploit
from sepo_grpo.forward import Row
from sepo_grpo.language_model import LanguageModel
from sepo_grpo.loss import MergedRows
from sepo_grpo.plan import plan_step, pools
from sepo_grpo.policy import LmPolicy

Array = npt.NDArray[np.float64]

SMALLEST_UNIT = 0.1
"""Least standard deviation of advantages, in payoff units, that a game's loss is divided by: below it there is only noise."""


@dataclass(frozen=True)
class Played:
    """What one step of one game produced, before the update.

    Attributes:
        rows: Merged rows for the loss.
        exploitation: The exact best responses to the policy that played.
        log: Numbers for `metrics.jsonl`.
        episodes: The episodes, in the order of the plan.
    """

    rows: MergedRows
    exploitation: Exploitation
    log: dict[str, float | None]
    episodes: Sequence[Episode]


def play_step(lm: LanguageModel, game: Game, config: RunConfig, step: int) -> Played:
    """Plays and scores one step of a game under the model's current weights.

    Args:
        lm: The language model.
        game: The game.
        config: The run's settings.
        step: The step's number, part of every random key.
    """
    policy = LmPolicy(lm, config.temperature, config.max_tokens)
    tables = read_tables(game, policy, config, step_seed(config.seed, step))
    exploitation = exploit(game, tables)
    plan = plan_step(
        game, pools(game, config.preset, config.arm, exploitation.strategy), config.groups, config.group_size
    )
    episodes = play(plan, policy, step_seed(config.seed, step), config.retries)
    batch = EpisodeBatch(**to_arrays(episodes))
    parts = reward(config, exploitation)(batch)
    rewards, weights = credited_rewards(batch, parts, config.arm, config.lambda_exploitability)
    # Leave-one-out, return-to-go, payoff units.
    advantages = group_advantages(
        rewards, batch.group, mask=batch.mask, segments=batch.segment, valid=~batch.invalid, row_weights=weights
    )
    rows = merge_rows(lm, game, episodes, advantages, weights, config.invalid_cost)
    return Played(rows, exploitation, step_log(batch, parts, advantages, exploitation, tables), episodes)


def read_tables(game: Game, policy: LmPolicy, config: RunConfig, seed: int) -> list[ReadPolicy]:
    """The policy at every information set, one table a seat; its projection where prompts show more than can be listed."""
    if not game.enumerable:
        return project_policy(game, policy, config.group_size, seed, config.retries)
    return [read_policy(game, seat, policy.score, config.retries) for seat in range(game.num_players())]


def step_seed(seed: int, step: int) -> int:
    """The seed of one training step's coins; evaluation uses keys outside this range."""
    return seed * 1_000_000 + step


def reward(config: RunConfig, exploitation: Exploitation) -> SepoReward:
    """The reward of the run, exploitability gated by the policy's exact surplus."""
    weights = Weights(
        exploitability=config.lambda_exploitability,
        collusion=config.lambda_collusion,
        externality=config.lambda_externality,
        invalid=config.invalid_cost,
    )
    return SepoReward(weights, exploitation.reference, exploitation.gate)


def merge_rows(
    lm: LanguageModel, game: Game, episodes: Sequence[Episode], advantages: Array, weights: Array, invalid_cost: float
) -> MergedRows:
    """Merges the samples of identical (prompt, reply) pairs, and adds the canonical replies of every information set; see `loss`.

    Each game's loss is divided by its *unit*, the standard deviation of its advantages in this batch: one constant for all pools and
    parts, so that weights keep their meaning and games of different stakes share one optimiser.

    Args:
        lm: Turns messages into prompt ids.
        game: The game.
        episodes: `B` episodes.
        advantages: `(B, T)` advantage of each step's accepted reply.
        weights: `(B,)` weight of each rollout.
        invalid_cost: Cost of each rejected reply.
    """
    sums: dict[Row, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for episode, advantage, weight in zip(episodes, advantages, weights, strict=True):
        for taken in episode.steps:
            prompt = lm.prompt_ids(taken.messages)
            for attempt, reply in enumerate(taken.replies):
                accepted = taken.valid and attempt == len(taken.replies) - 1
                value = float(advantage[taken.slot]) if accepted else -invalid_cost * weight
                sample = sums[prompt, reply.tokens]
                sample[int(value < 0)] += value
                sample[2] += weight
    canonical = canonical_rows(lm, game, distinct_prompts(game, episodes))
    table = torch.tensor([sums[row] for row in dict.fromkeys([*sums, *(row for of in canonical for row in of)])])
    place = {row: i for i, row in enumerate(sums)}
    unit = max(float(advantages[advantages != 0].std()) if (advantages != 0).any() else 0.0, SMALLEST_UNIT)
    return MergedRows(
        rows=tuple(sums),
        positive=table[:, 0],
        negative=table[:, 1],
        count=table[:, 2],
        norm=len(episodes) * game.rounds * unit,
        valid=tuple(tuple(place[row] for row in of) for of in canonical),
        invalid_cost=invalid_cost,
        unit=unit,
    )


def canonical_rows(lm: LanguageModel, game: Game, infosets: Sequence[InfoSet]) -> list[list[Row]]:
    """For each information set the rows of its legal actions' canonical replies."""
    return [
        [(lm.prompt_ids(game.render(i.view)), lm.reply_ids(game.reply(i.view, action))) for action in i.legal]
        for i in infosets
    ]


def distinct_prompts(game: Game, episodes: Sequence[Episode] = ()) -> list[InfoSet]:
    """One information set for each different prompt; seats of a symmetric game share theirs.

    Where prompts show more than can be listed, those that the episodes met.
    """
    if not game.enumerable:
        met = {taken.messages[-1]["content"]: taken for episode in episodes for taken in episode.steps}
        return [InfoSet(taken.key, taken.view, taken.view.legal) for taken in met.values()]
    found: dict[tuple[str, ...], InfoSet] = {}
    for seat in range(game.num_players()):
        for infoset in game.infosets(seat):
            found.setdefault(tuple(m["content"] for m in game.render(infoset.view)), infoset)
    return list(found.values())


def step_log(
    batch: EpisodeBatch,
    parts: Parts,
    advantages: Array,
    exploitation: Exploitation,
    tables: Sequence[ReadPolicy],
) -> dict[str, float | None]:
    """Per-round means of the step's quantities; payoff and penalties over the pool they belong to."""
    rounds = batch.rounds[0]

    def mean(values: Array, pool: str) -> float | None:
        chosen = batch.pool == pool
        return float(values[chosen].sum(axis=1).mean() / rounds) if chosen.any() else None

    decisions = batch.mask.sum()
    return {
        "payoff": mean(parts.payoff, "train"),
        "exploiter_surplus": mean(parts.exploitability, "exploiter"),
        "collusion": mean(parts.collusion, "collusive"),
        "externality": mean(parts.externality, "train"),
        "invalid_share": float(batch.invalid.sum() / decisions),
        "surplus": exploitation.surplus,
        "exploitability": exploitation.exploitability,
        "gate": float(exploitation.gate),
        "advantage_sd": float(advantages[batch.mask].std()),
        "flat_share": float((np.abs(advantages[batch.mask]) < 1e-12).mean()),
        "canonical_mass": float(min(table.mass.min() for table in tables)),
    }
