"""What two-player games of simultaneous rounds share: histories, views, information sets, and one action exchanged for another.

Nothing is hidden and chance does not move: a history is the joint actions so far. Prompts show the round and the last outcome, so a seat
has 1 + n m (rounds - 1) information sets where it has n actions and the other m.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from sepo_games.types import Entry, InfoSet

Joint = tuple[int, int]


class RoundsGame(Protocol):
    """What a history asks of its game."""

    @property
    def rounds(self) -> int:
        """Announced number of rounds."""
        ...

    @property
    def asked(self) -> tuple[str, str]:
        """What an illegal joint action is called in the error, and what is needed instead."""
        ...

    def actions(self, seat: int) -> tuple[int, ...]:
        """A seat's actions, the same in every round."""
        ...

    def pair(self, own: int, other: int) -> str:
        """How a joint action is written, own action first."""
        ...

    def entry(self, joint: Joint) -> Entry:
        """The ledger line of a round."""
        ...


@dataclass(frozen=True)
class RoundsView:
    """What a seat sees: both players' actions so far, oldest first."""

    seat: int
    own: tuple[int, ...]
    other: tuple[int, ...]
    legal: tuple[int, ...]


@dataclass(frozen=True)
class RoundsState:
    """One history: the joint actions so far, seat 0 first."""

    game: Any
    played: tuple[Joint, ...] = ()

    def is_terminal(self) -> bool:
        """Whether the last round is over."""
        return bool(len(self.played) == self.game.rounds)

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
        return [] if self.is_terminal() else list(self.game.actions(player))

    def information_state_string(self, player: int) -> str:
        """The whole history from the player's side, for example `0,1 1,1`."""
        return " ".join(self.game.pair(joint[player], joint[1 - player]) for joint in self.played)

    def child(self, action: Sequence[int]) -> Self:
        """The history after a round.

        Raises:
            ValueError: If the game is over or an action is not one of its.
        """
        joint = tuple(action)
        fits = len(joint) == 2 and all(joint[seat] in self.game.actions(seat) for seat in (0, 1))
        if self.is_terminal() or not fits:
            what, needed = self.game.asked
            raise ValueError(
                f"{what} {joint} after {len(self.played)} of {self.game.rounds} rounds are not allowed: {needed}"
            )
        return replace(self, played=(*self.played, (joint[0], joint[1])))

    def returns(self) -> list[float]:
        """Payoffs of each seat so far."""
        return [sum(entry.payoffs[seat] for entry in self.entries) for seat in (0, 1)]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """One ledger line a round."""
        return tuple([self.game.entry(joint) for joint in self.played])


def sides(state: RoundsState, seat: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A seat's own actions so far and the other's."""
    return tuple([joint[seat] for joint in state.played]), tuple([joint[1 - seat] for joint in state.played])


def rounds_view(state: RoundsState, seat: int) -> RoundsView:
    """What a seat sees at its decision."""
    return RoundsView(seat, *sides(state, seat), state.game.actions(seat))


def last_outcome_key(game: RoundsGame, view: RoundsView) -> str:
    """Round and last outcome, own action first, for example `3:0,1`."""
    return f"{len(view.own) + 1}:" + (game.pair(view.own[-1], view.other[-1]) if view.own else "")


def last_outcome_infosets(game: RoundsGame, seat: int) -> tuple[InfoSet, ...]:
    """The first round, then for each later round the last outcomes, by own and then by the other's action."""
    legal, others = game.actions(seat), game.actions(1 - seat)
    views = [RoundsView(seat, (), (), legal)]
    for past in range(1, game.rounds):
        views += [RoundsView(seat, (a,) * past, (b,) * past, legal) for a in legal for b in others]
    return tuple(InfoSet(last_outcome_key(game, view), view, view.legal) for view in views)


def replaced(joint: Joint, seat: int, action: int) -> Joint:
    """A joint action in which one seat acts otherwise."""
    return (action, joint[1]) if seat == 0 else (joint[0], action)
