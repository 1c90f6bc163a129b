"""A run at the terminal: checks, progress bars, Ctrl-C, and the table at the end."""

import ctypes
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from sepo_games import game_names
from transformers.utils import logging as transformers_logging

from sepo_grpo.config import RunConfig, game_weights, make_config
from sepo_grpo.errors import UserError, reject
from sepo_grpo.measure import can_measure, result_tables
from sepo_grpo.run import resumed_config, run

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEPT_BYTES = 2**30


def session(config: RunConfig | None, folder: Path, progress: bool) -> None:
    """Runs or resumes a job and prints its result.

    Args:
        config: The settings of a new run, or `None` to go on with the run in the folder.
        folder: The run's folder.
        progress: Whether progress may be shown; it never is off a terminal.
    """
    if config is None:
        config = resumed_config(folder, lambda file: make_config({}, file))
    elif (folder / "config.toml").exists():
        raise UserError(f"{str(folder)!r} already holds a run: go on with `--resume {folder}` or choose another --out")
    check(config)
    keep_memory()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    notes = Console(stderr=True, highlight=False)
    notes.print(f"run folder: {folder}", markup=False)
    if not can_measure():
        notes.print("sepo-eval is not installed, so nothing will be measured: `pip install sepo-eval` brings the table")
    try:
        with Bars(notes, progress and sys.stderr.isatty()) as bars:
            summary = run(config, folder, bars.show)
    except KeyboardInterrupt:
        notes.print(
            f"stopped; everything up to the last step is kept. Go on with: sepo-grpo --resume {folder}", markup=False
        )
        raise
    show(summary, folder)


def keep_memory() -> None:
    """Lets glibc keep freed memory: returning every large tensor's pages costs a sixth of a training step on CPU."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "mallopt"):  # glibc; other C libraries go without
            libc.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
            libc.mallopt(M_MMAP_THRESHOLD, KEPT_BYTES)


def check(config: RunConfig) -> None:
    """Refuses names and devices that do not exist, before anything is loaded.

    Raises:
        UserError: With the nearest known names.
    """
    for game in game_weights(config.games):
        if game not in game_names():
            reject("game", game, list(game_names()))
    try:
        torch.empty(0, device=config.device)
    except (RuntimeError, AssertionError) as error:
        raise UserError(
            f"device {config.device!r} is not usable here: choose cpu, or cuda where a GPU is present"
        ) from error


def show(summary: dict[str, Any], folder: Path) -> None:
    """Prints the tables on standard output."""
    out = Console(highlight=False)
    for table in result_tables(summary["rows"]) if summary["rows"] else []:
        out.print(table)
    out.print(f"{summary['seconds'] / 60:.1f} minutes; everything is in {folder}", markup=False)


class Bars:
    """One progress bar with time left for each stage of the run."""

    def __init__(self, console: Console, visible: bool) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<14}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
            disable=not visible,
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> "Bars":
        """Starts drawing."""
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops drawing."""
        self._progress.stop()

    def show(self, stage: str, done: int, total: int, line: dict[str, Any]) -> None:
        """Moves the stage's bar and shows the numbers that matter beside it."""
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(stage, total=total, note="")
        self._progress.update(self._tasks[stage], completed=done, note=note(line))


def note(line: dict[str, Any]) -> str:
    """A few words on a line of metrics."""
    if "games" in line:
        return "  ".join(
            f"{name}: surplus {log['surplus']:+.3f} payoff {log['payoff']:+.3f}" for name, log in line["games"].items()
        )
    return f"loss {line['loss']:.3f}" if "loss" in line else ""
