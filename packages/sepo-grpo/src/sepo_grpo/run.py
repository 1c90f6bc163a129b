"""The whole job: evaluate the base model, warm-start by SFT, train by SEPO-GRPO, evaluate again, report.

    RUN/config.toml      every setting
    RUN/metrics.jsonl    a line for each SFT and RL step
    RUN/episodes.jsonl   every evaluation episode, with prompts' information sets, replies and payoffs
    RUN/rows/            what was measured about base, sft and sepo, and their policies at every information set
    RUN/checkpoints/     the SFT policy and the RL adapter
    RUN/summary.json     the table
    RUN/training.png     exploitability and payoff over steps

Every stage is skipped where its result is already there, which is all that `--resume` needs.
"""

import json
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from sepo_games import Game, game_names, get_game
from sepo_penalties import solvable

from sepo_grpo.adapters import ATTENTION_AND_MLP, add_lora, load_lora, merge
from sepo_grpo.config import RunConfig, dump_config
from sepo_grpo.errors import UserError
from sepo_grpo.files import append_line, read_lines, to_json, write_folder, write_lines, write_text
from sepo_grpo.language_model import LanguageModel
from sepo_grpo.measure import can_measure, measure_model, measure_scripted
from sepo_grpo.models import NANO, load_model, load_pretrained
from sepo_grpo.plots import plot_training
from sepo_grpo.sft import sft_data, sft_loss, train_sft
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
    write_text(folder / "config.toml", dump_config(config))
    base = load_model(config.model, prompt_texts(games), config.seed, config.device)
    _measure(base, "base", games, config, folder, report)
    sft = _sft(base, games, config, folder, report)
    _measure(sft, "sft", games, config, folder, report)
    sepo = train(sft, games, config, folder, lambda done, line: report("SEPO", done, config.steps, line))
    _measure(sepo, "sepo", games, config, folder, report)
    return _summarise(games, config, folder, time.time() - started)


def games_of(config: RunConfig) -> list[Game]:
    """The games that the settings name."""
    full = {"history": config.history} if config.history != "last" else {}
    try:
        games = [get_game(name, config.preset, **full) for name in config.games]
    except ValueError as error:
        raise UserError(str(error)) from error
    for game in games:
        if game.num_players() != 2 or not solvable(game):
            raise UserError(
                f"{game.name} cannot be trained: best responses to a policy are found in two-player games whose information sets can be "
                f"listed. Of the installed games choose among {', '.join(name for name in game_names() if solvable(get_game(name)))}"
            )
    return games


def prompt_texts(games: list[Game]) -> list[str]:
    """Every prompt and canonical reply of some games, in a fixed order."""
    texts = []
    for game in games:
        for seat in range(game.num_players()):
            for infoset in game.infosets(seat):
                texts += [message["content"] for message in game.render(infoset.view)]
                texts += [game.reply(infoset.view, action) for action in infoset.legal]
    return texts


def _measure(lm: LanguageModel, row: str, games: list[Game], config: RunConfig, folder: Path, report: Report) -> None:
    if can_measure():
        report(f"measure {row}", 0, 1, {})
        measure_model(lm, row, games, config, folder)
        report(f"measure {row}", 1, 1, {})


def _sft(base: LanguageModel, games: list[Game], config: RunConfig, folder: Path, report: Report) -> LanguageModel:
    """The SFT policy: from its checkpoint, or trained now."""
    kept = folder / "checkpoints" / "sft"
    if config.model == NANO:
        if (kept / "config.json").exists():
            return load_pretrained(NANO, str(kept), config.device)
        _warm_start(base, games, config, folder, report)
        write_folder(kept, lambda target: _save(base.model, target, base.tokenizer))
        base.model.requires_grad_(False)
        return base.with_model(base.model)
    adapted = base.with_model(add_lora(base.model, config.rank, config.seed, ATTENTION_AND_MLP))
    if (kept / "adapter_config.json").exists():
        load_lora(adapted.model, kept)
    else:
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

    train_sft(lm, rows, config.sft_steps, config.sft_lr, log)
    with torch.no_grad():
        validation = sum(sft_loss(lm, of_game).item() for of_game in held_out)
    append_line(metrics, {"stage": "sft", "step": config.sft_steps, "validation_loss": validation})


def _summarise(games: list[Game], config: RunConfig, folder: Path, seconds: float) -> dict[str, Any]:
    lines = [line for line in read_lines(folder / "metrics.jsonl") if line["stage"] == "train"]
    plot_training(lines, {game.name: game.unit for game in games}, folder / "training.png")
    rows = []
    if can_measure():
        rows = measure_scripted(games, config)
        for name in ("base", "sft", "sepo"):
            rows += json.loads((folder / "rows" / f"{name}.json").read_text())["rows"]
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
    file = folder / "config.toml"
    if not file.exists():
        raise UserError(f"there is no run in {str(folder)!r}: --resume takes the folder that an earlier run printed")
    return load(file)
