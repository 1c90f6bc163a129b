"""Two-player games of OpenSpiel run through our language layer.

    game = openspiel_game("kuhn_poker", references=(1 / 18, -1 / 18), reference="value")

The tree is OpenSpiel's. A prompt shows OpenSpiel's information state string of the seat and the words of its legal actions, made from
OpenSpiel's action strings: `Call` becomes CALL, `x(0,1)` X 0 1. Where such words are the same, or mean a negation, the number of the
action joins them, and if that does not help either the words are MOVE 0, MOVE 1 and so on. The whole tree is walked once, so a game
with too large a tree is refused. An episode is one play, and its ledger one line, in which nobody could have acted otherwise:
benchmark and do-no-harm action are the realised one, since OpenSpiel does not say what is owed to others. Needs the extra
`sepo-games[openspiel]`.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from math import isfinite
from typing import Any, Literal

from sepo_games import language
from sepo_games.adapters.openspiel_tree import OpenSpielView, Walk, after
from sepo_games.errors import check_preset, unknown
from sepo_games.kuhn import plain_entry
from sepo_games.strategies import Scripted, pure, uniform
from sepo_games.types import Entry, InfoSet, Message, Parsed, Rejected, Strategy

MAX_NODES = 100_000
REFERENCES = ("value", "fair", "nash", "maxmin")


@dataclass(frozen=True)
class OpenSpielState:
    """One history. `spiel` is OpenSpiel's state of it, which nobody changes."""

    game: "OpenSpielGame"
    history: tuple[int, ...] = ()
    spiel: Any = field(default=None, compare=False, repr=False)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return bool(self.spiel.is_terminal())

    def is_chance_node(self) -> bool:
        """Whether chance moves."""
        return bool(self.spiel.is_chance_node())

    def is_simultaneous_node(self) -> bool:
        """Whether both players move at once."""
        return bool(self.spiel.is_simultaneous_node())

    def current_player(self) -> int:
        """The seat to act; -1 chance, -2 both, -4 the game is over."""
        return int(self.spiel.current_player())

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Actions of chance and their probabilities."""
        return list(self.spiel.chance_outcomes()) if self.is_chance_node() else []

    def legal_actions(self, player: int) -> list[int]:
        """What a player may do."""
        return list(self.spiel.legal_actions(player))

    def information_state_string(self, player: int) -> str:
        """What a player knows."""
        return str(self.spiel.information_state_string(player))

    def child(self, action: int | Sequence[int]) -> "OpenSpielState":
        """The history after an action, or after one of each player.

        Raises:
            ValueError: If an action is not legal.
        """
        moves = tuple(action) if isinstance(action, Sequence) else (action,)
        if self.is_chance_node():
            allowed = [[outcome for outcome, _ in self.chance_outcomes()]]
        else:
            seats = (0, 1) if self.is_simultaneous_node() else (self.current_player(),)
            allowed = [] if self.is_terminal() else [self.legal_actions(seat) for seat in seats]
        if not allowed or moves not in product(*allowed):
            raise ValueError(
                f"{self.game.name}: actions {moves} after {self.history} are not allowed: {allowed or 'it is over'}"
            )
        return OpenSpielState(self.game, self.history + moves, after(self.spiel, moves))

    def returns(self) -> list[float]:
        """Payoff of each player."""
        return list(self.spiel.returns())

    @property
    def entries(self) -> tuple[Entry, ...]:
        """One ledger line, once the game is over."""
        return (plain_entry(*self.returns()),) if self.is_terminal() else ()


@dataclass(frozen=True)
class OpenSpielGame:
    """An OpenSpiel game; `openspiel_game` makes it.

    Attributes:
        name: `openspiel:` and OpenSpiel's name with parameters.
        rules: What the prompt says about the game.
        references: The opponent's reference payoff for each seat of the learner.
        reference: Where it comes from.
        tree: Digest of the whole tree, by which games are equal.
        num_actions: Size of the action alphabet.
        decisions: Most decisions of one seat.
        zero_sum: Whether payoffs always add up to zero.
        infoset_table: Each seat's information sets.
        spiel: OpenSpiel's game.
    """

    name: str
    rules: str
    references: tuple[float, float]
    reference: Literal["value", "fair", "nash", "maxmin"]
    tree: str
    num_actions: int
    decisions: int
    zero_sum: bool
    infoset_table: tuple[tuple[InfoSet, ...], ...] = field(compare=False, repr=False)
    spiel: Any = field(compare=False, repr=False)

    unit: Literal["hand"] = "hand"
    rounds = 1
    segments = 1
    public = False
    enumerable = True
    outsiders = ()
    yardsticks = ("uniform",)
    held_out = ("last-legal",)

    @cached_property
    def strategies(self) -> Mapping[str, Strategy]:
        """A uniform player and two that always play the first or the last legal action."""
        n = self.num_actions
        return {
            "uniform": uniform(n),
            "first-legal": Scripted(lambda view: pure(view.legal[0], n)),
            "last-legal": Scripted(lambda view: pure(view.legal[-1], n)),
        }

    def num_players(self) -> int:
        """Two."""
        return 2

    def new_initial_state(self) -> OpenSpielState:
        """The root of the tree."""
        return OpenSpielState(self, (), self.spiel.new_initial_state())

    def seat_of_segment(self, seat: int, segment: int) -> int:
        """The episode's seat."""
        return seat

    def infosets(self, seat: int) -> tuple[InfoSet, ...]:
        """All of a seat's information sets, in the order in which the tree is walked."""
        return self.infoset_table[seat]

    @cached_property
    def _views(self) -> tuple[dict[str, OpenSpielView], ...]:
        return tuple({infoset.key: infoset.view for infoset in infosets} for infosets in self.infoset_table)

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        return frozenset(word for views in self._views for view in views.values() for word in view.words)

    def view(self, state: OpenSpielState, seat: int) -> OpenSpielView:
        """What a seat sees at its decision."""
        return self._views[seat][state.information_state_string(seat)]

    def position(self, state: OpenSpielState) -> Hashable:
        """The history."""
        return state.history

    def key(self, view: OpenSpielView) -> str:
        """The information state string."""
        return view.information

    def label(self, view: OpenSpielView, action: int) -> str:
        """The word of an action."""
        return view.words[view.legal.index(action)]

    @lru_cache(maxsize=4096)  # noqa: B019  (games are few)
    def render(self, view: OpenSpielView) -> tuple[Message, ...]:
        """Rules, then what the seat knows and may do."""
        words = view.words
        choice = f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
        return (
            {"role": "system", "content": f"{self.rules} Reply with 'ACTION: ' and your choice."},
            {"role": "user", "content": f"You are player {view.seat}. {view.information}\nChoose {choice}."},
        )

    def reply(self, view: OpenSpielView, action: int) -> str:
        """For example `ACTION: CALL`."""
        return f"ACTION: {self.label(view, action)}"

    def parse(self, text: str, view: OpenSpielView, truncated: bool = False) -> Parsed | Rejected:
        """Reads a reply; see `language`."""
        return language.parse(text, dict(zip(view.words, view.legal, strict=True)), self._vocabulary, truncated)

    def fallback(self, view: OpenSpielView) -> int:
        """The first legal action."""
        return view.legal[0]

    def pools(self, preset: str) -> Mapping[str, tuple[str, ...]]:
        """Opponents by pool; the same in both presets."""
        check_preset(preset)
        return {"train": ("uniform",), "exploiter": ("first-legal",), "collusive": ()}

    def sft_mixture(self, preset: str) -> tuple[tuple[str, float], ...]:
        """Traces of the uniform player, which teach the form of replies alone."""
        check_preset(preset)
        return (("uniform", 1.0),)


def openspiel_game(
    game: Any,
    *,
    references: tuple[float, float],
    reference: Literal["value", "fair", "nash", "maxmin"],
    rules: str = "",
    max_nodes: int = MAX_NODES,
) -> OpenSpielGame:
    """A game of OpenSpiel in our language layer.

    Args:
        game: A `pyspiel.Game`, or a name with parameters such as `leduc_poker(suit_isomorphism=True)`.
        references: The opponent's reference payoff a play for each seat of the learner. OpenSpiel's games do not say it; for a zero-sum game
            with value v to player 0 it is (-v, v), and a sequence-form solver such as sepo-penalties' `zero_sum_value` computes v.
        reference: Where it comes from.
        rules: What prompts say about the game; by default its name and that payoffs should be large. Describe the game here.
        max_nodes: Largest number of histories to walk.

    Raises:
        ImportError: If OpenSpiel is not installed.
        ValueError: If the game has not two players, does not move in turns or at once, hides its chance outcomes or information states,
            is too large, can end before a player has decided, or its references are not two finite numbers with a known name.
    """
    spiel = _load(game)
    _check_kind(spiel)
    if reference not in REFERENCES:
        raise ValueError(unknown("reference", reference, REFERENCES))
    if len(references) != 2 or not all(map(isfinite, references)):
        raise ValueError(
            f"references {references} are not allowed: two finite numbers, one for each seat of the learner"
        )
    walk = Walk(str(spiel), max_nodes)
    walk.all_from(spiel.new_initial_state())
    name = spiel.get_type().long_name
    return OpenSpielGame(
        f"openspiel:{spiel}",
        rules or f"{name}, a game of player 0 and player 1. Get as many points as you can.",
        (float(references[0]), float(references[1])),
        reference,
        walk.digest.hexdigest(),
        max(2, spiel.num_distinct_actions()),
        walk.decisions,
        walk.zero_sum,
        tuple(tuple(found.values()) for found in walk.infosets),
        spiel,
    )


def _load(game: Any) -> Any:
    try:
        import pyspiel  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise ImportError(
            "OpenSpiel's games need the package open-spiel: install it with pip install 'sepo-games[openspiel]'"
        ) from error
    if not isinstance(game, str):
        return game
    name = game.split("(")[0]
    if name not in pyspiel.registered_names():
        raise ValueError(unknown("OpenSpiel game", name, tuple(pyspiel.registered_names())))
    try:
        return pyspiel.load_game(game)
    except pyspiel.SpielError as error:
        raise ValueError(f"OpenSpiel does not load {game!r}: {str(error)[:300]}") from error


def _check_kind(spiel: Any) -> None:
    kind = spiel.get_type()
    wrong = [
        (spiel.num_players() != 2, f"it has {spiel.num_players()} players, and two are needed"),
        (kind.dynamics.name not in {"SEQUENTIAL", "SIMULTANEOUS"}, f"its dynamics are {kind.dynamics.name}"),
        (kind.chance_mode.name == "SAMPLED_STOCHASTIC", "it does not list its chance outcomes"),
        (not kind.provides_information_state_string, "it has no information state strings"),
    ]
    for is_so, what in wrong:
        if is_so:
            raise ValueError(
                f"OpenSpiel's {spiel} cannot be played here: {what}; two-player games in turns or at once, with explicit chance and "
                "information state strings, can"
            )
