"""What a game must offer. The state interface is OpenSpiel's, so `pyspiel` games fit as they are."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt


class TreeState(Protocol):
    """One history of a game."""

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        ...

    def returns(self) -> Sequence[float]:
        """Payoff of each player at the end."""
        ...

    def current_player(self) -> int:
        """Who is to move."""
        ...

    def is_chance_node(self) -> bool:
        """Whether chance is to move."""
        ...

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """Actions of chance and their probabilities."""
        ...

    def is_simultaneous_node(self) -> bool:
        """Whether all players move at once."""
        ...

    def legal_actions(self, player: int) -> Sequence[int]:
        """What a player may do."""
        ...

    def information_state_string(self, player: int) -> str:
        """What a player knows, as text."""
        ...

    def child(self, action: Any) -> Any:
        """The state after an action, or after a tuple of actions at a simultaneous node."""
        ...


class TreeGame(Protocol):
    """A game with a tree."""

    def num_players(self) -> int:
        """Number of players."""
        ...

    def new_initial_state(self) -> Any:
        """The state before the first move."""
        ...


class TableGame(TreeGame, Protocol):
    """A two-player game whose policies are tables over the information sets of its prompts.

    A game whose method `repeated_form()` gives a form (see `repeated.RepeatedGame`) is solved by dynamic programming
    over rounds; one with a true attribute `public` by dynamic programming over the states that its method `position`
    tells apart (see `stochastic`); any other by its tree, whose information state strings must then be the keys of
    `infosets`.
    """

    @property
    def rounds(self) -> int:
        """Declared rounds or hands of an episode."""
        ...

    @property
    def segments(self) -> int:
        """How many times the tree is played in an episode."""
        ...

    @property
    def num_actions(self) -> int:
        """Columns of a table."""
        ...

    def infosets(self, seat: int) -> Sequence[Any]:
        """A seat's information sets, each with a `key`, in the order of table rows."""
        ...

    def __hash__(self) -> int:
        """Games are compiled once each."""
        ...


Table = Mapping[str, Sequence[float] | npt.NDArray[np.float64]]
"""Information set to a probability for each action of the game."""
