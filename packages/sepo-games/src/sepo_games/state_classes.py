"""The classes of states that a scripted match-up meets, found as they are met.

States that are alike to all strategies are one class: for Markov strategies those of one position, otherwise, where all seats move
at once, those of one position in which the strategies also remember the same. Python sees every class, and every move out of one,
once. A move is an *event*: a number for what chance, one seat, or all seats together do.
"""

from collections.abc import Callable, Hashable, Sequence
from itertools import product
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from sepo_games.types import Entry, Game, Strategy

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
OVER, CHANCE_MOVES, ONE_MOVES, ALL_MOVE = range(4)


class Column:
    """A list that grows, and the array of it."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._array: npt.NDArray[Any] = np.zeros(0)

    def array(self) -> npt.NDArray[Any]:
        """All items."""
        if len(self._array) != len(self.items):
            self._array = np.array(self.items)
        return self._array


class StateClasses:
    """Grows while episodes walk through it.

    Attributes:
        kinds: For each class `OVER`, `CHANCE_MOVES`, `ONE_MOVES` or `ALL_MOVE`.
        actors: The seat that moves alone, or -1.
        lines: Ledger lines met so far, as `line_of` writes them.
    """

    def __init__(self, game: Game, strategies: Sequence[Strategy], line_of: Callable[[Entry], Floats]) -> None:
        self.game, self.strategies, self.line_of = game, strategies, line_of
        self.kinds, self.actors, self.lines = Column(), Column(), Column()
        self._markov = all(strategy.markov for strategy in strategies)
        self._found: dict[Hashable, int] = {}
        self._states: list[Any] = []
        self._events: list[Sequence[Any]] = []
        self._ends: list[list[list[float]]] = []
        self._sure: list[list[int]] = []
        self._joint = tuple(product(range(game.num_actions), repeat=game.num_players()))
        self._width = len(self._joint)
        self._moves: dict[int, tuple[int, int, int]] = {}
        self._codes, self._targets = np.zeros(0, dtype=np.int64), np.zeros((0, 3), dtype=np.int64)
        self._class_of(game.new_initial_state())

    def follow(self, classes: Ints, events: Ints) -> tuple[Ints, Ints, Ints]:
        """Where events lead: the next class, the ledger line booked on the way or -1, and of how many entries it is the sum."""
        codes = classes * self._width + events
        place = np.searchsorted(self._codes, codes)
        known = place < len(self._codes)
        known[known] = self._codes[place[known]] == codes[known]
        if not known.all():
            for code in np.unique(codes[~known]).tolist():
                self._moves[code] = self._move(*divmod(code, self._width))
            self._codes = np.array(sorted(self._moves), dtype=np.int64)
            self._targets = np.array([self._moves[code] for code in self._codes.tolist()], dtype=np.int64)
            place = np.searchsorted(self._codes, codes)
        targets = self._targets[place]
        return targets[:, 0], targets[:, 1], targets[:, 2]

    def draw(self, classes: Ints, row: int, coins_of: Callable[[Ints], Floats]) -> Ints:
        """What a row of each class, chance's or a seat's, does; coins are asked for only where it is not sure.

        Args:
            classes: `(n,)`.
            row: The seat where all move at once, else 0.
            coins_of: Coins of the given places in `classes`.
        """
        present = np.flatnonzero(np.bincount(classes))
        number = np.zeros(len(self.kinds.items), dtype=np.int64)
        number[present] = np.arange(len(present))
        rows = number[classes]
        events = np.array([self._sure[one][row] for one in present.tolist()])[rows]
        open_ = np.flatnonzero(events < 0)
        if open_.size:
            ends = [self._ends[one][row] for one in present.tolist()]
            width = max(map(len, ends))
            table = np.array([[*one, *[inf] * (width - len(one))] for one in ends])
            events[open_] = (coins_of(open_)[:, None] >= table[rows[open_]]).sum(axis=1)
        return events

    def _move(self, number: int, event: int) -> tuple[int, int, int]:
        state = self._states[number]
        child = state.child(self._events[number][event])
        entries = child.entries[len(state.entries) :]
        booked = -1
        if entries:
            booked = len(self.lines.items)
            self.lines.items.append(np.sum([self.line_of(entry) for entry in entries], axis=0))
        return self._class_of(child), booked, len(entries)

    def _class_of(self, state: Any) -> int:
        key = self._key(state)
        if key in self._found:
            return self._found[key]
        self._found[key] = len(self._states)
        self._states.append(state)
        actor = -1
        events: Sequence[Any] = ()
        rows: list[Sequence[float]] = []
        if state.is_terminal():
            kind = OVER
        elif state.is_chance_node():
            kind = CHANCE_MOVES
            events, probs = zip(*state.chance_outcomes(), strict=True)
            rows = [probs]
        elif state.is_simultaneous_node():
            kind, events = ALL_MOVE, self._joint
            rows = [self._probs(state, seat) for seat in range(self.game.num_players())]
        else:
            kind, actor, events = ONE_MOVES, state.current_player(), range(self.game.num_actions)
            rows = [self._probs(state, actor)]
        self.kinds.items.append(kind)
        self.actors.items.append(actor)
        self._events.append(events)
        self._ends.append([_ends(row) for row in rows])
        self._sure.append([_sure(row) for row in rows])
        return len(self._states) - 1

    def _probs(self, state: Any, seat: int) -> Sequence[float]:
        return self.strategies[seat].probs(self.game.view(state, seat))

    def _key(self, state: Any) -> Hashable:
        position: Hashable = self.game.position(state)
        if self._markov:
            return position
        if not state.is_simultaneous_node():
            return "state", state
        return position, *(self._memory(state, seat) for seat in range(self.game.num_players()))

    def _memory(self, state: Any, seat: int) -> Hashable:
        strategy = self.strategies[seat]
        if strategy.markov:
            return None
        view: Hashable = self.game.view(state, seat)
        remember = getattr(strategy, "memory", None)
        return view if remember is None else remember(view)


def _ends(row: Sequence[float]) -> list[float]:
    """Upper ends of the intervals in which a coin falls; the last possible index takes what rounding leaves, as in `draw`."""
    ends = np.cumsum(row, dtype=np.float64)
    ends[max(index for index, p in enumerate(row) if p > 0) :] = inf
    listed: list[float] = ends.tolist()
    return listed


def _sure(row: Sequence[float]) -> int:
    """The only possible index, or -1."""
    possible = [index for index, p in enumerate(row) if p > 0]
    return possible[0] if len(possible) == 1 else -1
