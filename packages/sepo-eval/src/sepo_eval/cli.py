"""The `sepo-eval` command: `ls`, `scripted` and `report`. Standard output is data; exit 0 done, 2 user error."""

import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NoReturn

from cyclopts import App, CycloptsError, Parameter
from pydantic import ValidationError
from rich.console import Console
from sepo_games import Game, game_names, get_game

from sepo_eval.row import Row
from sepo_eval.scripted import scripted_rows
from sepo_eval.tables import result_tables

app = App(
    name="sepo-eval",
    version=version("sepo-eval"),
    help="Measure how well and how safely policies play strategic games.",
    help_format="plaintext",
)
Games = Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative="")]


@app.command
def ls() -> None:
    """Lists the installed games with their pools of opponents and yardstick strategies."""
    out = Console(highlight=False, soft_wrap=True)
    for name in game_names():
        game = get_game(name)
        out.print(f"{name}: {game.rounds} {game.unit}s, outsiders: {', '.join(game.outsiders) or 'none'}", markup=False)
        for pool, opponents in game.pools("sepo").items():
            out.print(f"  {pool}: {', '.join(opponents) or '-'}", markup=False)
        out.print(f"  strategies: {', '.join(game.strategies)}", markup=False)


@app.command
def scripted(
    games: Games = (),
    *,
    strategies: Games = (),
    preset: str = "sepo",
    episodes: int = 32,
    seed: int = 0,
    out: Path | None = None,
) -> None:
    """Measures scripted strategies exactly as a model is measured and prints the table.

    Args:
        games: Games by name; all by default.
        strategies: Strategies by name; each game's yardsticks by default.
        preset: sepo or paper.
        episodes: Seeds for each opponent, each played from both seats; at least 2.
        seed: Seed of deals and coins.
        out: Also write the rows to this JSON file.
    """
    rows = []
    for name in games or game_names():
        game = _game(name, preset)
        for strategy in strategies:
            if strategy not in game.strategies:
                fail(f"{name} has no strategy {strategy!r}: choose from {', '.join(game.strategies)}")
        try:
            rows += scripted_rows(game, preset, episodes, seed, strategies or game.yardsticks)
        except ValueError as error:
            fail(str(error))
    _print(rows)
    if out is not None:
        try:
            out.write_text(json.dumps({"schema_version": 1, "rows": [row.model_dump() for row in rows]}), "utf-8")
        except OSError as error:
            fail(f"{out} cannot be written: {error.strerror}")


@app.command
def report(run: Path) -> None:
    """Prints the table of a finished run again.

    Args:
        run: The run's folder, or its summary.json.
    """
    file = run / "summary.json" if run.is_dir() else run
    try:
        rows = [Row.model_validate(row) for row in json.loads(file.read_text("utf-8"))["rows"]]
    except FileNotFoundError:
        fail(f"there is no {file}: give the folder of a finished run")
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        fail(f"{file} is not the summary of a run: {error}")
    _print(rows)


def _game(name: str, preset: str) -> Game:
    try:
        return get_game(name, preset)
    except (ValueError, ImportError) as error:
        fail(str(error))


def _print(rows: Sequence[Row]) -> None:
    console = Console(highlight=False)
    for table in result_tables(rows):
        console.print(table)


def fail(message: str) -> NoReturn:
    """Prints one line and exits with 2."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"sepo-eval: {' '.join(message.split())}", markup=False)
    sys.exit(2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: user errors become one line and exit code 2."""
    try:
        app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        fail(str(error))
