"""Histories of the iterated prisoner's dilemma: what both players chose, what came out, and what happens next.

A round is one simultaneous choice; with noise one chance node then turns each player's choice into the other one, independently, with
probability e; with a continuation probability another chance node says whether a further round follows, except after the last that
the rules allow. A round is booked when it is known what came out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from sepo_games.rounds import Joint
from sepo_games.types import Entry

if TYPE_CHECKING:
    from sepo_games.ipd import Ipd

COOPERATE, DEFECT = 0, 1


@dataclass(frozen=True)
class IpdView:
    """What a seat sees: both players' actions as they came out, oldest first."""

    seat: int
    own: tuple[int, ...]
    other: tuple[int, ...]
    legal: tuple[int, ...] = (0, 1)


@dataclass(frozen=True)
class IpdState:
    """One history.

    Attributes:
        game: The rules.
        played: The joint actions as they came out, seat 0 first.
        chosen: The joint choices; without noise they are what came out.
        phase: What happens next: both `choose`, chance may `flip` choices, chance says whether to `continue`, or it is `over`.
    """

    game: "Ipd"
    played: tuple[Joint, ...] = ()
    chosen: tuple[Joint, ...] = ()
    phase: Literal["choose", "flip", "continue", "over"] = "choose"

    def is_terminal(self) -> bool:
        """Whether the last round is over."""
        return self.phase == "over"

    def is_chance_node(self) -> bool:
        """Whether choices may be flipped or another round may follow."""
        return self.phase in {"flip", "continue"}

    def is_simultaneous_node(self) -> bool:
        """Whether a round is to be played."""
        return self.phase == "choose"

    def current_player(self) -> int:
        """-1 chance, -2 both players at once, -4 the game is over."""
        return {"choose": -2, "over": -4}.get(self.phase, -1)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Flips (0 none, 1 seat 0, 2 seat 1, 3 both), or whether another round follows (0 no, 1 yes)."""
        if self.phase == "flip":
            return list(enumerate(self.game.flips))
        if self.phase == "continue" and self.game.continuation is not None:
            return [(0, 1 - self.game.continuation), (1, self.game.continuation)]
        return []

    def legal_actions(self, player: int) -> list[int]:
        """Both actions, where a round is to be played."""
        return [COOPERATE, DEFECT] if self.phase == "choose" else []

    def information_state_string(self, player: int) -> str:
        """The whole history from the player's side, `CD DD`; with noise each round begins with its own choice, `C:DD`."""
        seen = [f"{'CD'[joint[player]]}{'CD'[joint[1 - player]]}" for joint in self.played]
        if self.game.noise:
            seen = [f"{'CD'[choice[player]]}:{out}" for choice, out in zip(self.chosen, seen, strict=False)]
        return " ".join(seen)

    def child(self, action: int | Sequence[int]) -> "IpdState":
        """The history after a round's choices, or after what chance does.

        Raises:
            ValueError: If that cannot happen here.
        """
        if isinstance(action, Sequence):
            if self.phase == "choose" and len(action) == 2 and {*action} <= {COOPERATE, DEFECT}:
                joint = (action[0], action[1])
                chosen = (*self.chosen, joint)
                return replace(self, chosen=chosen, phase="flip") if self.game.noise else self._after(joint, chosen)
        elif self.phase == "flip" and action in range(4):
            return self._after(flipped(self.chosen[-1], action), self.chosen)
        elif self.phase == "continue" and action in range(2):
            return replace(self, phase="choose" if action else "over")
        needed = {
            "choose": "one action, 0 or 1, for each of two seats",
            "flip": "0 no flip, 1 seat 0, 2 seat 1, 3 both",
            "continue": "0 the end, 1 another round",
            "over": f"nothing, it is over; at most {self.game.rounds} rounds are played",
        }
        raise ValueError(
            f"prisoner's dilemma: {action!r} after {len(self.played)} rounds is not allowed: {needed[self.phase]}"
        )

    def _after(self, joint: Joint, chosen: tuple[Joint, ...]) -> "IpdState":
        played = (*self.played, joint)
        if len(played) == self.game.rounds:
            return IpdState(self.game, played, chosen, "over")
        return IpdState(self.game, played, chosen, "choose" if self.game.continuation is None else "continue")

    def returns(self) -> list[float]:
        """Points of each seat so far."""
        return [sum(entry.payoffs[seat] for entry in self.entries) for seat in (0, 1)]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """One ledger line a round."""
        ledger = self.game.ledger
        return tuple([ledger[line] for line in zip(self.chosen, self.played, strict=False)])


def flipped(joint: Joint, flip: int) -> Joint:
    """What comes out of choices: bit 0 of `flip` turns seat 0's, bit 1 seat 1's."""
    return (joint[0] ^ (flip & 1), joint[1] ^ (flip >> 1))
