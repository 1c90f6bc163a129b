"""A walk through a game tree of OpenSpiel: its information sets with words for their actions, and a digest of all of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from math import isfinite
from typing import Any

from sepo_games import language
from sepo_games.types import InfoSet, Parsed


@dataclass(frozen=True)
class OpenSpielView:
    """What a seat sees: OpenSpiel's information state string, and its legal actions with their words."""

    seat: int
    information: str
    legal: tuple[int, ...]
    words: tuple[str, ...]


class Walk:
    """Walks a tree once.

    Attributes:
        infosets: Each seat's information sets by name, in the order in which they are met.
        digest: Of all chance nodes, information sets and payoffs.
        decisions: Most decisions of one seat.
        zero_sum: Whether payoffs always add up to zero.

    Raises:
        ValueError: If the game cannot be played, with the reason.
    """

    def __init__(self, name: str, max_nodes: int) -> None:
        self.name, self.max_nodes, self.nodes = name, max_nodes, 0
        self.infosets: tuple[dict[str, InfoSet], dict[str, InfoSet]] = ({}, {})
        self.digest, self.decisions, self.zero_sum = sha256(), 0, True

    def all_from(self, root: Any) -> None:
        """Visits every history."""
        stack = [(root, (0, 0))]
        while stack:
            self.nodes += 1
            if self.nodes > self.max_nodes:
                self.refuse(
                    f"its tree has more than {self.max_nodes} histories; raise max_nodes or make the game smaller"
                )
            stack += reversed(self.visit(*stack.pop()))

    def visit(self, state: Any, decided: tuple[int, int]) -> list[tuple[Any, tuple[int, int]]]:
        """The histories after one; `decided` counts each seat's decisions so far."""
        if state.is_terminal():
            self.end(state, decided)
            return []
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            self.digest.update(repr(outcomes).encode())
            return [(state.child(action), decided) for action, _ in outcomes]
        both = state.is_simultaneous_node()
        seats = (0, 1) if both else (state.current_player(),)
        sides = [self.infoset(state, seat) for seat in seats]
        counts = (decided[0] + (0 in seats), decided[1] + (1 in seats))
        return [(after(state, moves), counts) for moves in product(*sides)]

    def end(self, state: Any, decided: tuple[int, int]) -> None:
        """Takes the payoffs of a finished play."""
        if 0 in decided:
            self.refuse(
                f"it can end before both have decided, after {state.history()}: nobody would answer for that payoff"
            )
        payoffs = state.returns()
        if not all(map(isfinite, payoffs)):
            self.refuse(f"it pays {payoffs} after {state.history()}")
        self.digest.update(repr(payoffs).encode())
        self.decisions = max(self.decisions, *decided)
        self.zero_sum = self.zero_sum and abs(sum(payoffs)) < 1e-9

    def infoset(self, state: Any, seat: int) -> tuple[int, ...]:
        """Enters a seat's information set, and returns its legal actions."""
        key, legal = str(state.information_state_string(seat)), tuple(state.legal_actions(seat))
        if not legal:
            self.refuse(f"player {seat} has no legal action at {key!r}")
        if not key.replace("\n", "").isprintable():
            self.refuse(f"the information state {key!r} holds characters that cannot be shown")
        known = self.infosets[seat].get(key)
        if known is None:
            view = OpenSpielView(seat, key, legal, _words(state, seat, legal))
            self.infosets[seat][key] = InfoSet(key, view, legal)
        elif known.legal != legal:
            self.refuse(f"the information state {key!r} has actions {known.legal} in one history, {legal} in another")
        self.digest.update(repr(self.infosets[seat][key].view).encode())
        return legal

    def refuse(self, why: str) -> None:
        """Says why the game cannot be played."""
        raise ValueError(f"OpenSpiel's {self.name} cannot be played here: {why}")


def after(state: Any, moves: Sequence[int]) -> Any:
    """OpenSpiel's state after a move, or after one of each player."""
    child = state.clone()
    if state.is_simultaneous_node():
        child.apply_actions(list(moves))
    else:
        child.apply_action(moves[0])
    return child


def _words(state: Any, seat: int, legal: Sequence[int]) -> tuple[str, ...]:
    """The first way of naming the legal actions that tells them apart and is read back."""
    plain = [" ".join(re.findall("[A-Za-z0-9]+", state.action_to_string(seat, a))).upper() for a in legal]
    numbered = [f"{word} {action}".strip() for word, action in zip(plain, legal, strict=True)]
    for words in (plain, numbered):
        if len(set(words)) == len(words) and all(
            language.parse(f"ACTION: {w}", {w: 0}, words) == Parsed(0) for w in words
        ):
            return tuple(words)
    return tuple(f"MOVE {action}" for action in legal)
