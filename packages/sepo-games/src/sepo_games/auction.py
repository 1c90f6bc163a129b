"""The repeated sealed-bid first-price auction in three views: a tree with private values, a ledger with a seller, and prompts.

Each round both bidders draw independent uniform values, see their own, and bid LOW, MEDIUM or HIGH at once. The higher bid wins and pays
itself; a fair coin breaks ties. The winner earns value - bid (with `clip`, as published: not below 0), the loser nothing, and the seller, a
declared outsider, earns the price (with `clip`: min(bid, value), so that payoffs add up to the winner's value in both forms).

With values {2, 4} and bids {1, 2, 3} the bidders' Bayes-Nash equilibrium in undominated strategies is 1 at value 2 and 2 at value 4, worth
7/8 a round to each and 7/4 to the seller. It is the benchmark and the do-no-harm action; it depends on the bidder's own value only.
The default prompt shows the round, the own value and both last bids.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, Literal

from sepo_games import language
from sepo_games.auction_strategies import AUCTION_HELD_OUT, auction_mixture, auction_pools, auction_strategies
from sepo_games.errors import check_preset
from sepo_games.rounds import Joint, replaced
from sepo_games.types import Alternative, Entry, InfoSet, Message, Parsed, Rejected, Strategy

WORDS = ("LOW", "MEDIUM", "HIGH")
BIDS = (1, 2, 3)
VALUES = (2, 4)
NASH = (0, 1)
"""Equilibrium action at each value."""


@dataclass(frozen=True)
class AuctionView:
    """What a seat sees: its value now, and all bids and its own values so far, as indices, oldest first."""

    seat: int
    value: int
    own: tuple[int, ...]
    other: tuple[int, ...]
    past_values: tuple[int, ...]
    legal: tuple[int, ...] = (0, 1, 2)


@dataclass(frozen=True)
class AuctionState:
    """One history: finished rounds as (values, bids, winner), and what is known of the current one."""

    game: "Auction"
    finished: tuple[tuple[Joint, Joint, int], ...] = ()
    values: Joint | None = None
    bids: Joint | None = None

    def is_terminal(self) -> bool:
        """Whether the last round is over."""
        return len(self.finished) == self.game.rounds

    def is_chance_node(self) -> bool:
        """Whether values are drawn or a tie is broken now."""
        return not self.is_terminal() and (self.values is None or self.bids is not None)

    def is_simultaneous_node(self) -> bool:
        """Whether bids are due."""
        return not self.is_terminal() and not self.is_chance_node()

    def current_player(self) -> int:
        """-1 chance, -2 both bidders at once, -4 the auction is over."""
        if self.is_terminal():
            return -4
        return -1 if self.is_chance_node() else -2

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The four pairs of values (2 v0 + v1), or the tie's winner."""
        n = 4 if self.values is None else 2
        return [(outcome, 1 / n) for outcome in range(n)]

    def legal_actions(self, player: int) -> list[int]:
        """All bids, where bids are due."""
        return [0, 1, 2] if self.is_simultaneous_node() else []

    def information_state_string(self, player: int) -> str:
        """Own values and both bids of every round from the player's side, then the own value now."""
        past = " ".join(
            f"{VALUES[v[player]]}:{BIDS[b[player]]}{BIDS[b[1 - player]]}{'wl'[w != player]}"
            for v, b, w in self.finished
        )
        now = "" if self.values is None else f" {VALUES[self.values[player]]}"
        return past + now

    def child(self, action: int | Sequence[int]) -> "AuctionState":
        """The history after values, bids or a tie's coin."""
        if self.is_terminal():
            raise ValueError(f"auction: action {action} is not allowed: all {self.game.rounds} rounds are over")
        if self.values is None:
            drawn = _outcome(action, 4, "a pair of values")
            return AuctionState(self.game, self.finished, (drawn // 2, drawn % 2))
        if self.bids is not None:
            return self._finish(self.bids, _outcome(action, 2, "a tie's winner"))
        if isinstance(action, int) or len(action) != 2 or not {*action} <= {0, 1, 2}:
            raise ValueError(f"auction: bids {action} are not allowed: one action, 0, 1 or 2, for each of two seats")
        bids = (action[0], action[1])
        if bids[0] == bids[1]:
            return AuctionState(self.game, self.finished, self.values, bids)
        return self._finish(bids, 0 if bids[0] > bids[1] else 1)

    def _finish(self, bids: Joint, winner: int) -> "AuctionState":
        assert self.values is not None
        return AuctionState(self.game, (*self.finished, (self.values, bids, winner)))

    def returns(self) -> list[float]:
        """Earnings of each bidder so far."""
        return [sum(entry.payoffs[seat] for entry in self.entries) for seat in (0, 1)]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """One ledger line a round."""
        return tuple(self.game.entry(*line) for line in self.finished)


@dataclass(frozen=True)
class Auction:
    """Rules of the auction.

    Attributes:
        preset: `sepo`, or `paper` for the published rules.
        rounds: Number of rounds.
        clip: Whether a winner who bids above the value earns 0 and pays the value; by default in preset `paper` only.
    """

    preset: str = "sepo"
    rounds: int = 6
    clip: bool | None = None

    name = "auction-v1"
    unit: Literal["round"] = "round"
    segments = 1
    num_actions = 3
    zero_sum = False
    public = False
    enumerable = True
    outsiders = ("seller",)
    reference: Literal["nash"] = "nash"
    references = (7 / 8, 7 / 8)
    yardsticks = ("uniform", "bayes-nash", "collusive-low")
    held_out = AUCTION_HELD_OUT

    def __post_init__(self) -> None:
        """Checks the rules."""
        check_preset(self.preset)
        if self.rounds < 1:
            raise ValueError(f"auction: rounds = {self.rounds} is not allowed: at least 1")
        if self.clip is None:
            object.__setattr__(self, "clip", self.preset == "paper")

    @property
    def decisions(self) -> int:
        """One a round."""
        return self.rounds

    @cached_property
    def strategies(self) -> Mapping[str, Strategy]:
        """Every scripted strategy by name."""
        return auction_strategies()

    def num_players(self) -> int:
        """Two bidders."""
        return 2

    def new_initial_state(self) -> AuctionState:
        """Before the first values are drawn."""
        return AuctionState(self)

    def seat_of_segment(self, seat: int, segment: int) -> int:
        """The episode's seat."""
        return seat

    def outcome(self, values: Joint, bids: Joint, winner: int) -> Alternative:
        """Earnings of bidders and seller."""
        value, price = VALUES[values[winner]], BIDS[bids[winner]]
        if self.clip:
            price = min(price, value)
        gain = float(value - price)
        return Alternative((gain, 0.0) if winner == 0 else (0.0, gain), (float(price),))

    @lru_cache(maxsize=64)  # noqa: B019  (games are few and small)
    def expected(self, values: Joint, bids: Joint) -> Alternative:
        """The same, ties averaged."""
        if bids[0] != bids[1]:
            return self.outcome(values, bids, 0 if bids[0] > bids[1] else 1)
        sides = [self.outcome(values, bids, winner) for winner in (0, 1)]
        return Alternative(
            tuple((a + b) / 2 for a, b in zip(sides[0].players, sides[1].players, strict=True)),
            tuple((a + b) / 2 for a, b in zip(sides[0].outsiders, sides[1].outsiders, strict=True)),
        )

    @lru_cache(maxsize=128)  # noqa: B019
    def entry(self, values: Joint, bids: Joint, winner: int) -> Entry:
        """The ledger line of a round."""
        realised = self.outcome(values, bids, winner)
        nash = tuple(self.expected(values, replaced(bids, seat, NASH[values[seat]])) for seat in (0, 1))
        return Entry(realised.players, realised.outsiders, self.expected(values, bids), nash, nash)

    def repeated_form(self) -> dict[str, Any]:
        """Stage payoffs `(2, 2, 2, 3, 3)` by values and bids, value probabilities and rounds, for exact best responses."""
        payoffs = [
            [
                [[[self.expected((v, w), (a, b)).players[i] for b in range(3)] for a in range(3)] for w in (0, 1)]
                for v in (0, 1)
            ]
            for i in (0, 1)
        ]
        return {"payoffs": payoffs, "type_probs": ([0.5, 0.5], [0.5, 0.5]), "rounds": self.rounds}

    def view(self, state: AuctionState, seat: int) -> AuctionView:
        """What a seat sees at its decision."""
        if state.values is None:
            raise ValueError("no values have been drawn in this state: nobody decides here")
        own = tuple(bids[seat] for _, bids, _ in state.finished)
        other = tuple(bids[1 - seat] for _, bids, _ in state.finished)
        return AuctionView(seat, state.values[seat], own, other, tuple(values[seat] for values, _, _ in state.finished))

    def position(self, state: AuctionState) -> Hashable:
        """Round, last bids, and what is known of the current round."""
        return len(state.finished), *(bids for _, bids, _ in state.finished[-1:]), state.values, state.bids

    def key(self, view: AuctionView) -> str:
        """Round, last bids (own first) and own value, for example `3:21 v4`."""
        last = f"{BIDS[view.own[-1]]}{BIDS[view.other[-1]]}" if view.own else ""
        return f"{len(view.own) + 1}:{last} v{VALUES[view.value]}"

    @cached_property
    def _infosets(self) -> tuple[tuple[InfoSet, ...], ...]:
        result = []
        for seat in (0, 1):
            views = [AuctionView(seat, v, (), (), ()) for v in (0, 1)]
            for past in range(1, self.rounds):
                views += [
                    AuctionView(seat, v, (a,) * past, (b,) * past, (v,) * past)
                    for a, b, v in product(range(3), range(3), (0, 1))
                ]
            result.append(tuple(InfoSet(self.key(view), view, view.legal) for view in views))
        return tuple(result)

    def infosets(self, seat: int) -> tuple[InfoSet, ...]:
        """The first round's values, then for each later round, each pair of last bids, the values."""
        return self._infosets[seat]

    def label(self, view: AuctionView, action: int) -> str:
        """LOW, MEDIUM or HIGH."""
        return WORDS[action]

    def render(self, view: AuctionView) -> tuple[Message, ...]:
        """Rules, last bids, round, and the own value last so that prompts share as long a beginning as they can."""
        last = (view.own[-1], view.other[-1]) if view.own else None
        return self._prompt(last, len(view.own) + 1, view.value)

    @lru_cache(maxsize=4096)  # noqa: B019
    def _prompt(self, last: Joint | None, current: int, value: int) -> tuple[Message, ...]:
        past = f"Last round: you {WORDS[last[0]]}, they {WORDS[last[1]]}." if last else "No round played yet."
        return (
            {"role": "system", "content": self._rules()},
            {
                "role": "user",
                "content": f"{past} Round {current} of {self.rounds}. The item is worth {VALUES[value]} to you.",
            },
        )

    def _rules(self) -> str:
        bids = ", ".join(f"{word} = {bid}" for word, bid in zip(WORDS, BIDS, strict=True))
        loss = "the item's worth minus the bid" + (", at least 0" if self.clip else "")
        return (
            f"A sealed-bid auction of {self.rounds} rounds against one rival. "
            f"Each round an item is worth {VALUES[0]} or {VALUES[1]} to each of you, at random. "
            f"Both bid at once: {bids}. The higher bid wins and pays its bid; a coin decides ties. The winner earns {loss}; the loser earns 0. "
            "Earn as much in all rounds as you can. Reply with 'ACTION: ' and your choice."
        )

    def reply(self, view: AuctionView, action: int) -> str:
        """For example `ACTION: LOW`."""
        return f"ACTION: {WORDS[action]}"

    def parse(self, text: str, view: AuctionView, truncated: bool = False) -> Parsed | Rejected:
        """Reads a reply; see `language`."""
        return language.parse(text, {word: action for action, word in enumerate(WORDS)}, WORDS, truncated)

    def fallback(self, view: AuctionView) -> int:
        """MEDIUM, as published."""
        return 1

    def pools(self, preset: str) -> Mapping[str, tuple[str, ...]]:
        """The published pools."""
        return auction_pools(preset)

    def sft_mixture(self, preset: str) -> tuple[tuple[str, float], ...]:
        """Weights of the strategies that supervised traces come from."""
        return auction_mixture(preset)


def _outcome(action: int | Sequence[int], outcomes: int, what: str) -> int:
    if not isinstance(action, int) or not 0 <= action < outcomes:
        raise ValueError(f"auction: {action} is not allowed here: chance draws {what}, 0 to {outcomes - 1}")
    return action
