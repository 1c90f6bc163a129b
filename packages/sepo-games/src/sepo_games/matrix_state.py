"""Histories of a repeated matrix game, and what a seat sees of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sepo_games.types import Entry

if TYPE_CHECKING:
    from sepo_games.matrix import Matrix

Joint = tuple[int, int]


@dataclass(frozen=True)
class MatrixView:
    """What a seat sees: both players' actions so far, oldest first."""

    seat: int
    own: tuple[int, ...]
    other: tuple[int, ...]
    legal: tuple[int, ...]


@dataclass(frozen=True)
class MatrixState:
    """One history: the joint actions so far, seat 0 first."""

    game: "Matrix"
    played: tuple[Joint, ...] = ()

    def is_terminal(self) -> bool:
        """Whether the last round is over."""
        return len(self.played) == self.game.rounds

    def is_chance_node(self) -> bool:
        """Never."""
        return False

    def is_simultaneous_node(self) -> bool:
        """Whether a round is to be played."""
        return not self.is_terminal()

    def current_player(self) -> int:
        """-2 both players at once, -4 the game is over."""
        return -4 if self.is_terminal() else -2

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """None."""
        return []

    def legal_actions(self, player: int) -> list[int]:
        """All of the player's, until the end."""
        return [] if self.is_terminal() else list(range(self.game.shape[player]))

    def information_state_string(self, player: int) -> str:
        """The whole history from the player's side, for example `0,1 1,1`."""
        return " ".join(f"{joint[player]},{joint[1 - player]}" for joint in self.played)

    def child(self, action: Sequence[int]) -> "MatrixState":
        """The history after a round."""
        joint = tuple(action)
        shape = self.game.shape
        if self.is_terminal() or len(joint) != 2 or any(a not in range(n) for a, n in zip(joint, shape, strict=True)):
            raise ValueError(
                f"matrix game: actions {joint} after {len(self.played)} of {self.game.rounds} rounds are not allowed: "
                f"a row below {shape[0]} and a column below {shape[1]} each round"
            )
        return MatrixState(self.game, (*self.played, (joint[0], joint[1])))

    def returns(self) -> list[float]:
        """Payoffs of each seat so far."""
        return [sum(entry.payoffs[seat] for entry in self.entries) for seat in (0, 1)]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """One ledger line a round."""
        return tuple(self.game.entry(joint) for joint in self.played)
