"""Trackers beside `metrics.jsonl`: tensorboard, trackio and wandb, each imported only if it is asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from sepo_grpo.errors import UserError, reject


class Tracker(Protocol):
    """Something that is told about training."""

    def log(self, step: int, line: Mapping[str, Any]) -> None:
        """Takes a step's line of metrics."""
        ...

    def close(self) -> None:
        """Finishes what is still to be written."""
        ...


def flat_numbers(line: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """The numbers of a nested line of metrics by path, for example `games/kuhn-v1/surplus`."""
    found: dict[str, float] = {}
    for key, value in line.items():
        if isinstance(value, Mapping):
            found |= flat_numbers(value, f"{prefix}{key}/")
        elif isinstance(value, int | float) and key != "step":
            found[f"{prefix}{key}"] = float(value)
    return found


class Tensorboard:
    """Event files in RUN/tensorboard."""

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        self._writer = _module("torch.utils.tensorboard", "tensorboard").SummaryWriter(str(folder / "tensorboard"))
        self._writer.add_text("config", "  \n".join(f"{key} = {value!r}" for key, value in config.items()))

    def log(self, step: int, line: Mapping[str, Any]) -> None:
        """Writes every number as a scalar."""
        for name, value in flat_numbers(line).items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Flushes and closes the event file."""
        self._writer.close()


class WandbLike:
    """wandb, or trackio, which has the same interface; the run's folder name is the run's name."""

    def __init__(self, package: str, folder: Path, config: Mapping[str, Any]) -> None:
        self._module = _module(package, package)
        self._run = self._module.init(project="sepo-grpo", name=folder.name, config=dict(config))

    def log(self, step: int, line: Mapping[str, Any]) -> None:
        """Logs every number."""
        self._run.log(flat_numbers(line), step=step)

    def close(self) -> None:
        """Finishes the run."""
        self._run.finish()


TRACKERS: dict[str, Callable[[Path, Mapping[str, Any]], Tracker]] = {
    "tensorboard": Tensorboard,
    "trackio": lambda folder, config: WandbLike("trackio", folder, config),
    "wandb": lambda folder, config: WandbLike("wandb", folder, config),
}


def open_trackers(names: tuple[str, ...], folder: Path, config: Mapping[str, Any]) -> list[Tracker]:
    """The trackers of these names.

    Raises:
        UserError: If a name is unknown or its package is not installed.
    """
    for name in names:
        if name not in TRACKERS:
            reject("tracker", name, list(TRACKERS))
    return [TRACKERS[name](folder, config) for name in names]


def _module(name: str, package: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise UserError(
            f"tracking with {package} needs its package: run `pip install {package}` or `pip install 'sepo-grpo[{package}]'`"
        ) from error
