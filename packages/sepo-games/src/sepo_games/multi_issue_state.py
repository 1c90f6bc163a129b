"""Histories of a multi-issue negotiation, and what a seat sees of them.

Chance first draws the pool, then seat 0's values, then seat 1's. Where values are redrawn, the third draw is seat 1's *taste*, which
drives scripted demands and pays nothing, and its values are drawn anew before each round. Moves are written one after another: move
number k is seat k mod 2's, with simultaneous demands as with offers in turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sepo_games.multi_issue_values import BUNDLES, POOLS, VALUES, Triple, bundle_of, demands_within
from sepo_games.types import Entry

if TYPE_CHECKING:
    from sepo_games.multi_issue import MultiIssue

ACCEPT = BUNDLES
"""The action that takes the other side's open offer."""


@dataclass(frozen=True)
class MultiIssueView:
    """What a seat sees.

    Attributes:
        seat: Its number.
        pool: How many books, hats, balls there are.
        values: What one of each is worth to it now.
        taste: What drives its scripted demands; its values, unless those are redrawn. No prompt shows it.
        own: Its demands or offers so far, oldest first: what it wants of each item.
        other: The other side's.
        legal: Codes of the demands it may make, and ACCEPT if the other's offer is open.
    """

    seat: int
    pool: Triple
    values: Triple
    taste: Triple
    own: tuple[Triple, ...]
    other: tuple[Triple, ...]
    legal: tuple[int, ...]


@dataclass(frozen=True)
class MultiIssueState:
    """One history.

    Attributes:
        game: The rules.
        drawn: What chance drew so far, as numbers of outcomes.
        moves: Codes of demands or offers so far; move k is seat k mod 2's.
        accepted: Whether the last offer was accepted.
    """

    game: "MultiIssue"
    drawn: tuple[int, ...] = ()
    moves: tuple[int, ...] = ()
    accepted: bool = False

    def is_terminal(self) -> bool:
        """Whether the last round is over or an offer was accepted."""
        return self.accepted or len(self.moves) == 2 * self.game.rounds

    def is_chance_node(self) -> bool:
        """Whether a pool or values are due."""
        if self.is_terminal():
            return False
        redrawn = self.current_round + 1 if self.game.redraw else 0
        return len(self.drawn) < 3 + redrawn

    @property
    def current_round(self) -> int:
        """From 0; one negotiation by offers in turn is one round of values."""
        return 0 if self.game.alternating else len(self.moves) // 2

    def is_simultaneous_node(self) -> bool:
        """Whether both demand at once."""
        return not (self.is_terminal() or self.is_chance_node() or self.game.alternating)

    def current_player(self) -> int:
        """-1 chance, -2 both sides at once, -4 it is over, else the seat whose turn it is."""
        if self.is_terminal():
            return -4
        if self.is_chance_node():
            return -1
        return len(self.moves) % 2 if self.game.alternating else -2

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Numbers of the 64 pools, or of the 36 triples of values."""
        if not self.is_chance_node():
            return []
        if not self.drawn:
            return [(number, 1 / len(POOLS)) for number in range(len(POOLS))]
        return [(number, p) for number, (_, p) in enumerate(VALUES)]

    @property
    def pool(self) -> Triple:
        """How many books, hats, balls there are."""
        return POOLS[self.drawn[0]]

    def values(self, seat: int, played: int) -> Triple:
        """A seat's values in a round, from 0."""
        place = 3 + played if seat == 1 and self.game.redraw else 1 + seat
        return VALUES[self.drawn[place]][0]

    def taste(self, seat: int) -> Triple:
        """What drives a seat's scripted demands."""
        return VALUES[self.drawn[1 + seat]][0]

    def legal_actions(self, player: int) -> list[int]:
        """Every demand within the pool and, where the other's offer is open, ACCEPT."""
        if self.current_player() in (-2, player):
            return list(self.game.legal(self.pool, self.game.alternating and bool(self.moves)))
        return []

    def information_state_string(self, player: int) -> str:
        """Pool, own taste and values, and all demands in their order with the player's marked, for example `324 235 >100 <224`."""
        if not self.drawn:
            return ""
        known = [self.pool]
        if len(self.drawn) > 1 + player:
            known.append(self.taste(player))
        if player == 1:
            known += [VALUES[number][0] for number in self.drawn[3:]]
        finished = self.moves if self.game.alternating else self.moves[: len(self.moves) // 2 * 2]
        said = [f"{'><'[(k - player) % 2]}{_digits(bundle_of(move))}" for k, move in enumerate(finished)]
        return " ".join([*map(_digits, known), *said])

    def child(self, action: int | Sequence[int]) -> "MultiIssueState":
        """The history after what chance draws, an action, or both sides' demands.

        Raises:
            ValueError: If that cannot happen here.
        """
        if self.is_terminal():
            raise ValueError(f"multi-issue negotiation: {action!r} is not allowed: it is over")
        if self.is_chance_node():
            outcomes = len(self.chance_outcomes())
            if not isinstance(action, int) or not 0 <= action < outcomes:
                raise ValueError(
                    f"multi-issue negotiation: chance cannot draw {action!r}: one of {outcomes} outcomes, 0 to {outcomes - 1}"
                )
            return replace(self, drawn=(*self.drawn, action))
        player = self.current_player()
        given: Sequence[int] = (action,) if isinstance(action, int) else tuple(action)
        together = player == -2
        legal = self.legal_actions(player)
        if isinstance(action, int) is together or len(given) != 1 + together or not {*given} <= {*legal}:
            raise ValueError(
                f"multi-issue negotiation: {action!r} is not allowed with the pool {self.pool}: "
                f"{'one demand for each of two seats' if together else 'one action'}, of {demands_within(self.pool)}"
                f"{f' or {ACCEPT}, ACCEPT' if ACCEPT in legal else ''}"
            )
        if given[0] == ACCEPT:
            return replace(self, accepted=True)
        return replace(self, moves=(*self.moves, *given))

    def returns(self) -> list[float]:
        """What each seat got so far."""
        return [sum(entry.payoffs[seat] for entry in self.entries) for seat in (0, 1)]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """One ledger line a round of demands; one for a negotiation by offers, when it is over."""
        if self.game.alternating:
            if not self.is_terminal():
                return ()
            values = (self.values(0, 0), self.values(1, 0))
            return (self.game.offers_entry(self.pool, values, self.moves, self.accepted),)
        return tuple(
            [
                self.game.demands_entry(
                    self.pool, (self.values(0, r), self.values(1, r)), self.moves[2 * r : 2 * r + 2]
                )
                for r in range(len(self.moves) // 2)
            ]
        )


def _digits(bundle: Triple) -> str:
    return "".join(map(str, bundle))
