"""Games compiled to sequence form (von Stengel 1996), once, for many evaluations.

For each player a *treeplex*: its information sets, parents before children, each with the parent sequence
(the player's own last action before it) and a block of one sequence for each legal action; sequence 0 is
empty. And one table of terminals: chance probability, every player's last sequence, every player's payoff.
Perfect recall means that an information set has one parent sequence; it is checked while compiling.
Simultaneous nodes are put in order of the players; the later ones do not see what the earlier ones chose.
Sequences are keyed by integers; the text of an information state only names it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sepo_penalties.protocols import TreeGame
from sepo_penalties.terminals import TOLERANCE, Terminal, index_terminals

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Treeplex:
    """One player's decision structure.

    Attributes:
        infosets: Names of the information sets, parents before children.
        actions: Legal actions of each, in the order of the policy's columns.
        parents: `(n,)` sequence that leads to each information set.
        offsets: `(n,)` first sequence of each information set; its actions' sequences follow one another.
    """

    infosets: tuple[str, ...]
    actions: tuple[tuple[int, ...], ...]
    parents: Ints
    offsets: Ints

    @property
    def num_sequences(self) -> int:
        """Number of sequences, the empty one included."""
        return 1 + sum(map(len, self.actions))

    @property
    def max_actions(self) -> int:
        """Columns of a policy."""
        return max(map(len, self.actions), default=1)


@dataclass(frozen=True)
class SequenceForm:
    """A compiled game.

    Attributes:
        treeplexes: One for each player.
        chance: `(n_terminals,)` product of chance probabilities.
        last: `(n_players, n_terminals)` every player's last sequence.
        payoffs: `(n_players, n_terminals)` in the game's units.
    """

    treeplexes: tuple[Treeplex, ...]
    chance: Array
    last: Ints
    payoffs: Array

    @classmethod
    def from_game(cls, game: TreeGame, max_nodes: int = 2_000_000) -> "SequenceForm":
        """Compiles a game by walking its tree.

        Args:
            game: Any game with OpenSpiel's state interface.
            max_nodes: Largest number of nodes to visit.

        Raises:
            ValueError: If the tree is larger, a player forgets something it knew (imperfect recall), an
                information state has different numbers of actions in different histories, chance does not sum
                to one, or a payoff is not finite.
        """
        return _Compiler(game, max_nodes).compile()

    @classmethod
    def from_matrix(cls, payoffs: npt.ArrayLike) -> "SequenceForm":
        """A game in which every player moves once, all at the same time.

        Args:
            payoffs: `(n_players, a_1, ..., a_n)` payoff of each player for each joint action.

        Raises:
            ValueError: If the shape is another one, an axis is empty, or a payoff is not finite.
        """
        table = np.asarray(payoffs, dtype=np.float64)
        if table.ndim < 2 or table.shape[0] != table.ndim - 1 or table.size == 0:
            raise ValueError(f"payoffs have shape {table.shape}: (n_players, a_1, ..., a_n) is needed")
        if not np.isfinite(table).all():
            raise ValueError(f"the payoffs of player {np.argwhere(~np.isfinite(table))[0][0]} are not all finite")
        sizes = table.shape[1:]
        root, first = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
        trees = tuple(Treeplex(("start",), (tuple(range(n)),), root, first) for n in sizes)
        last = 1 + np.indices(sizes, dtype=np.int64).reshape(len(sizes), -1)
        return cls(trees, np.ones(last.shape[1]), last, table.reshape(len(sizes), -1))

    @classmethod
    def from_terminals(cls, terminals: Sequence[Terminal]) -> "SequenceForm":
        """A game from the list of all its ends; actions that lead to no end do not exist.

        Args:
            terminals: One entry for each end; plain tuples (chance, moves, payoffs) do.

        Raises:
            ValueError: If a number is not finite, a player does not exist, a player forgets something it knew,
                or the probabilities of the ends do not sum to one under every profile of policies.
        """
        ends = [Terminal(*end) for end in terminals]
        trees, last = index_terminals(ends)
        payoffs = np.array([end.payoffs for end in ends], dtype=np.float64).T
        chance = np.array([end.chance for end in ends], dtype=np.float64)
        return cls(tuple(Treeplex(*tree) for tree in trees), chance, last, payoffs)

    @property
    def num_players(self) -> int:
        """Number of players."""
        return len(self.treeplexes)

    @property
    def zero_sum(self) -> bool:
        """Whether the payoffs of every terminal add up to zero."""
        return bool(
            np.abs(self.payoffs.sum(axis=0)).max(initial=0.0) <= TOLERANCE * max(1.0, np.abs(self.payoffs).max())
        )

    def infosets(self, player: int) -> tuple[str, ...]:
        """Names of a player's information sets, in the order of policy rows."""
        return self.treeplexes[player].infosets

    def num_actions(self, player: int) -> Ints:
        """`(n_infosets,)` number of legal actions."""
        return np.array([len(actions) for actions in self.treeplexes[player].actions], dtype=np.int64)

    def actions(self, player: int) -> tuple[tuple[int, ...], ...]:
        """Legal actions of each of a player's information sets, in the order of policy columns."""
        return self.treeplexes[player].actions

    def max_actions(self, player: int) -> int:
        """Columns of a player's policy."""
        return self.treeplexes[player].max_actions

    def uniform_policy(self, player: int) -> Array:
        """`(n_infosets, max_actions)` legal actions equally likely; columns past them are 0."""
        tree = self.treeplexes[player]
        policy = np.zeros((len(tree.infosets), tree.max_actions))
        for i, actions in enumerate(tree.actions):
            policy[i, : len(actions)] = 1 / len(actions)
        return policy

    def policy_from_dict(self, player: int, given: Mapping[str, Sequence[float] | Mapping[int, float]]) -> Array:
        """A policy array from a mapping of information sets to probabilities or {action: probability}.

        Raises:
            ValueError: If an information set is missing or unknown, or its probabilities are no distribution
                over its actions.
        """
        tree = self.treeplexes[player]
        missing, extra = set(tree.infosets) - set(given), set(given) - set(tree.infosets)
        if missing or extra:
            what = (
                f"information set {min(missing)!r} is missing"
                if missing
                else f"there is no information set {min(extra)!r}"
            )
            raise ValueError(f"policy of player {player}: {what}; the player has {len(tree.infosets)}")
        policy = np.zeros((len(tree.infosets), tree.max_actions))
        for i, (name, actions) in enumerate(zip(tree.infosets, tree.actions, strict=True)):
            row = given[name]
            if isinstance(row, Mapping):
                if set(row) - set(actions):
                    raise ValueError(
                        f"information set {name!r}: {sorted(set(row) - set(actions))} are not "
                        f"among its actions {list(actions)}"
                    )
                policy[i, : len(actions)] = [row.get(action, 0.0) for action in actions]
            elif len(row) != len(actions):
                raise ValueError(
                    f"information set {name!r} has {len(actions)} actions, but {len(row)} probabilities were given"
                )
            else:
                policy[i, : len(actions)] = row
        return self.check_policy(player, policy)

    def check_policy(self, player: int, policy: npt.ArrayLike) -> Array:
        """The policy as float64, if it is one.

        Raises:
            ValueError: For a wrong shape, a negative or non-finite entry, an entry past the legal actions, or
                a row that does not sum to one; the message names the information set.
        """
        tree = self.treeplexes[player]
        array = np.asarray(policy, dtype=np.float64)
        shape = (len(tree.infosets), tree.max_actions)
        if array.shape[-2:] != shape:
            raise ValueError(
                f"policy of player {player} has shape {array.shape}: (..., {shape[0]}, {shape[1]}) is needed"
            )
        legal = self.num_actions(player)[:, None] > np.arange(shape[1])
        bad = ~np.isfinite(array) | (array < 0) | (~legal & (array != 0))
        bad_rows = bad.any(axis=-1) | (np.abs(np.where(np.isfinite(array), array, 0).sum(axis=-1) - 1) > 1e-6)
        if bad_rows.any():
            place = tuple(np.argwhere(bad_rows)[0].tolist())
            raise ValueError(
                f"policy of player {player}, information set {tree.infosets[place[-1]]!r}: "
                f"{array[place].tolist()} is no distribution over "
                f"its {len(tree.actions[place[-1]])} actions: entries must be >= 0 and sum to 1"
            )
        return array


class _Compiler:
    """Walks a tree once and collects treeplexes and terminals."""

    def __init__(self, game: TreeGame, max_nodes: int) -> None:
        self.game, self.max_nodes, self.nodes = game, max_nodes, 0
        self.n = game.num_players()
        self.index: list[dict[str, int]] = [{} for _ in range(self.n)]
        self.actions: list[list[tuple[int, ...]]] = [[] for _ in range(self.n)]
        self.parents: list[list[int]] = [[] for _ in range(self.n)]
        self.offsets: list[list[int]] = [[] for _ in range(self.n)]
        self.sequences = [1] * self.n
        self.terminals: list[tuple[float, tuple[int, ...], tuple[float, ...]]] = []

    def compile(self) -> SequenceForm:
        start = (self.game.new_initial_state(), 1.0, (0,) * self.n, ())
        stack: list[tuple[Any, float, tuple[int, ...], tuple[int, ...]]] = [start]
        while stack:
            stack.extend(reversed(self.expand(*stack.pop())))
        if not self.terminals:
            raise ValueError("the game has no terminal history")
        chance, last, payoffs = zip(*self.terminals, strict=True)
        table = np.array(payoffs, dtype=np.float64).T
        if not np.isfinite(table).all():
            raise ValueError("a terminal's payoff is not finite")
        trees = tuple(
            Treeplex(
                tuple(self.index[p]),
                tuple(self.actions[p]),
                np.array(self.parents[p], dtype=np.int64),
                np.array(self.offsets[p], dtype=np.int64),
            )
            for p in range(self.n)
        )
        return SequenceForm(trees, np.array(chance), np.array(last, dtype=np.int64).T, table)

    def expand(self, state: Any, chance: float, last: tuple[int, ...], chosen: tuple[int, ...]) -> list[Any]:
        """The children of a node; `chosen` holds the moves already made at a simultaneous node."""
        self.nodes += 1
        if self.nodes > self.max_nodes:
            raise ValueError(
                f"the tree has more than {self.max_nodes} nodes ({len(self.terminals)} terminals "
                "so far): raise max_nodes, or use a memory-bounded "
                "prompt with RepeatedGame, or exploitability_interval from samples"
            )
        if state.is_terminal():
            payoffs = tuple(map(float, state.returns()))
            if len(payoffs) != self.n:
                raise ValueError(
                    f"a terminal has {len(payoffs)} payoffs {payoffs}: one for each of the {self.n} players is needed"
                )
            self.terminals.append((chance, last, payoffs))
            return []
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            if abs(sum(p for _, p in outcomes) - 1) > TOLERANCE or any(p < 0 for _, p in outcomes):
                raise ValueError(f"chance probabilities {[p for _, p in outcomes]} are no distribution")
            return [(state.child(action), chance * p, last, ()) for action, p in outcomes if p > 0]
        simultaneous = state.is_simultaneous_node()
        player = len(chosen) if simultaneous else state.current_player()
        if not 0 <= player < self.n:
            raise ValueError(
                f"a node belongs to player {player}: players 0 to {self.n - 1}, chance and "
                "simultaneous nodes are supported"
            )
        legal = state.legal_actions(player)
        if not legal:
            # Such a node would drop its probability without a word.
            name = state.information_state_string(player)
            raise ValueError(
                f"information state {name!r} of player {player} is not terminal but has no legal "
                "action: give it a single one"
            )
        children = []
        for k, action in enumerate(legal):
            sequence = self.infoset(state, player, last[player]) + k
            after = (*last[:player], sequence, *last[player + 1 :])
            moves = (*chosen, action)
            if simultaneous and len(moves) < self.n:
                children.append((state, chance, after, moves))
            else:
                children.append(
                    (_joint_child(state, moves) if simultaneous else state.child(action), chance, after, ())
                )
        return children

    def infoset(self, state: Any, player: int, parent: int) -> int:
        """First sequence of the state's information set, which is entered when it is new."""
        name = state.information_state_string(player)
        actions = tuple(state.legal_actions(player))
        known = self.index[player].get(name)
        if known is None:
            self.index[player][name] = len(self.actions[player])
            self.actions[player].append(actions)
            self.parents[player].append(parent)
            self.offsets[player].append(self.sequences[player])
            self.sequences[player] += len(actions)
            return self.offsets[player][-1]
        if self.parents[player][known] != parent:
            raise ValueError(
                f"player {player} has imperfect recall: information state {name!r} is reached "
                "after different own actions"
            )
        if self.actions[player][known] != actions:
            raise ValueError(
                f"information state {name!r} of player {player} has actions "
                f"{self.actions[player][known]} in one history, {actions} in another"
            )
        return self.offsets[player][known]


def _joint_child(state: Any, moves: tuple[int, ...]) -> Any:
    """The state after a joint move: `child` of a tuple, or OpenSpiel's `apply_actions` on a copy."""
    if hasattr(state, "apply_actions"):
        after = state.clone()
        after.apply_actions(list(moves))
        return after
    return state.child(moves)
