"""A negotiation over three items with private values in three views: a tree, a ledger, and prompts.

There are 1 to 4 books, hats and balls each, the same all episode long; each side knows what they are worth to itself. With
`protocol="demands"` both sides say at once, each round, how many of each they want. Demands that fit for every item are a deal: each
side gets its demand at its own values, and the rest is lost. Else it is a breakdown and both get nothing. With `protocol="alternating"`
an episode is one negotiation: the sides offer in turn, `rounds` times each, seat 0 first, and an offer says what its side takes; the other
gets the rest. Who faces an open offer *of the other side* may ACCEPT it. The last offer is void; no agreement pays nothing. As its
ledger line is one, whatever is counted per round is counted per round of the `rounds`.

In preset `sepo` values stay for the episode and drive scripted demands. As published (`redraw`), seat 1's values are drawn anew
every round, and its scripted demands follow a taste that pays nothing; seat 0 is the published agent.

Prompts show pool, own values and all demands, so information sets are too many to list. `infosets` and `key` are the projection onto
pool, round and how the last round ended; with offers in turn, onto pool, round and whether an offer is open.

Ledger: there are no outsiders. The do-no-harm action completes the division given the other's demand: it takes all that is left. One case
is excepted: a seat that, of every item that was demanded too often, demanded no more than half did not cause the breakdown, and its
own action stands (self-defence). Of every item in dispute somebody demanded more than half, so every breakdown is somebody's.
With offers in turn the do-no-harm action after no agreement is to accept the last offer that was open to the seat, with the same exception
for its own offer against that one.

The reference is fair and efficient: the Nash bargaining solution with both sides' values known, averaged over pools and values.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from sepo_games import language
from sepo_games.errors import check_preset, unknown
from sepo_games.multi_issue_state import ACCEPT, MultiIssueState, MultiIssueView
from sepo_games.multi_issue_strategies import (
    MULTI_ISSUE_HELD_OUT,
    multi_issue_mixture,
    multi_issue_pools,
    multi_issue_strategies,
)
from sepo_games.multi_issue_text import rules_text, turn_text
from sepo_games.multi_issue_values import (
    BUNDLES,
    POOLS,
    Triple,
    bundle_of,
    code,
    demands_within,
    nash_payoff,
    rest,
    worth,
)
from sepo_games.types import Alternative, Entry, InfoSet, Message, Parsed, Rejected, Strategy

PROTOCOLS = ("demands", "alternating")
Both = tuple[Triple, Triple]
NOTHING = Alternative((0.0, 0.0), ())


@dataclass(frozen=True)
class MultiIssue:
    """Rules of the negotiation.

    Attributes:
        preset: `sepo`, or `paper` for the published rules.
        protocol: Simultaneous `demands`, or `alternating` offers.
        rounds: Rounds of demands, or the most offers of each side.
        redraw: Whether seat 1's values are drawn anew each round, unrelated to its demands; by default in preset `paper` only.

    Raises:
        ValueError: If an option is out of its range.
    """

    preset: str = "sepo"
    protocol: Literal["demands", "alternating"] = "demands"
    rounds: int = 4
    redraw: bool | None = None

    name = "multi-issue-v1"
    unit: Literal["round"] = "round"
    segments = 1
    zero_sum = False
    public = False
    enumerable = False
    outsiders = ()
    reference: Literal["fair"] = "fair"
    yardsticks = ("uniform", "fair", "nash-bargaining")
    held_out = MULTI_ISSUE_HELD_OUT

    def __post_init__(self) -> None:
        """Checks the rules."""
        check_preset(self.preset)
        if self.protocol not in PROTOCOLS:
            raise ValueError(unknown("protocol", self.protocol, PROTOCOLS))
        if type(self.rounds) is not int or self.rounds < 1:
            raise ValueError(
                f"multi-issue negotiation: rounds = {self.rounds!r} is not allowed: a whole number of at least 1"
            )
        if self.redraw is None:
            object.__setattr__(self, "redraw", self.preset == "paper")
        if not isinstance(self.redraw, bool):
            raise ValueError(f"multi-issue negotiation: redraw = {self.redraw!r} is not allowed: True, False or None")

    @property
    def alternating(self) -> bool:
        """Whether offers are made in turn."""
        return self.protocol == "alternating"

    @property
    def decisions(self) -> int:
        """One a round."""
        return self.rounds

    @property
    def num_actions(self) -> int:
        """Every bundle and, with offers in turn, ACCEPT."""
        return BUNDLES + self.alternating

    @property
    def references(self) -> tuple[float, float]:
        """What the opponent gets a round from the Nash bargaining solution with values known."""
        fair = nash_payoff() / (self.rounds if self.alternating else 1)
        return (fair, fair)

    @cached_property
    def strategies(self) -> Mapping[str, Strategy]:
        """Every scripted strategy by name."""
        return multi_issue_strategies(self.rounds, self.alternating)

    def num_players(self) -> int:
        """Two."""
        return 2

    def new_initial_state(self) -> MultiIssueState:
        """Before the pool is drawn."""
        return MultiIssueState(self)

    def seat_of_segment(self, seat: int, segment: int) -> int:
        """The episode's seat."""
        return seat

    @lru_cache(maxsize=256)  # noqa: B019  (games are few and small)
    def legal(self, pool: Triple, open_offer: bool) -> tuple[int, ...]:
        """Every demand within a pool and, where the other's offer is open, ACCEPT."""
        return (*demands_within(pool), ACCEPT) if open_offer else demands_within(pool)

    @lru_cache(maxsize=65536)  # noqa: B019
    def demands_entry(self, pool: Triple, values: Both, moves: tuple[int, int]) -> Entry:
        """The ledger line of a round of demands."""
        wanted = (bundle_of(moves[0]), bundle_of(moves[1]))
        deal = not _disputed(pool, wanted)
        paid = _paid(values, wanted) if deal else NOTHING
        harmless = tuple(_completed(pool, values, wanted, seat, paid) for seat in (0, 1))
        return Entry(paid.players, (), paid, (paid, paid), harmless)

    def offers_entry(self, pool: Triple, values: Both, moves: tuple[int, ...], accepted: bool) -> Entry:
        """The ledger line of a negotiation by offers in turn.

        Args:
            pool: How many items there are.
            values: Of both seats.
            moves: Codes of all offers; offer k is seat k mod 2's.
            accepted: Whether the last was accepted.
        """
        offers = [bundle_of(move) for move in moves]
        if accepted:
            seat, wanted = 1 - len(offers) % 2, offers[-1]
            paid = _paid(values, (wanted, rest(pool, wanted)) if seat == 0 else (rest(pool, wanted), wanted))
            return Entry(paid.players, (), paid, (paid, paid), (paid, paid))
        harmless = [NOTHING, NOTHING]
        for last in (len(offers) - 2, len(offers) - 1):
            if last >= 1:
                seat = last % 2
                wanted_by = (offers[last], offers[last - 1]) if seat == 0 else (offers[last - 1], offers[last])
                harmless[seat] = _completed(pool, values, wanted_by, seat, NOTHING)
        return Entry((0.0, 0.0), (), NOTHING, (NOTHING, NOTHING), tuple(harmless))

    def view(self, state: MultiIssueState, seat: int) -> MultiIssueView:
        """What a seat sees at its decision."""
        if not state.drawn or state.is_chance_node():
            raise ValueError("pool or values have not been drawn in this state: nobody decides here")
        said = tuple([bundle_of(move) for move in state.moves])
        return MultiIssueView(
            seat,
            state.pool,
            state.values(seat, state.current_round),
            state.taste(seat),
            said[seat::2],
            said[1 - seat :: 2],
            self.legal(state.pool, self.alternating and bool(said)),
        )

    def position(self, state: MultiIssueState) -> Hashable:
        """The state itself: prompts show all demands."""
        return state

    def key(self, view: MultiIssueView) -> str:
        """Pool, round, and how the last round ended or that an offer is open, for example `3 2 4 r2 DEAL`."""
        ended = ""
        if self.alternating:
            ended = " offer" if view.other else ""
        elif view.own:
            ended = f" {_result(view.pool, (view.own[-1], view.other[-1]))}"
        return f"{_words(view.pool)} r{len(view.own) + 1}{ended}"

    @cached_property
    def _infosets(self) -> tuple[tuple[InfoSet, ...], ...]:
        result = []
        for seat in (0, 1):
            views = [view for pool in POOLS for view in self._examples(seat, pool)]
            result.append(tuple(InfoSet(self.key(view), view, view.legal) for view in views))
        return tuple(result)

    def _examples(self, seat: int, pool: Triple) -> list[MultiIssueView]:
        """A view for every information set of a pool: both sides value all items much alike and demand the same every round."""
        values: Triple = (4, 3, 3)
        half: Triple = (pool[0] // 2, pool[1] // 2, pool[2] // 2)
        views = []
        for past in range(self.rounds):
            for each in (half, pool) if past and not self.alternating else (pool,):
                heard = past + (self.alternating and seat == 1)
                legal = self.legal(pool, self.alternating and heard > 0)
                views.append(MultiIssueView(seat, pool, values, values, (each,) * past, (each,) * heard, legal))
        return views

    def infosets(self, seat: int) -> tuple[InfoSet, ...]:
        """For each pool the first round, then for each later round a deal and a breakdown before it; with offers in turn, each round."""
        return self._infosets[seat]

    def label(self, view: MultiIssueView, action: int) -> str:
        """How many books, hats and balls are demanded, for example `2 1 0`, or ACCEPT."""
        return LABELS[action]

    def render(self, view: MultiIssueView) -> tuple[Message, ...]:
        """Rules, then pool and values, all demands, and the round last."""
        return self._prompt(view.seat, view.pool, view.values, view.own, view.other)

    @lru_cache(maxsize=16384)  # noqa: B019
    def _prompt(
        self, seat: int, pool: Triple, values: Triple, own: tuple[Triple, ...], other: tuple[Triple, ...]
    ) -> tuple[Message, ...]:
        results = [_result(pool, both) for both in zip(own, other, strict=False)]
        turn = turn_text(seat, pool, values, own, other, None if self.alternating else results, self.rounds)
        system = rules_text(self.alternating, self.rounds, bool(self.redraw))
        return ({"role": "system", "content": system}, {"role": "user", "content": turn})

    def reply(self, view: MultiIssueView, action: int) -> str:
        """For example `ACTION: 2 1 0`."""
        return f"ACTION: {LABELS[action]}"

    def parse(self, text: str, view: MultiIssueView, truncated: bool = False) -> Parsed | Rejected:
        """Reads a reply; see `language`. A demand beyond the pool is illegal; it is never cut to the pool."""
        return language.parse(text, _legal_words(view.legal), self._vocabulary, truncated)

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        return frozenset(LABELS[: self.num_actions])

    def fallback(self, view: MultiIssueView) -> int:
        """One of each, as published; never ACCEPT."""
        return code((1, 1, 1))

    def pools(self, preset: str) -> Mapping[str, tuple[str, ...]]:
        """Opponents by pool."""
        return multi_issue_pools(preset)

    def sft_mixture(self, preset: str) -> tuple[tuple[str, float], ...]:
        """Weights of the strategies that supervised traces come from."""
        return multi_issue_mixture(preset)


def _words(bundle: Triple) -> str:
    return " ".join(map(str, bundle))


LABELS = (*(_words(bundle_of(number)) for number in range(BUNDLES)), "ACCEPT")


@lru_cache(maxsize=256)
def _legal_words(legal: tuple[int, ...]) -> Mapping[str, int]:
    return {LABELS[action]: action for action in legal}


def _disputed(pool: Triple, wanted: Sequence[Triple]) -> list[int]:
    """The items that were demanded too often."""
    return [item for item in range(3) if wanted[0][item] + wanted[1][item] > pool[item]]


def _result(pool: Triple, wanted: Sequence[Triple]) -> str:
    return "BREAKDOWN" if _disputed(pool, wanted) else "DEAL"


def _paid(values: Both, bundles: Sequence[Triple]) -> Alternative:
    return Alternative((float(worth(values[0], bundles[0])), float(worth(values[1], bundles[1]))), ())


def _completed(pool: Triple, values: Both, wanted: Both, seat: int, paid: Alternative) -> Alternative:
    """What the seat's taking all that the other left would have paid; what was paid, if the seat only defended itself."""
    disputed = _disputed(pool, wanted)
    if disputed and all(2 * wanted[seat][item] <= pool[item] for item in disputed):
        return paid
    left = rest(pool, wanted[1 - seat])
    return _paid(values, (left, wanted[1]) if seat == 0 else (wanted[0], left))
