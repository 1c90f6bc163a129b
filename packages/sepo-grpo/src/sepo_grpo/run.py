"""The whole job: evaluate the base model, warm-start by SFT, train by SEPO-GRPO, evaluate again, report.

    RUN/config.toml      every setting
    RUN/metrics.jsonl    a line for each SFT and RL step
    RUN/episodes.jsonl   every evaluation episode, with prompts' information sets, replies and payoffs
    RUN/rows/            what was measured about base, sft and sepo, and their policies at every information set
    RUN/checkpoints/     the SFT policy and the RL adapter
    RUN/summary.json     the table
    RUN/training.png     exploitability and payoff over steps

Stage `sft` leaves out SEPO-GRPO, stage `train` the warm start; `base` is what the run begins with. Everything is skipped where its result is
already there, which is all that `--resume` needs.
"""

import json
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from sepo_games import Game

from sepo_grpo.adapters import ATTENTION_AND_MLP, add_lora, merge
from sepo_grpo.chain import base_policy, games_of, trains_whole, with_adapter
from sepo_grpo.config import RunConfig, dump_config
from sepo_grpo.errors import UserError
from sepo_grpo.files import append_line, read_lines, to_json, write_folder, write_lines, write_text
from sepo_grpo.language_model import LanguageModel
from sepo_grpo.measure import can_measure, measure_model, measure_scripted
from sepo_grpo.memory import recompute_activations
from sepo_grpo.models import load_pretrained
from sepo_grpo.plots import plot_training
from sepo_grpo.sft import sft_data, sft_loss, train_sft
from sepo_grpo.starts import CONFIG
from sepo_grpo.track import open_trackers
from sepo_grpo.train import train

Report = Callable[[str, int, int, dict[str, Any]], None]
"""Called with the stage, steps done, steps in all and the newest metrics."""


def run(config: RunConfig, folder: Path, report: Report) -> dict[str, Any]:
    """Runs every stage that is not done yet and returns the summary.

    Args:
        config: The run's settings.
        folder: The run's folder.
        report: Told about progress.
    """
    started = time.time()
    games = games_of(config)
    lm = base_policy(config)
    write_text(folder / CONFIG, dump_config(config))
    trackers = open_trackers(config.track, folder, config.model_dump(mode="json"))
    _measure(lm, "base", games, config, folder, report)
    if config.stage != "train":
        lm = _sft(lm, games, config, folder, report)
        _measure(lm, "sft", games, config, folder, report)
    if config.stage != "sft":
        lm = train(lm, games, config, folder, lambda done, line: report("SEPO", done, config.steps, line), trackers)
        _measure(lm, "sepo", games, config, folder, report)
    for tracker in trackers:
        tracker.close()
    return _summarise(games, config, folder, time.time() - started)


def _measure(lm: LanguageModel, row: str, games: list[Game], config: RunConfig, folder: Path, report: Report) -> None:
    if can_measure():
        report(f"measure {row}", 0, 1, {})
        measure_model(lm, row, games, config, folder)
        report(f"measure {row}", 1, 1, {})


def _sft(base: LanguageModel, games: list[Game], config: RunConfig, folder: Path, report: Report) -> LanguageModel:
    """The SFT policy: from its checkpoint, or trained now."""
    kept = folder / "checkpoints" / "sft"
    if trains_whole(config):
        if (kept / "config.json").exists():
            return load_pretrained(config.model, str(kept), config)
        base.model.requires_grad_(True)
        _warm_start(base, games, config, folder, report)
        write_folder(kept, lambda target: _save(base.model, target, base.tokenizer))
        base.model.requires_grad_(False)
        return base.with_model(base.model)
    if (kept / "adapter_config.json").exists():
        return with_adapter(base, config, kept, ATTENTION_AND_MLP)
    adapted = base.with_model(add_lora(base.model, config.rank, config.seed, ATTENTION_AND_MLP))
    _warm_start(adapted, games, config, folder, report)
    write_folder(kept, lambda target: _save(adapted.model, target))
    return base.with_model(merge(adapted.model))


def _save(model: Any, target: Path, tokenizer: Any = None) -> None:
    model.save_pretrained(target)
    if tokenizer is not None:
        tokenizer.save_pretrained(target)


def _warm_start(lm: LanguageModel, games: list[Game], config: RunConfig, folder: Path, report: Report) -> None:
    rows, held_out = sft_data(lm, games, config.preset, config.sft_decisions, config.sft_form, config.seed)
    metrics = folder / "metrics.jsonl"
    write_lines(metrics, [])
    clock = time.perf_counter()

    def log(step: int, loss: float) -> None:
        nonlocal clock
        now = time.perf_counter()
        append_line(metrics, {"stage": "sft", "step": step, "loss": loss, "seconds": {"total": now - clock}})
        clock = now
        report("SFT", step + 1, config.sft_steps, {"loss": loss})

    with recompute_activations(lm.model, config.gradient_checkpointing):
        train_sft(lm, rows, config.sft_steps, config.sft_lr, log, config.sft_batch, config.seed)
    with torch.no_grad():
        validation = sum(sft_loss(lm, part).item() for of in held_out for part in of.pieces(config.sft_batch))
    append_line(metrics, {"stage": "sft", "step": config.sft_steps, "validation_loss": validation})


def _summarise(games: list[Game], config: RunConfig, folder: Path, seconds: float) -> dict[str, Any]:
    lines = [line for line in read_lines(folder / "metrics.jsonl") if line["stage"] == "train"]
    plot_training(lines, {game.name: game.unit for game in games}, folder / "training.png")
    rows = []
    if can_measure():
        rows = measure_scripted(games, config)
        for name in ("base", "sft", "sepo"):
            measured = folder / "rows" / f"{name}.json"
            rows += json.loads(measured.read_text())["rows"] if measured.exists() else []
    packages = ("sepo-penalties", "sepo-games", "sepo-grpo", "torch", "transformers", "peft", "numpy")
    summary = {
        "schema_version": 1,
        "rows": rows,
        "config": config.model_dump(mode="json"),
        "versions": {name: version(name) for name in packages},
        "seconds": seconds,
    }
    write_text(folder / "summary.json", to_json(summary))
    return summary


def resumed_config(folder: Path, load: Callable[[Path], RunConfig]) -> RunConfig:
    """The settings of a run that is to go on.

    Raises:
        UserError: If the folder is not a run.
    """
    file = folder / CONFIG
    if not file.exists():
        raise UserError(f"there is no run in {str(folder)!r}: --resume takes the folder that an earlier run printed")
    return load(file)
