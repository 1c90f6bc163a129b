"""Building blocks of scripted strategies: rules as distributions over actions, and tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sepo_games.types import Game


@dataclass(frozen=True)
class Scripted:
    """A strategy given by a rule from a view to action probabilities.

    Attributes:
        rule: The rule.
        markov: Whether it looks at no more of the view than the default prompt shows.
    """

    rule: Callable[[Any], Sequence[float]]
    markov: bool = True

    def probs(self, view: Any) -> Sequence[float]:
        """Probability of every action of the game."""
        return self.rule(view)


@dataclass(frozen=True)
class SeatTables:
    """A strategy given by tables.

    Attributes:
        game: Finds the information set of a view.
        tables: Seat to information set to probabilities of the actions.
    """

    game: Game
    tables: Mapping[int, Mapping[str, Sequence[float]]]
    markov: bool = True

    def probs(self, view: Any) -> Sequence[float]:
        """Probability of every action of the game.

        Raises:
            KeyError: If the tables do not hold the view's seat or information set.
        """
        return self.tables[view.seat][self.game.key(view)]


def pure(action: int, n: int) -> tuple[float, ...]:
    """The distribution that always plays one action of `n`."""
    return tuple(float(a == action) for a in range(n))


def uniform(n: int) -> Scripted:
    """Every legal action with the same probability."""

    def rule(view: Any) -> Sequence[float]:
        return tuple((a in view.legal) / len(view.legal) for a in range(n))

    return Scripted(rule)
