"""The `sepo-grpo` command. Standard output is the result, standard error is progress; exit 0 done, 2 user error, 130 stopped."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

from cyclopts import App, CycloptsError, Parameter
from pydantic import BaseModel
from rich.console import Console

from sepo_grpo import __version__
from sepo_grpo.config import RunConfig, Stage, make_config
from sepo_grpo.errors import UserError
from sepo_grpo.options import Options, given_values

app = App(
    name="sepo-grpo",
    version=__version__,
    help="Train a language model to play strategic games well and safely, and show what changed.\n\n"
    "Without arguments: the embedded 135M model, Kuhn poker and the iterated prisoner's dilemma, under 15 minutes on two cores. "
    "`--model nano` does the same with a tiny model in under 3 minutes.",
    help_format="plaintext",
)


@dataclass(frozen=True)
class Place:
    """Where a run lies.

    Attributes:
        out: Folder of the run; by default a new one under runs/.
        resume: Folder of an earlier run to go on with; its own settings are used.
        config: TOML file with any of these settings, `_` for `-`; options given here win over it.
        no_progress: Print no progress.
    """

    out: Path | None = None
    resume: Path | None = None
    config: Path | None = None
    no_progress: Annotated[bool, Parameter(negative="")] = False


Given = Annotated[Options | None, Parameter(name="*")]  # type: ignore[valid-type]
Where = Annotated[Place | None, Parameter(name="*")]


@app.default
def run(*, place: Where = None, settings: Given = None) -> None:
    """Does everything: evaluation, SFT warm start, SEPO-GRPO, evaluation again."""
    start("run", place or Place(), settings)


app.command(run, name="run")


@app.command
def sft(*, place: Where = None, settings: Given = None) -> None:
    """The SFT warm start alone; its policy is in OUT/checkpoints/sft."""
    start("sft", place or Place(), settings)


@app.command
def train(*, place: Where = None, settings: Given = None) -> None:
    """SEPO-GRPO alone, from --start, or from the model as it is."""
    start("train", place or Place(), settings)


def start(stage: Stage, place: Place, settings: BaseModel | None) -> None:
    """Starts or resumes a run.

    Raises:
        UserError: If settings are given along with `--resume`, or one is not allowed.
    """
    given = given_values(settings)
    from sepo_grpo.session import session  # noqa: PLC0415  (torch is imported only when something is run)

    if place.resume is not None:
        if given or place.out or place.config:
            names = [*sorted(given), *["out"] * bool(place.out), *["config"] * bool(place.config)]
            listed = ", ".join("--" + name.replace("_", "-") for name in names)
            raise UserError(f"--resume goes on with the run's own settings: leave out {listed}")
        session(None, place.resume, progress=not place.no_progress)
        return
    made = make_config(given | {"stage": stage}, place.config)
    session(made, place.out or new_folder(made), progress=not place.no_progress)


def new_folder(config: RunConfig) -> Path:
    """A folder name that no earlier run has."""
    stem = f"{datetime.now():%Y%m%d-%H%M%S}-{Path(config.model).name}-seed{config.seed}"
    return Path("runs") / stem


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: user errors become one line and exit code 2."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except (UserError, CycloptsError) as error:
        errors.print(f"sepo-grpo: {' '.join(str(error).split())}", markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        errors.print("sepo-grpo: stopped", markup=False)
        sys.exit(130)
    except BrokenPipeError:
        os._exit(0)
