"""The `sepo-games` command: `ls`, `show`, `play`, `sft` and `check`. Standard output is data; exit 0 done, 1 a game broke a promise, 2 user error."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

import numpy as np

from sepo_games.errors import PRESETS, unknown
from sepo_games.play import MatchUp, play
from sepo_games.registry import game_names, get_game
from sepo_games.release import DECISIONS, json_line, write_release, write_rows
from sepo_games.sft import held_out, sft_rows
from sepo_games.terminal import Person, Quit, score_lines
from sepo_games.testing import BrokenPromise, check_game
from sepo_games.types import Game


class _Parser(argparse.ArgumentParser):
    """Errors in one line, without the usage text."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}. See {self.prog} --help\n")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = _Parser(prog="sepo-games", description="Strategic games in natural language.", allow_abbrev=False)
    top.add_argument("--version", action="version", version=version("sepo-games"))
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], None], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        sub.set_defaults(run=run)
        return sub

    command("ls", _ls, "List the installed games with their pools of opponents.")
    for sub in (
        command("show", _show, "Show a game: rules, a prompt of each seat, legal replies, references, strategies."),
        one := command("play", _play, "Play a game at the terminal against a scripted opponent."),
        check := command("check", _check, "Try every promise of a game's protocol."),
    ):
        sub.add_argument("name", help="registry name, for example kuhn-v1")
        _rules(sub)
    one.add_argument("--vs", metavar="STRATEGY", help="the opponent; by default the first of the train pool")
    one.add_argument("--seat", type=int, default=0, help="your seat, from 0")
    one.add_argument("--seed", type=_seed, help="of deals and of the opponent; by default a new one")
    check.add_argument("--episodes", type=_count, default=200, help="random walks, and episodes of play")
    sft = command("sft", _sft, "Write decisions of scripted strategies as training data, in JSON lines.")
    sft.add_argument("--game", help="registry name")
    sft.add_argument("--n", type=_count, default=8000, help="number of decisions (default 8000)")
    sft.add_argument("--seed", type=_seed, default=0)
    sft.add_argument("--out", type=Path, metavar="FILE", help="train rows; standard output by default, then all rows")
    sft.add_argument("--validation", type=Path, metavar="FILE", help="every tenth episode goes here instead")
    sft.add_argument(
        "--release",
        type=Path,
        metavar="DIR",
        help=f"write all domains and presets, {DECISIONS} decisions each, with card and sums",
    )
    _rules(sft)
    return top


def _rules(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--preset", choices=PRESETS, default="sepo")
    sub.add_argument(
        "--set",
        dest="options",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help="change a rule, for example --set rounds=4",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 32:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {(1 << 32) - 1}")
    return int(text)


def _game(arguments: argparse.Namespace, name: str) -> Game:
    options: dict[str, object] = {}
    for option in arguments.options:
        field, equals, value = option.partition("=")
        if not equals:
            raise ValueError(f"--set {option}: write FIELD=VALUE, for example --set rounds=4")
        try:
            options[field] = _frozen(json.loads(value))
        except json.JSONDecodeError:
            options[field] = value
    return get_game(name, arguments.preset, **options)


def _frozen(value: object) -> object:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _ls(arguments: argparse.Namespace) -> None:
    for name in game_names():
        game = get_game(name)
        print(f"{name}: {game.rounds} {game.unit}s, outsiders: {', '.join(game.outsiders) or 'none'}")
        for pool, opponents in game.pools("sepo").items():
            print(f"  {pool}: {', '.join(opponents) or '-'}")


def _show(arguments: argparse.Namespace) -> None:
    game = _game(arguments, arguments.name)
    print(game.render(game.infosets(0)[0].view)[0]["content"])
    for seat in range(game.num_players()):
        infosets = game.infosets(seat)
        for infoset in (infosets[0], infosets[-1]):
            replies = " | ".join(game.reply(infoset.view, action) for action in infoset.legal[:12])
            more = f" | ... ({len(infoset.legal)} in all)" if len(infoset.legal) > 12 else ""
            print(f"\nseat {seat}, information set {infoset.key!r} of {len(infosets)}")
            print(f"  {game.render(infoset.view)[1]['content']}")
            print(f"  replies: {replies}{more}")
    print(f"\noutsiders: {', '.join(game.outsiders) or 'none'}")
    references = ", ".join(f"{r:g}" for r in game.references)
    print(
        f"reference ({game.reference}): the opponent's payoff a {game.unit} for each seat of the learner: {references}"
    )
    for pool, opponents in game.pools(arguments.preset).items():
        print(f"{pool}: {', '.join(opponents) or '-'}")
    print(f"held out: {', '.join(game.held_out) or '-'}")


def _play(arguments: argparse.Namespace) -> None:
    game = _game(arguments, arguments.name)
    name = arguments.vs or game.pools(arguments.preset)["train"][0]
    if name not in game.strategies:
        raise ValueError(unknown("strategy", name, tuple(game.strategies)))
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if arguments.seed is None else arguments.seed
    match_up = MatchUp(game, arguments.seat, name, game.strategies[name], "train", 0, 0)
    print(f"{game.name} against {name}, seed {seed}; end with Ctrl-D")
    try:
        episodes = play([match_up], Person(game), seed, retries=2)
    except Quit:
        print("\nYou left the game.")
        return
    print("\n".join(score_lines(game, episodes[0])))


def _sft(arguments: argparse.Namespace) -> None:
    if (arguments.release is None) == (arguments.game is None):
        raise ValueError("sft: give either --game NAME or --release DIR")
    if arguments.release is not None:
        for name, digest in write_release(arguments.release, seed=arguments.seed).items():
            print(f"{digest}  {name}")
        return
    rows = sft_rows(_game(arguments, arguments.game), arguments.preset, arguments.n, arguments.seed)
    if arguments.validation is not None:
        out = [row for row in rows if held_out(row.episode)]
        write_rows(arguments.validation, arguments.game, arguments.preset, out)
        rows = [row for row in rows if not held_out(row.episode)]
    if arguments.out is None:
        sys.stdout.writelines(json_line(arguments.game, arguments.preset, row) + "\n" for row in rows)
    else:
        write_rows(arguments.out, arguments.game, arguments.preset, rows)


def _check(arguments: argparse.Namespace) -> None:
    game = _game(arguments, arguments.name)
    check_game(game, episodes=arguments.episodes)
    print(f"{game.name} keeps every promise")


def main(tokens: Sequence[str] | None = None) -> None:
    """Runs the command line."""
    arguments = parser().parse_args(tokens)
    try:
        arguments.run(arguments)
    except BrokenPromise as error:
        sys.exit(f"sepo-games: {arguments.name} breaks a promise: {error}")
    except (ValueError, ImportError, OSError) as error:
        print(f"sepo-games: {error}", file=sys.stderr)
        sys.exit(2)
