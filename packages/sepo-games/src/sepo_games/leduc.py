"""Leduc poker (Southey et al. 2005) in three views: OpenSpiel's tree of one hand, a zero-sum ledger, and prompts.

Six cards, J < Q < K in two suits, one each. Both put in an ante of 1. There are two betting rounds of at most two raises, of 2 chips
in the first and of 4 in the second; between them a public card is dealt. The first player acts first in both. With nobody folding
a card that pairs the public one wins, else the higher rank; equal ranks share the pot. Actions are OpenSpiel's: 0 fold, 1 call
(check where that costs nothing), 2 raise. A seat has 468 information sets, or 144 without suits, which carry no value.

The value of a hand to the first player is -0.085606424078 (OpenSpiel, `sequence_form_lp_test.py`).
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from sepo_games import language
from sepo_games.errors import check_preset
from sepo_games.kuhn import plain_entry
from sepo_games.leduc_strategies import LEDUC_HELD_OUT, leduc_mixture, leduc_pools, leduc_strategies
from sepo_games.types import Entry, InfoSet, Message, Parsed, Rejected, Strategy

RANKS = "JQK"
SUITS = ("hearts", "spades")
ANTE, RAISES, MOST_RAISES = 1, (2, 4), 2
MOVES = "fcr"
"""Letters of the actions in a betting history."""
OPEN = (("", "cr", "rr"), ("c", "r", "crr"))
"""Bettings of a round at which each seat decides."""
CLOSED = ("cc", "crc", "crrc", "rc", "rrc")
"""Bettings that end a round without a fold."""
MONEY = 100
"""Chips of a player before the ante, as OpenSpiel's information states count them."""
VALUE = -0.085606424078
Betting = tuple[str, str]


@dataclass(frozen=True)
class LeducView:
    """What a seat sees.

    Attributes:
        seat: The seat.
        card: Its card: 2 rank + suit, or the rank in a game without suits.
        rank: 0 to 2.
        public: The public card, or None in round 1.
        paired: Whether both have the same rank.
        betting: Moves of each round, `f` fold, `c` check or call, `r` raise.
        legal: Legal actions.
    """

    seat: int
    card: int
    rank: int
    public: int | None
    paired: bool
    betting: Betting
    legal: tuple[int, ...]

    @property
    def facing_raise(self) -> bool:
        """Whether checking costs something."""
        return 0 in self.legal


def now(betting: Betting) -> str:
    """The betting of the current round."""
    return betting[betting[0] in CLOSED]


def legal_moves(betting: Betting) -> tuple[int, ...]:
    """Fold only after a raise, call always, raise twice a round."""
    moves = now(betting)
    return (*([0] if moves.endswith("r") else []), 1, *([2] if moves.count("r") < MOST_RAISES else []))


def staked(betting: Betting) -> list[int]:
    """Chips that each seat has put in."""
    chips = [ANTE, ANTE]
    for size, moves in zip(RAISES, betting, strict=True):
        for turn, move in enumerate(moves):
            if move != "f":
                chips[turn % 2] = max(chips) + size * (move == "r")
    return chips


def information_state(player: int, card: int, public: int | None, betting: Betting) -> str:
    """OpenSpiel's name of what a player knows."""
    chips = staked(betting)
    first, second = (" ".join(str(MOVES.index(move)) for move in moves) for moves in betting)
    shown = "" if public is None else f"[Public: {public}]"
    return (
        f"[Observer: {player}][Private: {card}][Round {1 + (betting[0] in CLOSED)}][Player: {len(now(betting)) % 2}]"
        f"[Pot: {sum(chips)}][Money: {MONEY - chips[0]} {MONEY - chips[1]}]{shown}[Round1: {first}][Round2: {second}]"
    )


@dataclass(frozen=True)
class LeducState:
    """One history of a hand: both players' cards and the public one as far as they are dealt, and the betting."""

    game: "Leduc"
    cards: tuple[int, ...] = ()
    betting: Betting = ("", "")

    def is_terminal(self) -> bool:
        """Whether the hand is over."""
        return self.betting[1] in CLOSED or now(self.betting).endswith("f")

    def is_chance_node(self) -> bool:
        """Whether a card is dealt now."""
        return len(self.cards) < 2 + (self.betting[0] in CLOSED)

    def is_simultaneous_node(self) -> bool:
        """Never: poker is played in turns."""
        return False

    def current_player(self) -> int:
        """The seat to act; -1 chance, -4 the hand is over."""
        if self.is_terminal():
            return -4
        return -1 if self.is_chance_node() else len(now(self.betting)) % 2

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Each card that is left, equally likely; without suits each rank that is left."""
        if not self.is_chance_node():
            return []
        left = [(card, self.game.copies - self.cards.count(card)) for card in range(self.game.kinds)]
        return [(card, n / (6 - len(self.cards))) for card, n in left if n]

    def legal_actions(self, player: int) -> list[int]:
        """Of the seat to act; none of the other."""
        return list(legal_moves(self.betting)) if player == self.current_player() >= 0 else []

    def information_state_string(self, player: int) -> str:
        """What the player knows, as OpenSpiel writes it."""
        return information_state(player, self.cards[player], self.public, self.betting)

    @property
    def public(self) -> int | None:
        """The public card, once it is dealt."""
        return self.cards[2] if len(self.cards) == 3 else None

    def child(self, action: int) -> "LeducState":
        """The history after an action or a dealt card."""
        if self.is_chance_node():
            left = [card for card, _ in self.chance_outcomes()]
            if action not in left:
                raise ValueError(f"Leduc poker: card {action} cannot be dealt after {self.cards}: {left} are left")
            return LeducState(self.game, (*self.cards, action), self.betting)
        legal = self.legal_actions(self.current_player())
        if action not in legal:
            raise ValueError(f"Leduc poker: action {action} after {self.betting} is not allowed: {legal} are")
        first, second = self.betting
        move = MOVES[action]
        return LeducState(self.game, self.cards, (first, second + move) if first in CLOSED else (first + move, second))

    def returns(self) -> list[float]:
        """Chips won by each seat; zeros before the end."""
        if not self.is_terminal():
            return [0.0, 0.0]
        won = float(self._winner() * min(staked(self.betting)))
        return [won, 0.0 - won]

    def _winner(self) -> int:
        """1 the first player, -1 the second, 0 nobody."""
        moves = now(self.betting)
        if moves.endswith("f"):
            return 1 if len(moves) % 2 == 0 else -1
        first, second, public = (self.game.rank(card) for card in self.cards)
        mine, theirs = ((rank == public, rank) for rank in (first, second))
        return (mine > theirs) - (mine < theirs)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The hand's ledger line, once it is over."""
        return (plain_entry(*self.returns()),) if self.is_terminal() else ()


@dataclass(frozen=True)
class Leduc:
    """Rules of Leduc poker.

    Attributes:
        preset: `sepo` or `paper`; the rules are the same.
        hands: Hands an episode.
        suits: Whether prompts and information sets tell the two suits apart, as OpenSpiel's do by default.
    """

    preset: str = "sepo"
    hands: int = 6
    suits: bool = True

    name = "leduc-v1"
    unit: Literal["hand"] = "hand"
    decisions = 4
    num_actions = 3
    zero_sum = True
    public = False
    enumerable = True
    outsiders = ()
    references = (-VALUE, VALUE)
    """The value of a hand to the opponent of the first and of the second player."""
    reference: Literal["value"] = "value"
    yardsticks = ("uniform", "value")
    held_out = LEDUC_HELD_OUT

    def __post_init__(self) -> None:
        """Checks the rules."""
        check_preset(self.preset)
        if self.hands < 1:
            raise ValueError(f"Leduc poker: hands = {self.hands} is not allowed: it must be at least 1")

    @property
    def rounds(self) -> int:
        """Hands an episode."""
        return self.hands

    @property
    def segments(self) -> int:
        """Each hand is a tree of its own."""
        return self.hands

    @property
    def kinds(self) -> int:
        """How many different cards there are."""
        return 6 if self.suits else 3

    @property
    def copies(self) -> int:
        """How many there are of each."""
        return 6 // self.kinds

    def rank(self, card: int) -> int:
        """0 to 2."""
        return card // 2 if self.suits else card

    @cached_property
    def strategies(self) -> Mapping[str, Strategy]:
        """Every scripted strategy by name."""
        return leduc_strategies()

    def num_players(self) -> int:
        """Two."""
        return 2

    def new_initial_state(self) -> LeducState:
        """Before the deal of one hand."""
        return LeducState(self)

    def seat_of_segment(self, seat: int, segment: int) -> int:
        """Seats alternate from hand to hand."""
        return (seat + segment) % 2

    def view(self, state: LeducState, seat: int) -> LeducView:
        """What a seat sees at its decision."""
        return self._view(seat, state.cards[seat], state.public, state.betting)

    def _view(self, seat: int, card: int, public: int | None, betting: Betting) -> LeducView:
        paired = public is not None and self.rank(public) == self.rank(card)
        return LeducView(seat, card, self.rank(card), public, paired, betting, legal_moves(betting))

    def position(self, state: LeducState) -> Hashable:
        """The state itself."""
        return state

    def key(self, view: LeducView) -> str:
        """OpenSpiel's information state string."""
        return information_state(view.seat, view.card, view.public, view.betting)

    @cached_property
    def _infosets(self) -> tuple[tuple[InfoSet, ...], ...]:
        cards = range(self.kinds)
        result = []
        for seat in (0, 1):
            views = [self._view(seat, card, None, (moves, "")) for moves in OPEN[seat] for card in cards]
            views += [
                self._view(seat, card, public, (past, moves))
                for past in CLOSED
                for moves in OPEN[seat]
                for public in cards
                for card in cards
                if card != public or self.copies == 2
            ]
            result.append(tuple(InfoSet(self.key(view), view, view.legal) for view in views))
        return tuple(result)

    def infosets(self, seat: int) -> tuple[InfoSet, ...]:
        """First those of round 1, then those of round 2."""
        return self._infosets[seat]

    def label(self, view: LeducView, action: int) -> str:
        """FOLD, CALL or RAISE; CHECK for a call that costs nothing."""
        return ("FOLD", "CALL" if view.facing_raise else "CHECK", "RAISE")[action]

    @lru_cache(maxsize=1024)  # noqa: B019  (games are few)
    def render(self, view: LeducView) -> tuple[Message, ...]:
        """Rules, then the hand, the cards last so that prompts share as long a beginning as they can."""
        labels = [self.label(view, action) for action in view.legal]
        choice = f"Choose {', '.join(labels[:-1])} or {labels[-1]}."
        public = "" if view.public is None else f" Public card: {self._card(view.public)}."
        order = "first" if view.seat == 0 else "second"
        told = [
            f"Round {1 + i}: {_told(view.seat, moves)}." for i, moves in enumerate(view.betting[: 1 + bool(public)])
        ]
        return (
            {"role": "system", "content": self._rules()},
            {
                "role": "user",
                "content": f"You act {order}. {' '.join(told)} {choice}{public} Your card: {self._card(view.card)}.",
            },
        )

    def _card(self, card: int) -> str:
        return RANKS[self.rank(card)] + (f" of {SUITS[card % 2]}" if self.suits else "")

    def _rules(self) -> str:
        deck = "J, Q, K of hearts and of spades" if self.suits else "two each of J, Q, K"
        return (
            f"Leduc poker. Six cards: {deck}; K is highest. Each player has one and has put {ANTE} chip in the pot. Two rounds of bets; "
            "a public card is shown before round 2. CHECK adds nothing; RAISE matches the other's chips and adds "
            f"{RAISES[0]} in round 1, {RAISES[1]} in round 2, at most two RAISEs a round. After a RAISE the other must FOLD and lose its chips, CALL to "
            "match, or RAISE. At the end the card that pairs the public card wins the pot, else the higher card; equal cards share it. "
            "Win as many chips as you can. Reply with 'ACTION: ' and your choice."
        )

    def reply(self, view: LeducView, action: int) -> str:
        """For example `ACTION: RAISE`."""
        return f"ACTION: {self.label(view, action)}"

    def parse(self, text: str, view: LeducView, truncated: bool = False) -> Parsed | Rejected:
        """Reads a reply; see `language`."""
        legal = {self.label(view, action): action for action in view.legal}
        return language.parse(text, legal, ("FOLD", "CHECK", "CALL", "RAISE"), truncated)

    def fallback(self, view: LeducView) -> int:
        """Fold where that is possible, else check."""
        return view.legal[0]

    def pools(self, preset: str) -> Mapping[str, tuple[str, ...]]:
        """Opponents by pool; the same in both presets."""
        return leduc_pools(preset)

    def sft_mixture(self, preset: str) -> tuple[tuple[str, float], ...]:
        """Weights of the strategies that supervised traces come from."""
        return leduc_mixture(preset)


def _told(seat: int, moves: str) -> str:
    """A round's moves in words."""
    said = []
    for turn, move in enumerate(moves):
        costs = moves[:turn].endswith("r")
        word = {"c": "CALL" if costs else "CHECK", "r": "RAISE"}[move]
        said.append(f"{'you' if turn % 2 == seat else 'they'} {word}")
    return ", ".join(said) or "no move yet"
