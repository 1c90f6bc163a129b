"""Strategies of the Axelrod library as opponents in the iterated prisoner's dilemma.

Axelrod's players carry state from round to round; ours are functions of what they see. So a fresh player is led through the history
in the view: in every past round it is asked for its move, as it was then, and told what came out. The answer to the next question is the
move. That is what happens to it in Axelrod's own match, with noise too. Players that draw random numbers have no such function, and
players that read or change their opponent's mind have no opponent here; both are refused.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from math import inf
from typing import Any

from sepo_games.ipd import Ipd
from sepo_games.strategies import Scripted, pure

REFUSED = {
    "stochastic": "draws random numbers of its own",
    "inspects_source": "reads its opponent's program",
    "manipulates_source": "changes its opponent's program",
    "manipulates_state": "changes its opponent's state",
}
"""Axelrod's classifiers of players that no function of the history can stand for."""


def axelrod_strategy(name: str, game: Ipd, **options: Any) -> Scripted:
    """A deterministic strategy of the Axelrod library.

    A move takes time linear in the number of past rounds.

    Args:
        name: Name of its class, for example `TitForTat`.
        game: The dilemma that it plays: strategies may use its points, its noise and, where it is announced, its length.
        **options: Arguments of the class, for example `cycle="DC"` of `Cycler`.

    Returns:
        A strategy that counts as Markov where Axelrod says that it remembers at most one round.

    Raises:
        ImportError: If Axelrod is not installed.
        ValueError: If there is no such strategy, it does not take the options, or it is not a function of the history.
    """
    axl = _axelrod()
    classes = {cls.__name__: cls for cls in axl.all_strategies}
    if name not in classes:
        near = get_close_matches(name, classes, n=2, cutoff=0.5)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise ValueError(
            f"unknown Axelrod strategy {name!r}: give the name of a class in axelrod.all_strategies.{hint}"
        )
    length = game.rounds if game.continuation is None else inf
    table = axl.Game(r=game.reward, s=game.sucker, t=game.temptation, p=game.punishment)
    moves = (axl.Action.C, axl.Action.D)

    def player() -> Any:
        made = classes[name](**options)
        made.set_match_attributes(length=length, game=table, noise=game.noise)
        return made

    try:
        first = player()
    except TypeError as error:
        raise ValueError(f"Axelrod's {name} does not take the options {', '.join(options)}: {error}") from error
    for classifier, why in REFUSED.items():
        if axl.Classifiers[classifier](first):
            raise ValueError(
                f"Axelrod's {name} {why} ({classifier}): only strategies that follow from the history can be opponents here"
            )

    def rule(view: Any) -> Sequence[float]:
        me, other = player(), axl.Player()
        for own, theirs in zip(view.own, view.other, strict=True):
            me.strategy(other)
            me.update_history(moves[own], moves[theirs])
            other.update_history(moves[theirs], moves[own])
        return pure(moves.index(me.strategy(other)), 2)

    return Scripted(rule, bool(axl.Classifiers["memory_depth"](first) <= 1))


def _axelrod() -> Any:
    try:
        return import_module("axelrod")
    except ImportError as error:
        raise ImportError("Axelrod's strategies need the library: run `pip install 'sepo-games[axelrod]'`") from error
