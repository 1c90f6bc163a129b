"""The SEPO-GRPO loop: `steps` steps from the start policy, with a checkpoint and a line of metrics after each.

A step depends on the weights, the optimiser, the trainer's state and the step's number only, so a run that is stopped and resumed from a
checkpoint computes what an uninterrupted run computes.
"""

import copy
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from sepo_games import Game, SeatTables

from sepo_grpo.adapters import ATTENTION, add_lora, fingerprint
from sepo_grpo.checkpoints import load_step, save_step
from sepo_grpo.config import RunConfig
from sepo_grpo.errors import TrainingStopped
from sepo_grpo.files import append_line, read_lines, write_lines
from sepo_grpo.language_model import LanguageModel
from sepo_grpo.memory import recompute_activations
from sepo_grpo.rows import canonical_rows, distinct_prompts
from sepo_grpo.starts import step_folders
from sepo_grpo.state import Tables, TrainerState
from sepo_grpo.step import play_step
from sepo_grpo.track import Tracker
from sepo_grpo.update import ReferenceScores, update

KEEP_EVERY = 20
"""Checkpoints at multiples of this step stay; of the others only the last one does."""


def train(
    start: LanguageModel,
    games: Sequence[Game],
    config: RunConfig,
    folder: Path,
    report: Callable[[int, dict[str, Any]], None],
    trackers: Sequence[Tracker] = (),
) -> LanguageModel:
    """Trains from the start policy, or goes on from the newest checkpoint in the folder.

    Args:
        start: The start policy; its weights are frozen and serve as the KL reference.
        games: The games to train on; their losses are added.
        config: The run's settings.
        folder: The run's folder, which gets `metrics.jsonl` and `checkpoints/`.
        report: Called after each step with the number of steps done and the step's metrics.
        trackers: Told about each step.

    Returns:
        The model after the last step.

    Raises:
        TrainingStopped: At a number that is not finite; the message names step, place and checkpoint.
    """
    base = fingerprint(start.model)
    lm, anchor = trainable(start, config)
    optimiser = torch.optim.Adam([p for p in lm.model.parameters() if p.requires_grad], lr=config.lr)
    checkpoints, metrics = folder / "checkpoints", folder / "metrics.jsonl"
    state = TrainerState.first(config, [game.name for game in games])
    done, newest = 0, None
    for newest in step_folders(checkpoints)[-1:]:
        done, saved = load_step(newest, lm.model, optimiser, base)
        state = TrainerState.from_json(saved)
    lines = read_lines(metrics)
    write_lines(metrics, [line for line in lines if line["stage"] != "train" or line["step"] < done])
    usual = [
        [row for of in canonical_rows(lm, game, distinct_prompts(game)) for row in of]
        for game in games
        if game.enumerable
    ]
    reference = ReferenceScores(anchor, config.temperature, usual)
    for step in range(done, config.steps):
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(config, step)
        started = time.perf_counter()
        line, state = _step(lm, games, config, step, optimiser, reference, state, newest)
        if (step + 1) % config.checkpoint_every == 0 or step + 1 == config.steps:
            newest = save_step(checkpoints, lm.model, optimiser, step + 1, base, state.to_json(), KEEP_EVERY)
        line["seconds"] |= {"total": time.perf_counter() - started}
        append_line(metrics, line)
        for tracker in trackers:
            tracker.log(step, line)
        report(step + 1, line)
    return lm


def trainable(start: LanguageModel, config: RunConfig) -> tuple[LanguageModel, LanguageModel]:
    """The model in training, and what its KL reference is computed with (itself, with the adapter off, under LoRA)."""
    if config.tune == "lora":
        lm = start.with_model(add_lora(start.model, config.rank, config.seed, ATTENTION))
        return lm, lm
    whole = copy.deepcopy(start.model).requires_grad_(True)
    start.model.requires_grad_(False)
    return start.with_model(whole), start


def learning_rate(config: RunConfig, step: int) -> float:
    """Constant for half of the steps, then falling linearly to a tenth, so that the last policy is a settled one."""
    left = 1 - step / config.steps
    return config.lr * min(1.0, 0.1 + 0.9 * 2 * left)


def _step(
    lm: LanguageModel,
    games: Sequence[Game],
    config: RunConfig,
    step: int,
    optimiser: torch.optim.Optimizer,
    reference: ReferenceScores,
    state: TrainerState,
    newest: Path | None,
) -> tuple[dict[str, Any], TrainerState]:
    line: dict[str, Any] = {"stage": "train", "step": step, "games": {}, "seconds": {}}
    place = "the update"
    responders: dict[str, Tables] = {}
    try:
        started = time.perf_counter()
        batches = []
        for game in games:
            place = game.name
            earlier = state.responder(game, step, config)
            played = play_step(lm, game, config, step, state.weights(game.name, config), earlier)
            batches.append(played.rows)
            log = dict(played.log)
            if config.best_response_every > 1 and log["exploiter_surplus"] is not None and log["surplus"] is not None:
                log["staleness_gap"] = log["surplus"] - log["exploiter_surplus"]
            line["games"][game.name] = log
            fresh = played.exploitation.strategy
            if config.best_response_every > 1 and earlier is None and isinstance(fresh, SeatTables):
                responders[game.name] = {
                    str(seat): {key: tuple(map(float, row)) for key, row in table.items()}
                    for seat, table in fresh.tables.items()
                }
        line["seconds"]["play"] = time.perf_counter() - started
        place, started = "the update", time.perf_counter()
        with recompute_activations(lm.model, config.gradient_checkpointing):
            line |= update(lm, optimiser, batches, reference, config, state.beta)
        line["beta"] = state.beta
        line["seconds"]["update"] = time.perf_counter() - started
    except (TrainingStopped, FloatingPointError, ValueError) as error:
        where = f"resume from {newest}" if newest else "there is no checkpoint yet"
        raise TrainingStopped(f"step {step}, {place}: {error}. Training stopped; {where}.") from error
    return line, state.after(line, responders, config)
