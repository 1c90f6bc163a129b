"""One training step of one game, up to the update: read the policy, plan, play, score, advantages, merged rows.

    1. read the policy off the model at its information sets and compute the exact best response to it, per seat;
    2. play the planned match-ups under common random numbers;
    3. turn the episodes into rewards (`score`) and these into advantages in payoff units (`advantages_of`);
    4. merge identical (prompt, reply) samples (`rows`).

A rejected reply gets the invalid cost and nothing else; the step's fallback action earns no reply any credit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sepo_games import Episode, Game, ReadPolicy, SeatTables, play, project_policy, read_policy, to_arrays
from sepo_penalties import EpisodeBatch, Parts, SepoReward, Weights, group_advantages, solvable

from sepo_grpo.choose import ChoosePolicy, policy_of
from sepo_grpo.config import RunConfig
from sepo_grpo.credit import credited_rewards
from sepo_grpo.exact import Exploitation, bounded, exploit
from sepo_grpo.language_model import LanguageModel
from sepo_grpo.loss import MergedRows
from sepo_grpo.plan import plan_step, pools
from sepo_grpo.policy import LmPolicy
from sepo_grpo.report import step_log
from sepo_grpo.rows import merge_rows

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Played:
    """What one step of one game produced, before the update.

    Attributes:
        rows: Merged rows for the loss.
        exploitation: How the policy that played can be exploited; its strategy is the one that was played.
        log: Numbers for `metrics.jsonl`.
        episodes: The episodes, in the order of the plan.
    """

    rows: MergedRows
    exploitation: Exploitation
    log: dict[str, float | None]
    episodes: Sequence[Episode]


@dataclass(frozen=True)
class Scored:
    """Rewards of a step.

    Attributes:
        batch: The episodes as arrays.
        parts: The reward's parts, each on the pool it was played in.
        rewards: `(B, T)` what is centred.
        weights: `(B,)` weight of each rollout.
        exploitation: How the policy can be exploited.
    """

    batch: EpisodeBatch
    parts: Parts
    rewards: Array
    weights: Array
    exploitation: Exploitation


def play_step(
    lm: LanguageModel,
    game: Game,
    config: RunConfig,
    step: int,
    weights: Weights | None = None,
    responder: SeatTables | None = None,
) -> Played:
    """Plays and scores one step of a game under the model's current weights.

    Args:
        lm: The language model.
        game: The game.
        config: The run's settings.
        step: The step's number, part of every random key.
        weights: Weights of the penalties; the settings' by default.
        responder: An earlier best response to play against; the one to the current policy by default.
    """
    policy = policy_of(lm, config.temperature, config.max_tokens, config.actions == "choose")
    seed = step_seed(config.seed, step)
    tables = read_tables(game, policy, config, seed) if solvable(game) else []
    exploitation = exploit(game, tables) if tables else None
    fresh = exploitation.strategy if exploitation else None
    copy = SeatTables(game, {seat: rows_of(table) for seat, table in enumerate(tables)}) if config.self_play else None
    opponents = pools(game, config.preset, config.arm, responder or fresh, copy)
    episodes = play(plan_step(game, opponents, config.groups, config.group_size), policy, seed, config.retries)
    scored = score(game, episodes, config, weights or weights_of(config), exploitation)
    advantages = advantages_of(scored, config)
    rows = merge_rows(lm, game, episodes, advantages, scored.weights, config)
    log = step_log(
        scored.batch, scored.parts, advantages, scored.exploitation, tables, rows, weights or weights_of(config)
    )
    return Played(rows, scored.exploitation, log, episodes)


def read_tables(game: Game, policy: LmPolicy | ChoosePolicy, config: RunConfig, seed: int) -> list[ReadPolicy]:
    """The policy at every information set, one table a seat; its projection where prompts show more than can be listed."""
    if not game.enumerable:
        return project_policy(game, policy, config.group_size, seed, config.retries)
    return [read_policy(game, seat, policy.score, config.retries) for seat in range(game.num_players())]


def rows_of(table: ReadPolicy) -> dict[str, tuple[float, ...]]:
    """A table as plain numbers, information set to probabilities."""
    return {key: tuple(row.tolist()) for key, row in zip(table.keys, table.probs, strict=True)}


def step_seed(seed: int, step: int) -> int:
    """The seed of one training step's coins; evaluation uses keys outside this range."""
    return seed * 1_000_000 + step


def weights_of(config: RunConfig) -> Weights:
    """The weights of the penalties that the settings name."""
    return Weights(
        exploitability=config.lambda_exploitability,
        collusion=config.lambda_collusion,
        externality=config.lambda_externality,
        invalid=config.invalid_cost,
    )


def score(
    game: Game, episodes: Sequence[Episode], config: RunConfig, weights: Weights, exploitation: Exploitation | None
) -> Scored:
    """Rewards of a step's episodes, the exploitability part gated by the policy's surplus.

    Args:
        game: The game.
        episodes: `B` episodes.
        config: The run's settings.
        weights: Weights of the penalties.
        exploitation: How the policy can be exploited; `None` if that is to be bounded by these episodes.
    """
    batch = EpisodeBatch(**to_arrays(episodes))
    known = exploitation or bounded(game, batch)
    parts = SepoReward(weights, known.reference, known.gate)(batch)
    rewards, row_weights = credited_rewards(batch, parts, config.arm, weights.exploitability)
    return Scored(batch, parts, rewards, row_weights, known)


def advantages_of(scored: Scored, config: RunConfig) -> Array:
    """`(B, T)` advantages; by default leave-one-out, return-to-go, in payoff units."""
    batch = scored.batch
    return group_advantages(
        scored.rewards,
        batch.group,
        mask=batch.mask,
        segments=batch.segment,
        valid=~batch.invalid,
        row_weights=scored.weights,
        credit=config.credit,
        baseline=config.baseline,
        scale=config.scale,
        sd_floor=config.sd_floor,
    )
