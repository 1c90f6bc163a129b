"""Exact best responses in stochastic games whose state both players see.

Between rounds everybody knows the same state s (a stock, the last outcome, the round), both choose at once, and s' follows by chance.
Against a policy pi that is a table over states, the other player's best response is again one, by dynamic programming from the last
states on:

    V(s) = max_b sum_a pi(a | s) [ r(s, a, b) + sum_s' P(s' | s, a, b) V(s') ].

It is exact also against responders that remember everything. States are found by walking the game's own tree and merging what
`game.position` says is alike.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sepo_penalties.protocols import Table

Array = npt.NDArray[np.float64]
MAX_STATES = 200_000


@dataclass(frozen=True)
class PublicState:
    """A state in which both players choose.

    Attributes:
        keys: Each player's information set.
        actions: Each player's legal actions.
        payoffs: `(2, n_0, n_1)` expected payoffs until the next state.
        next: For each joint action, in the order of `payoffs`, next states with their probabilities; what is missing to 1 ends the game.
    """

    keys: tuple[str, str]
    actions: tuple[tuple[int, ...], tuple[int, ...]]
    payoffs: Array
    next: tuple[tuple[tuple[int, float], ...], ...]


@dataclass(frozen=True)
class StochasticGame:
    """States in an order in which every state stands after those that follow it; the last one is the first of play."""

    states: tuple[PublicState, ...]

    @classmethod
    def from_game(cls, game: Any, max_states: int = MAX_STATES) -> "StochasticGame":
        """Walks a game's tree once.

        Args:
            game: A two-player game of simultaneous moves and chance, with `position`, `view` and `key` as in a `TableGame`.
            max_states: Where to stop.

        Raises:
            ValueError: If players take turns, a state's information sets depend on how it was reached, or there are too many states.
        """
        walk = _Walk(game, max_states)
        total, ahead = walk.follow(game.new_initial_state())
        if total.any() or len(ahead) != 1 or ahead[0][1] < 1:
            raise ValueError(
                f"{game.name}: chance or payoffs come before the first decision: start with everybody's choice"
            )
        return cls(tuple(walk.states))


class _Walk:
    """Depth-first, so that a state is complete before any that leads to it."""

    def __init__(self, game: Any, max_states: int) -> None:
        self.game, self.max_states = game, max_states
        self.states: list[PublicState] = []
        self.found: dict[Any, int] = {}
        self.named: tuple[dict[str, Any], dict[str, Any]] = ({}, {})

    def follow(self, state: Any, booked: int = 0) -> tuple[Array, tuple[tuple[int, float], ...]]:
        """Payoffs and next public states from a history on, chance averaged; `booked` ledger lines are already counted."""
        entries = state.entries
        paid = np.array([sum(entry.payoffs[p] for entry in entries[booked:]) for p in (0, 1)], dtype=np.float64)
        if state.is_terminal():
            return paid, ()
        if state.is_chance_node():
            ahead: dict[int, float] = {}
            for outcome, probability in state.chance_outcomes():
                later, nexts = self.follow(state.child(outcome), len(entries))
                paid = paid + probability * later
                for number, p in nexts:
                    ahead[number] = ahead.get(number, 0.0) + probability * p
            return paid, tuple(ahead.items())
        if not state.is_simultaneous_node():
            raise ValueError(f"{self.game.name}: players take turns at {state!r}: solve it by its tree (SequenceForm)")
        return paid, ((self.number(state), 1.0),)

    def number(self, state: Any) -> int:
        game = self.game
        position = game.position(state)
        keys = (game.key(game.view(state, 0)), game.key(game.view(state, 1)))
        for key, named in zip(keys, self.named, strict=True):
            if named.setdefault(key, position) != position:
                raise ValueError(
                    f"{game.name}: information set {key!r} belongs to the positions {named[key]!r} and {position!r}: each needs one of its own"
                )
        if position in self.found:
            return self.found[position]
        actions = (tuple(state.legal_actions(0)), tuple(state.legal_actions(1)))
        payoffs, nexts, booked = np.zeros((2, len(actions[0]), len(actions[1]))), [], len(state.entries)
        for i, a in enumerate(actions[0]):
            for j, b in enumerate(actions[1]):
                payoffs[:, i, j], ahead = self.follow(state.child((a, b)), booked)
                nexts.append(ahead)
        if len(self.states) == self.max_states:
            raise ValueError(
                f"{game.name} has more than {self.max_states} states: sample episodes instead, or shorten the game"
            )
        self.found[position] = len(self.states)
        self.states.append(PublicState(keys, actions, payoffs, tuple(nexts)))
        return self.found[position]


Solver = Callable[[Array, PublicState], tuple[float, int]]


def backward(game: StochasticGame, responder: int, choose: Solver) -> tuple[float, dict[str, int]]:
    """Dynamic programming from the last states on.

    Args:
        game: The game.
        responder: Player whose payoffs count.
        choose: From gains `(n_own, n_responder)`, the other player's actions first, and the state: the value and the responder's action.

    Returns:
        The first state's value, and the responder's action at each of its information sets.
    """
    values = np.zeros(len(game.states))
    chosen: dict[str, int] = {}
    for number, state in enumerate(game.states):
        later = np.array([sum(p * values[s] for s, p in nexts) for nexts in state.next])
        gains = state.payoffs[responder] + later.reshape(state.payoffs.shape[1:])
        values[number], action = choose(gains if responder == 1 else gains.T, state)
        chosen[state.keys[responder]] = state.actions[responder][action]
    return float(values[-1]), chosen


def stochastic_best_response(
    game: StochasticGame, table: Table, player: int, num_actions: int
) -> tuple[float, dict[str, tuple[float, ...]]]:
    """The best response to a player's policy.

    Args:
        game: The game.
        table: The policy of `player`: information set to a probability for each of `num_actions` actions.
        player: Whose policy it is.
        num_actions: Columns of tables.

    Returns:
        The other player's expected payoff over the whole game, and its table.

    Raises:
        ValueError: If a row is missing or no distribution over the legal actions.
    """
    responder = 1 - player

    def choose(gains: Array, state: PublicState) -> tuple[float, int]:
        q = _row(table, state, player, num_actions) @ gains
        best = int(np.argmax(q))
        return float(q[best]), best

    value, chosen = backward(game, responder, choose)
    rows = {key: tuple(float(a == action) for a in range(num_actions)) for key, action in chosen.items()}
    return value, rows


def _row(table: Mapping[str, Sequence[float] | Array], state: PublicState, player: int, num_actions: int) -> Array:
    key = state.keys[player]
    if key not in table:
        raise ValueError(f"the policy of player {player} has no row for information set {key!r}")
    row = np.asarray(table[key], dtype=np.float64)
    legal = list(state.actions[player])
    if (
        row.shape != (num_actions,)
        or not (row >= 0).all()
        or abs(row.sum() - 1) > 1e-6
        or abs(row[legal].sum() - 1) > 1e-6
    ):
        raise ValueError(
            f"player {player}, information set {key!r}: {row.tolist()} is no distribution over the legal actions {legal} of {num_actions}"
        )
    legal_row: Array = row[legal]
    return legal_row
