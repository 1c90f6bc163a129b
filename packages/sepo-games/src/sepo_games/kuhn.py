"""Kuhn poker in three views: OpenSpiel's tree of one hand, a zero-sum ledger, and prompts.

Three cards J < Q < K, one each. Both put in the ante. The first player passes or bets; after a bet the other calls or folds;
after a pass the second player may pass or bet, and the first player then calls or folds. With nobody folding the higher card
wins. An episode is `hands` independent hands, the seats alternating. A prompt shows its hand alone, so each seat has six
information sets. Actions are OpenSpiel's: 0 is pass or fold, 1 is bet or call. The value of a hand to the first player is -1/18.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from sepo_games import language
from sepo_games.errors import check_preset
from sepo_games.kuhn_strategies import KUHN_HELD_OUT, kuhn_mixture, kuhn_pools, kuhn_strategies
from sepo_games.types import Alternative, Entry, InfoSet, Message, Parsed, Rejected, Strategy

CARDS = "JQK"
TERMINAL = frozenset({"pp", "pbp", "pbb", "bp", "bb"})
HISTORIES = (("", "pb"), ("p", "b"))
"""Betting histories at which each seat decides."""
_LEFT = {
    (): [(0, 1 / 3), (1, 1 / 3), (2, 1 / 3)],
    (0,): [(1, 0.5), (2, 0.5)],
    (1,): [(0, 0.5), (2, 0.5)],
    (2,): [(0, 0.5), (1, 0.5)],
}
"""Outcomes of the next deal after the cards that are dealt."""


@dataclass(frozen=True)
class KuhnView:
    """What a seat sees: its card (0 to 2) and this hand's betting (`p` pass or fold, `b` bet or call)."""

    seat: int
    card: int
    betting: str
    legal: tuple[int, ...] = (0, 1)

    @property
    def facing_bet(self) -> bool:
        """Whether the choice is between calling and folding."""
        return self.betting.endswith("b")


@dataclass(frozen=True)
class KuhnState:
    """One history of a hand."""

    game: "Kuhn"
    cards: tuple[int, ...] = ()
    betting: str = ""

    def is_terminal(self) -> bool:
        """Whether the hand is over."""
        return self.betting in TERMINAL

    def is_chance_node(self) -> bool:
        """Whether a card is dealt now."""
        return len(self.cards) < 2

    def is_simultaneous_node(self) -> bool:
        """Never: poker is played in turns."""
        return False

    def current_player(self) -> int:
        """The seat to act; -1 chance, -4 the hand is over."""
        if self.is_terminal():
            return -4
        return -1 if self.is_chance_node() else len(self.betting) % 2

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Each card that is left, equally likely."""
        return list(_LEFT.get(self.cards, ()))

    def legal_actions(self, player: int) -> list[int]:
        """Pass or bet, fold or call."""
        return [0, 1] if player == self.current_player() else []

    def information_state_string(self, player: int) -> str:
        """The player's card and the betting, as OpenSpiel writes them."""
        return f"{self.cards[player]}{self.betting}"

    def child(self, action: int) -> "KuhnState":
        """The history after an action or a dealt card."""
        if len(self.cards) < 2:
            if action not in (0, 1, 2) or action in self.cards:
                raise ValueError(
                    f"Kuhn poker: card {action} cannot be dealt after {self.cards}: cards are 0, 1, 2, one each"
                )
            return KuhnState(self.game, (*self.cards, action))
        if action not in (0, 1) or self.betting in TERMINAL:
            raise ValueError(
                f"Kuhn poker: action {action} after {self.betting!r} is not allowed: 0 or 1, until the hand is over"
            )
        return KuhnState(self.game, self.cards, self.betting + "pb"[action])

    def returns(self) -> list[float]:
        """Chips won by each seat; zeros before the end."""
        if not self.is_terminal():
            return [0.0, 0.0]
        return list(self.game.chips(self.cards[0] > self.cards[1], self.betting))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The hand's ledger line, once it is over."""
        return (plain_entry(*self.returns()),) if self.betting in TERMINAL else ()


@lru_cache(maxsize=256)
def plain_entry(first: float, second: float) -> Entry:
    """The ledger line of a hand in which nobody owes the other anything: benchmark and do-no-harm action are the realised one.

    So it is in zero-sum games: what one wins the other loses, and nobody's action can harm the sum.
    """
    same = Alternative((first, second), ())
    return Entry(same.players, (), same, (same, same), (same, same))


@dataclass(frozen=True)
class Kuhn:
    """Rules of Kuhn poker.

    Attributes:
        preset: `sepo`, or `paper` for the published opponents.
        hands: Hands an episode.
        ante: Chips each puts in first.
        bet: Chips of a bet.
    """

    preset: str = "sepo"
    hands: int = 6
    ante: int = 1
    bet: int = 1

    name = "kuhn-v1"
    unit: Literal["hand"] = "hand"
    decisions = 2
    num_actions = 2
    zero_sum = True
    public = False
    enumerable = True
    outsiders = ()
    reference: Literal["value"] = "value"
    yardsticks = ("uniform", "equilibrium")
    held_out = KUHN_HELD_OUT

    def __post_init__(self) -> None:
        """Checks the rules."""
        check_preset(self.preset)
        for field in ("hands", "ante", "bet"):
            if getattr(self, field) < 1:
                raise ValueError(f"Kuhn poker: {field} = {getattr(self, field)} is not allowed: it must be at least 1")
        if self.ante != self.bet:
            raise ValueError(
                f"Kuhn poker: ante {self.ante} and bet {self.bet} differ, but the known value -ante/18 needs them equal"
            )

    @property
    def rounds(self) -> int:
        """Hands an episode."""
        return self.hands

    @property
    def segments(self) -> int:
        """Each hand is a tree of its own."""
        return self.hands

    @property
    def references(self) -> tuple[float, float]:
        """The value of a hand to the opponent of the first and of the second player."""
        return (self.ante / 18, -self.ante / 18)

    @cached_property
    def strategies(self) -> Mapping[str, Strategy]:
        """Every scripted strategy by name."""
        return kuhn_strategies(self.preset)

    def num_players(self) -> int:
        """Two."""
        return 2

    def new_initial_state(self) -> KuhnState:
        """Before the deal of one hand."""
        return KuhnState(self)

    def seat_of_segment(self, seat: int, segment: int) -> int:
        """Seats alternate from hand to hand."""
        return (seat + segment) % 2

    def chips(self, first_is_higher: bool, betting: str) -> tuple[float, float]:
        """Chips won by each seat at the end of a hand."""
        stake = self.ante
        if betting.endswith("bp"):
            winner = 0 if betting == "bp" else 1
        else:
            winner = 0 if first_is_higher else 1
            stake += self.bet * betting.endswith("bb")
        return (float(stake), -float(stake)) if winner == 0 else (-float(stake), float(stake))

    def view(self, state: KuhnState, seat: int) -> KuhnView:
        """What a seat sees at its decision."""
        return KuhnView(seat, state.cards[seat], state.betting)

    def position(self, state: KuhnState) -> Hashable:
        """The state itself."""
        return state

    def key(self, view: KuhnView) -> str:
        """OpenSpiel's information state string."""
        return f"{view.card}{view.betting}"

    def infosets(self, seat: int) -> tuple[InfoSet, ...]:
        """Six a seat: each card at each of its two decisions."""
        views = [KuhnView(seat, card, betting) for betting in HISTORIES[seat] for card in range(3)]
        return tuple(InfoSet(self.key(view), view, view.legal) for view in views)

    def label(self, view: KuhnView, action: int) -> str:
        """PASS or BET; facing a bet FOLD or CALL."""
        return (("FOLD", "CALL") if view.facing_bet else ("PASS", "BET"))[action]

    @lru_cache(maxsize=64)  # noqa: B019  (games are few and small)
    def render(self, view: KuhnView) -> tuple[Message, ...]:
        """Rules, then the hand, the card last so that prompts share as long a beginning as they can."""
        return (
            {"role": "system", "content": self._rules()},
            {
                "role": "user",
                "content": f"{_BETTING[view.betting]} {self._choice(view)} Your card: {CARDS[view.card]}.",
            },
        )

    def _choice(self, view: KuhnView) -> str:
        return f"Choose {' or '.join(self.label(view, action) for action in view.legal)}."

    def _rules(self) -> str:
        ante, both = self.ante, self.ante + self.bet
        chip = "chip" if ante == 1 else "chips"
        return (
            f"Kuhn poker. Cards J, Q, K; K is highest; each player has one. Each has put {ante} {chip} in the pot. PASS, or BET {self.bet} {chip}; "
            f"after a BET the other must CALL or FOLD. Higher card wins {ante} {chip} after PASS PASS, {both} after a CALL; "
            f"a FOLD loses {ante}. Win as many chips as you can. Reply with 'ACTION: ' and your choice."
        )

    def reply(self, view: KuhnView, action: int) -> str:
        """For example `ACTION: BET`."""
        return f"ACTION: {self.label(view, action)}"

    def parse(self, text: str, view: KuhnView, truncated: bool = False) -> Parsed | Rejected:
        """Reads a reply; see `language`."""
        legal = {self.label(view, action): action for action in view.legal}
        return language.parse(text, legal, ("PASS", "BET", "CALL", "FOLD"), truncated)

    def fallback(self, view: KuhnView) -> int:
        """Pass or fold."""
        return 0

    def pools(self, preset: str) -> Mapping[str, tuple[str, ...]]:
        """The published pools; in both presets by the same names."""
        return kuhn_pools(preset)

    def sft_mixture(self, preset: str) -> tuple[tuple[str, float], ...]:
        """Weights of the strategies that supervised traces come from."""
        return kuhn_mixture(preset)


_BETTING: dict[str, str] = {
    "": "You act first.",
    "p": "You act second. The other chose PASS.",
    "b": "You act second. The other chose BET.",
    "pb": "You chose PASS. The other chose BET.",
}
