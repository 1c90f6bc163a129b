"""The SEPO-GRPO loop: `steps` updates from the SFT policy, with a checkpoint and a line of metrics after each.

A step depends on the weights, the optimiser and the step's number only, so a run that is stopped and resumed from a
checkpoint computes what an uninterrupted run computes.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from sepo_games import Game

from sepo_grpo.adapters import ATTENTION, add_lora, fingerprint
from sepo_grpo.checkpoints import load_step, save_step, step_folders
from sepo_grpo.config import RunConfig
from sepo_grpo.errors import TrainingStopped
from sepo_grpo.files import append_line, read_lines, write_lines
from sepo_grpo.language_model import LanguageModel
from sepo_grpo.step import canonical_rows, distinct_prompts, play_step
from sepo_grpo.update import ReferenceScores, update

KEEP_EVERY = 20
"""Checkpoints at multiples of this step stay; of the others only the last one does."""


def train(
    sft: LanguageModel,
    games: Sequence[Game],
    config: RunConfig,
    folder: Path,
    report: Callable[[int, dict[str, Any]], None],
) -> LanguageModel:
    """Trains a fresh adapter on the SFT policy, or goes on from the newest checkpoint in the folder.

    Args:
        sft: The SFT policy; its weights are frozen and serve as the KL reference.
        games: The games to train on; their losses are added.
        config: The run's settings.
        folder: The run's folder, which gets `metrics.jsonl` and `checkpoints/`.
        report: Called after each step with the number of steps done and the step's metrics.

    Returns:
        The model after the last step.

    Raises:
        TrainingStopped: At a number that is not finite; the message names step, place and checkpoint.
    """
    base = fingerprint(sft.model)
    lm = sft.with_model(add_lora(sft.model, config.rank, config.seed, ATTENTION))
    optimiser = torch.optim.Adam([p for p in lm.model.parameters() if p.requires_grad], lr=config.lr)
    checkpoints, metrics = folder / "checkpoints", folder / "metrics.jsonl"
    done, newest = 0, None
    for newest in step_folders(checkpoints)[-1:]:
        done = load_step(newest, lm.model, optimiser, base)
    lines = read_lines(metrics)
    write_lines(metrics, [line for line in lines if line["stage"] != "train" or line["step"] < done])
    usual = [
        [row for of in canonical_rows(lm, game, distinct_prompts(game)) for row in of]
        for game in games
        if game.enumerable
    ]
    reference = ReferenceScores(lm, config.temperature, usual)
    for step in range(done, config.steps):
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(config, step)
        started = time.perf_counter()
        line = _step(lm, games, config, step, optimiser, reference, newest)
        if (step + 1) % config.checkpoint_every == 0 or step + 1 == config.steps:
            newest = save_step(checkpoints, lm.model, optimiser, step + 1, base, KEEP_EVERY)
        line["seconds"] |= {"total": time.perf_counter() - started}
        append_line(metrics, line)
        report(step + 1, line)
    return lm


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
    newest: Path | None,
) -> dict[str, Any]:
    line: dict[str, Any] = {"stage": "train", "step": step, "games": {}, "seconds": {}}
    place = "the update"
    try:
        started = time.perf_counter()
        batches = []
        for game in games:
            place = game.name
            played = play_step(lm, game, config, step)
            batches.append(played.rows)
            line["games"][game.name] = played.log | {"rows": len(played.rows.rows)}
        line["seconds"]["play"] = time.perf_counter() - started
        place, started = "the update", time.perf_counter()
        line |= update(lm, optimiser, batches, reference, config)
        line["seconds"]["update"] = time.perf_counter() - started
    except (TrainingStopped, FloatingPointError, ValueError) as error:
        where = f"resume from {newest}" if newest else "there is no checkpoint yet"
        raise TrainingStopped(f"step {step}, {place}: {error}. Training stopped; {where}.") from error
    return line
