"""The words that games, opponents and players share.

A *view* is what one seat may see at one of its decisions. An *information set* is what a prompt shows of it. An *entry* is
one line of the ledger: what a finished round or hand paid to everybody, and what it would have paid had one player acted
otherwise while the others' realised actions stayed.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypedDict


class Message(TypedDict):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


RejectionKind = Literal["empty", "unparsed", "ambiguous", "negated", "illegal", "truncated", "thinking_only"]


@dataclass(frozen=True)
class Parsed:
    """A reply that names exactly one legal action."""

    action: int


@dataclass(frozen=True)
class Rejected:
    """A reply that does not, and why."""

    kind: RejectionKind
    detail: str


class View(Protocol):
    """What a seat sees at a decision; each game adds its own fields."""

    @property
    def seat(self) -> int: ...
    @property
    def legal(self) -> tuple[int, ...]: ...


@dataclass(frozen=True)
class InfoSet:
    """One information set of a seat under the game's prompt: its key, a view that belongs to it, its legal actions."""

    key: str
    view: Any
    legal: tuple[int, ...]


@dataclass(frozen=True)
class Request:
    """A question to a policy.

    Attributes:
        messages: The prompt.
        key: Non-negative integers that no other request of the run has; a policy's randomness depends on them alone.
        view: What the prompt was rendered from, for policies that are not language models.
        legal: The words of the legal actions, for policies that choose among them.
    """

    messages: tuple[Message, ...]
    key: tuple[int, ...]
    view: Any = None
    legal: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reply:
    """An answer: its text, whether the token limit cut it, and its token ids where a model sampled them."""

    text: str
    truncated: bool = False
    tokens: tuple[int, ...] = ()


class Policy(Protocol):
    """Anything that answers requests with text."""

    def replies(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """One reply for each request."""
        ...


class Strategy(Protocol):
    """A scripted player: a stateless function from what its seat sees to a distribution over actions.

    Attributes:
        markov: Whether the distribution depends on no more than the default prompt shows.
    """

    @property
    def markov(self) -> bool: ...

    def probs(self, view: Any) -> Sequence[float]:
        """Probability of every action of the game; 0 for illegal ones."""
        ...


Payoffs = tuple[float, ...]


@dataclass(frozen=True)
class Alternative:
    """Payoffs to players and outsiders, coin flips averaged."""

    players: Payoffs
    outsiders: Payoffs


@dataclass(frozen=True)
class Entry:
    """One ledger line. Tuples are indexed by seat; `benchmark` and `harmless` by the seat that acts otherwise.

    Attributes:
        payoffs: Realised payoffs of the players.
        outsiders: Realised payoffs of the outsiders.
        expected: The realised actions' ledger, coin flips averaged.
        benchmark: The ledger had this seat played its benchmark action.
        harmless: The ledger had this seat played its do-no-harm action.
    """

    payoffs: Payoffs
    outsiders: Payoffs
    expected: Alternative
    benchmark: tuple[Alternative, ...]
    harmless: tuple[Alternative, ...]


class State(Protocol):
    """One immutable history: OpenSpiel's state protocol plus the ledger."""

    @property
    def entries(self) -> tuple[Entry, ...]: ...
    def is_terminal(self) -> bool: ...
    def returns(self) -> Sequence[float]: ...
    def current_player(self) -> int: ...
    def is_chance_node(self) -> bool: ...
    def chance_outcomes(self) -> Sequence[tuple[int, float]]: ...
    def is_simultaneous_node(self) -> bool: ...
    def legal_actions(self, player: int) -> Sequence[int]: ...
    def information_state_string(self, player: int) -> str: ...
    def child(self, action: int | Sequence[int]) -> "State": ...


class Game(Protocol):
    """One set of rules with its three views: tree, ledger and language.

    Attributes:
        name: Registry name with a version, for example `kuhn-v1`.
        unit: What payoffs are counted per: `round` or `hand`.
        rounds: Declared rounds or hands of an episode.
        segments: How many trees an episode plays one after another (hands of poker, else 1).
        decisions: Most decisions of one seat in one segment.
        num_actions: Size of the action alphabet.
        zero_sum: Whether the players' payoffs always add up to zero.
        public: Whether, when everybody moves at once, everybody knows all that matters: positions then have information sets of
            their own, and best responses are found state by state.
        enumerable: Whether `infosets` are all there are; if not, they are a projection of what prompts show.
        outsiders: Names of those who are paid or harmed but do not act; `()` states that there are none.
        references: For each seat of the learner, the opponents' reference payoff per round.
        reference: Where the reference comes from: the game's `value`, the `fair` efficient outcome, a `nash` equilibrium, or the
            opponent's `maxmin` in pure strategies.
        strategies: Every scripted strategy by name.
        yardsticks: Names of the strategies that stand beside a model in a result table.
        held_out: Names of strategies that no preset trains on, for the measurement of generalisation.
    """

    @property
    def name(self) -> str: ...
    @property
    def unit(self) -> Literal["round", "hand"]: ...
    @property
    def rounds(self) -> int: ...
    @property
    def segments(self) -> int: ...
    @property
    def decisions(self) -> int: ...
    @property
    def num_actions(self) -> int: ...
    @property
    def zero_sum(self) -> bool: ...
    @property
    def public(self) -> bool: ...
    @property
    def enumerable(self) -> bool: ...
    @property
    def outsiders(self) -> tuple[str, ...]: ...
    @property
    def references(self) -> tuple[float, ...]: ...
    @property
    def reference(self) -> Literal["value", "fair", "nash", "maxmin"]: ...
    @property
    def strategies(self) -> Mapping[str, Strategy]: ...
    @property
    def yardsticks(self) -> tuple[str, ...]: ...
    @property
    def held_out(self) -> tuple[str, ...]: ...

    def __hash__(self) -> int:
        """Games are values: equal rules are one game."""
        ...

    def num_players(self) -> int:
        """Number of seats."""
        ...

    def new_initial_state(self) -> State:
        """The root of one segment's tree."""
        ...

    def seat_of_segment(self, seat: int, segment: int) -> int:
        """Which seat of the tree the player of an episode's seat takes in a segment."""
        ...

    def infosets(self, seat: int) -> tuple[InfoSet, ...]:
        """A tree seat's information sets under the prompt, in the order of policy tables."""
        ...

    def view(self, state: Any, seat: int) -> Any:
        """What a seat sees at its decision."""
        ...

    def position(self, state: Any) -> Hashable:
        """What the default prompts and the rest of the game depend on: states of one position are alike to Markov strategies."""
        ...

    def key(self, view: Any) -> str:
        """The information set that a view belongs to."""
        ...

    def render(self, view: Any) -> tuple[Message, ...]:
        """The prompt: a pure function of what it shows."""
        ...

    def label(self, view: Any, action: int) -> str:
        """The label of an action, for example `BET` or `2 1 0`: upper-case words, different for each legal action."""
        ...

    def reply(self, view: Any, action: int) -> str:
        """The canonical reply that plays an action."""
        ...

    def parse(self, text: str, view: Any, truncated: bool = False) -> Parsed | Rejected:
        """Reads a reply."""
        ...

    def fallback(self, view: Any) -> int:
        """The action played when every reply was rejected."""
        ...

    def pools(self, preset: str) -> Mapping[str, tuple[str, ...]]:
        """Names of the opponents in the pools `train`, `exploiter` and `collusive`."""
        ...

    def sft_mixture(self, preset: str) -> tuple[tuple[str, float], ...]:
        """Strategies that supervised traces come from, with their weights."""
        ...
