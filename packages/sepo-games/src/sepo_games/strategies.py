"""Building blocks of scripted strategies: rules as distributions over actions, and tables.

A strategy says how likely it plays each action at a view (`probs`). The move that it makes with a coin follows from that:
`strategy(view, coin)` is the action whose interval of the cumulative probability, in the order of actions, holds the coin.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sepo_games.coins import draw
from sepo_games.types import Game, InfoSet

Rows = Mapping[str, Sequence[float]]
"""Information set to a probability for every action of the game."""


@dataclass(frozen=True)
class Scripted:
    """A strategy given by a rule from a view to action probabilities.

    Attributes:
        rule: The rule.
        markov: Whether it looks at no more of the view than the default prompt shows.
        memory: What a rule that is not Markov looks at beyond that, as a small hashable value, for example whether the other ever
            defected. It must follow from the value before and the round between; `vector` plays faster with it.
    """

    rule: Callable[[Any], Sequence[float]]
    markov: bool = True
    memory: Callable[[Any], Hashable] | None = None

    def probs(self, view: Any) -> Sequence[float]:
        """Probability of every action of the game."""
        return self.rule(view)

    def __call__(self, view: Any, coin: float) -> int:
        """The action that a coin, uniform on [0, 1), picks."""
        return draw(self.rule(view), coin)


@dataclass(frozen=True)
class SeatTables:
    """A strategy given by a table for each seat that it can sit in.

    Attributes:
        game: Finds the information set of a view.
        tables: Seat to information set to a probability for every action of the game.

    Raises:
        ValueError: If a seat or information set is not the game's, or a row is no distribution over its legal actions.
    """

    game: Game
    tables: Mapping[int, Rows]
    markov: bool = True

    def __post_init__(self) -> None:
        """Checks every row."""
        for seat, table in self.tables.items():
            if seat not in range(self.game.num_players()):
                raise ValueError(f"{self.game.name} has no seat {seat}: seats are 0 to {self.game.num_players() - 1}")
            check_rows(self.game, self.game.infosets(seat), table)

    def probs(self, view: Any) -> Sequence[float]:
        """Probability of every action of the game.

        Raises:
            KeyError: If the tables do not hold the view's seat or information set.
        """
        return self.tables[view.seat][self.game.key(view)]

    def __call__(self, view: Any, coin: float) -> int:
        """The action that a coin, uniform on [0, 1), picks."""
        return draw(self.probs(view), coin)


@dataclass(frozen=True)
class TableStrategy:
    """A strategy given by one table for whatever seat it sits in.

    Seats whose information sets have the same names (all but Kuhn poker's) share their rows; in Kuhn poker the twelve names differ,
    so one table can hold both seats.

    Attributes:
        game: Finds the information set of a view.
        table: Information set to a probability for every action of the game.

    Raises:
        ValueError: If an information set is not the game's, or a row is no distribution over its legal actions.
    """

    game: Game
    table: Rows
    markov: bool = True

    def __post_init__(self) -> None:
        """Checks every row."""
        infosets = [infoset for seat in range(self.game.num_players()) for infoset in self.game.infosets(seat)]
        check_rows(self.game, infosets, self.table)

    def probs(self, view: Any) -> Sequence[float]:
        """Probability of every action of the game.

        Raises:
            KeyError: If the table does not hold the view's information set.
        """
        return self.table[self.game.key(view)]

    def __call__(self, view: Any, coin: float) -> int:
        """The action that a coin, uniform on [0, 1), picks."""
        return draw(self.probs(view), coin)


def check_rows(game: Game, infosets: Sequence[InfoSet], table: Rows) -> None:
    """Refuses a table with a row that no strategy can play.

    Raises:
        ValueError: Naming the row: an information set that is not among `infosets`, a row that has not one number for each of the
            game's actions, or numbers that are no distribution over the legal actions.
    """
    legal = {infoset.key: infoset.legal for infoset in infosets}
    for key, row in table.items():
        where = f"{game.name}, information set {key!r}"
        if key not in legal:
            raise ValueError(f"{where}: there is none of that name here; there are {', '.join(map(repr, legal))}")
        check_distribution(where, row, game.num_actions, legal[key])


def check_distribution(where: str, row: Sequence[float], num_actions: int, legal: Sequence[int]) -> None:
    """Refuses numbers that are no distribution over the legal ones of `num_actions` actions.

    Raises:
        ValueError: Beginning with `where`.
    """
    numbers = np.asarray(row, dtype=np.float64)
    if numbers.shape != (num_actions,):
        raise ValueError(f"{where}: shape {numbers.shape}, but the game has {num_actions} actions")
    if not (numbers >= 0).all() or abs(numbers.sum() - 1) > 1e-6:
        raise ValueError(f"{where}: {numbers.tolist()} is no distribution: numbers from 0 to 1, together 1, are needed")
    illegal = [action for action in range(num_actions) if numbers[action] > 0 and action not in legal]
    if illegal:
        raise ValueError(f"{where}: actions {illegal} are not legal here; legal are {list(legal)}")


def pure(action: int, n: int) -> tuple[float, ...]:
    """The distribution that always plays one action of `n`."""
    return tuple(float(a == action) for a in range(n))


def uniform(n: int) -> Scripted:
    """Every legal action with the same probability."""

    def rule(view: Any) -> Sequence[float]:
        return tuple((a in view.legal) / len(view.legal) for a in range(n))

    return Scripted(rule)
