"""The iterated prisoner's dilemma in three views: a simultaneous tree, a ledger, and prompts.

Both players choose to cooperate (0) or to defect (1) at once, for an announced number of rounds. The payoff table must be a
prisoner's dilemma: T > R > P > S and 2R > T + S. The default prompt shows the round and the last outcome only, so a seat has
1 + 4 (rounds - 1) information sets; scripted opponents see the whole history. With `history="full"` the prompt shows every round; there
are then too many information sets to list, and `infosets` and `key` are the projection onto the round and the last outcome.

With a continuation probability q, `rounds` = n is the most there can be, which the prompt says, so that information sets stay those of
the announced game. L = (1 - q^n) / (1 - q) rounds are played on average. Whatever is counted per round is counted per round of the n:
the reference is the fair payoff times L / n, an episode's payoff divided by n has mean value / n, and no number is biased by
dividing by how long an episode happened to be.

With noise e each choice comes out as the other one with probability e. Everybody sees what came out, and it is what is paid; what was
chosen is not shown. The reference is what mutual cooperation pays on average, (1-e)^2 R + e (1-e) (S+T) + e^2 P.

Ledger: there are no outsiders. The do-no-harm action is to cooperate where the opponent chooses to in that round, and the seat's own
choice elsewhere: answering a defection is self-defence and harms nobody wrongly. `payoffs` are of what came out; `expected`, `benchmark`
and `harmless` hold both choices fixed and average the flips, as they average all coins, so that nobody answers for bad luck.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import isfinite
from typing import Any, Literal

from sepo_games import language
from sepo_games.errors import check_preset, unknown
from sepo_games.ipd_state import COOPERATE, IpdState, IpdView, flipped
from sepo_games.ipd_strategies import ipd_mixture, ipd_pools, ipd_strategies
from sepo_games.ipd_text import PHRASINGS, rules_text, turn_text
from sepo_games.rounds import Joint
from sepo_games.types import Alternative, Entry, InfoSet, Message, Parsed, Rejected, Strategy


@dataclass(frozen=True)
class Ipd:
    """Rules of the iterated prisoner's dilemma.

    Attributes:
        preset: `sepo` or `paper`; the rules are the same.
        history: What a prompt shows: the `last` outcome, or the `full` history.
        rounds: Announced number of rounds; with `continuation` the most there can be.
        reward: R, points of each after mutual cooperation.
        temptation: T, points of a defector against a cooperator.
        sucker: S, points of a cooperator against a defector.
        punishment: P, points of each after mutual defection.
        continuation: Probability that another round follows each but the last; None where the number of rounds is announced.
        noise: Probability, below 1/2, that a choice comes out as the other one, for each player independently.
        labels: Words for cooperation and defection, for example the neutral ("A", "B").
        phrasing: Which wording of the rules prompts use, 0, 1 or 2.

    Raises:
        ValueError: If the table is no prisoner's dilemma or an option is out of its range.
    """

    preset: str = "sepo"
    history: Literal["last", "full"] = "last"
    rounds: int = 8
    reward: float = 3.0
    temptation: float = 5.0
    sucker: float = 0.0
    punishment: float = 1.0
    continuation: float | None = None
    noise: float = 0.0
    labels: tuple[str, str] = ("COOPERATE", "DEFECT")
    phrasing: int = 0

    name = "ipd-v1"
    unit: Literal["round"] = "round"
    segments = 1
    public = True
    num_actions = 2
    zero_sum = False
    outsiders = ()
    reference: Literal["fair"] = "fair"
    yardsticks = ("uniform", "always-defect", "tit-for-tat")
    held_out = ("win-stay-lose-shift", "tit-for-two-tats", "suspicious-tit-for-tat", "zd-extort-2", "zd-generous")

    def __post_init__(self) -> None:
        """Checks the table and the options."""
        check_preset(self.preset)
        if self.history not in {"last", "full"}:
            raise ValueError(unknown("history", self.history, ("last", "full")))
        if self.rounds < 1:
            raise ValueError(f"prisoner's dilemma: rounds = {self.rounds} is not allowed: at least 1")
        t, r, p, s = self._table
        if not all(map(isfinite, (t, r, p, s))) or not (t > r > p > s and 2 * r > t + s):
            raise ValueError(
                f"temptation {t}, reward {r}, punishment {p}, sucker {s} are no prisoner's dilemma: T > R > P > S and 2R > T + S are needed"
            )
        if self.continuation is not None and not (0 < self.continuation < 1 and self.rounds > 1):
            raise ValueError(
                f"prisoner's dilemma: continuation = {self.continuation} with rounds = {self.rounds} is not allowed: a probability "
                "strictly between 0 and 1 and at least 2 rounds, or None for an announced number"
            )
        if not 0 <= self.noise < 0.5:
            raise ValueError(f"prisoner's dilemma: noise = {self.noise} is not allowed: at least 0, below 0.5")
        if type(self.phrasing) is not int or self.phrasing not in range(len(PHRASINGS)):
            raise ValueError(
                f"prisoner's dilemma: phrasing = {self.phrasing!r} is not allowed: 0 to {len(PHRASINGS) - 1}"
            )
        self._check_labels()

    def _check_labels(self) -> None:
        given = self.labels
        if isinstance(given, tuple) and len(given) == 2 and given[0] != given[1]:
            words = [w for w in given if isinstance(w, str) and w.isascii() and w.isalpha() and w.isupper()]
            # The parser itself says which words are negations.
            if len([w for w in words if language.parse(f"ACTION: {w}", {w: 0}, words) == Parsed(0)]) == 2:
                return
        raise ValueError(
            f"prisoner's dilemma: labels = {given!r} are not allowed: a tuple of two different words of the letters A to Z, "
            'neither a negation such as NO or NOT; for example ("A", "B")'
        )

    @property
    def _table(self) -> tuple[float, float, float, float]:
        return (self.temptation, self.reward, self.punishment, self.sucker)

    @property
    def enumerable(self) -> bool:
        """Whether prompts show no more than `infosets` tell apart."""
        return self.history == "last"

    @property
    def decisions(self) -> int:
        """One a round."""
        return self.rounds

    @property
    def mean_rounds(self) -> float:
        """How many rounds are played on average."""
        q = self.continuation
        return float(self.rounds) if q is None else (1 - q**self.rounds) / (1 - q)

    @cached_property
    def flips(self) -> tuple[float, float, float, float]:
        """Probabilities that no choice is flipped, that of seat 0, that of seat 1, both."""
        e = self.noise
        return ((1 - e) ** 2, e * (1 - e), e * (1 - e), e**2)

    @property
    def references(self) -> tuple[float, float]:
        """What the opponent gets a round of the `rounds` at the fair efficient outcome: both always choose to cooperate."""
        fair = self.mean_payoffs((COOPERATE, COOPERATE))[0] * (self.mean_rounds / self.rounds)
        return (fair, fair)

    @cached_property
    def strategies(self) -> Mapping[str, Strategy]:
        """Every scripted strategy by name."""
        return ipd_strategies(*self._table)

    def num_players(self) -> int:
        """Two."""
        return 2

    def new_initial_state(self) -> IpdState:
        """Before the first round."""
        return IpdState(self)

    def seat_of_segment(self, seat: int, segment: int) -> int:
        """The episode's seat."""
        return seat

    def payoffs(self, joint: Joint) -> tuple[float, float]:
        """Points of each seat after a joint action."""
        table = ((self.reward, self.sucker), (self.temptation, self.punishment))
        return (table[joint[0]][joint[1]], table[joint[1]][joint[0]])

    def mean_payoffs(self, chosen: Joint) -> tuple[float, float]:
        """Points of each seat after joint choices, flips averaged."""
        paid = [(p, self.payoffs(flipped(chosen, flip))) for flip, p in enumerate(self.flips) if p]
        return (sum(p * points[0] for p, points in paid), sum(p * points[1] for p, points in paid))

    @cached_property
    def ledger(self) -> Mapping[tuple[Joint, Joint], Entry]:
        """The line of every round that can be, by what was chosen and what came out."""
        lines = {}
        for chosen in ((a, b) for a in (0, 1) for b in (0, 1)):
            expected = Alternative(self.mean_payoffs(chosen), ())
            harmless = tuple(
                Alternative(self.mean_payoffs((COOPERATE, COOPERATE)), ())
                if chosen[1 - seat] == COOPERATE
                else expected
                for seat in (0, 1)
            )
            for flip, p in enumerate(self.flips):
                if p:
                    came = flipped(chosen, flip)
                    lines[chosen, came] = Entry(self.payoffs(came), (), expected, (expected, expected), harmless)
        return lines

    def entry(self, chosen: Joint, played: Joint | None = None) -> Entry:
        """The ledger line of a round: what was chosen and, with noise, what came out of it."""
        return self.ledger[chosen, chosen if played is None else played]

    def repeated_form(self) -> dict[str, Any] | None:
        """Stage payoffs `(2, 1, 1, 2, 2)`, type probabilities and rounds, for exact best responses.

        `None` with `continuation` or `noise`: rounds are then not all alike, and a form without them would be wrong.
        """
        if self.continuation is not None or self.noise:
            return None
        payoffs = [[[[[self.payoffs((a, b))[i] for b in (0, 1)] for a in (0, 1)]]] for i in (0, 1)]
        return {"payoffs": payoffs, "type_probs": ([1.0], [1.0]), "rounds": self.rounds}

    def view(self, state: IpdState, seat: int) -> IpdView:
        """What a seat sees at its decision."""
        sides = tuple(zip(*state.played, strict=True)) or ((), ())
        return IpdView(seat, sides[seat], sides[1 - seat])

    def position(self, state: IpdState) -> Hashable:
        """Round, last outcome, choices that are not out yet, and what happens next."""
        played = len(state.played)
        return played, state.played[-1:], state.chosen[played:], state.phase

    def key(self, view: IpdView) -> str:
        """Round and last outcome, own action first, for example `3:CD`."""
        last = f"{'CD'[view.own[-1]]}{'CD'[view.other[-1]]}" if view.own else ""
        return f"{len(view.own) + 1}:{last}"

    @cached_property
    def _infosets(self) -> tuple[tuple[InfoSet, ...], ...]:
        result = []
        for seat in (0, 1):
            views = [IpdView(seat, (), ())]
            for past in range(1, self.rounds):
                views += [IpdView(seat, (a,) * past, (b,) * past) for a in (0, 1) for b in (0, 1)]
            result.append(tuple(InfoSet(self.key(view), view, view.legal) for view in views))
        return tuple(result)

    def infosets(self, seat: int) -> tuple[InfoSet, ...]:
        """The first round, then for each later round the four last outcomes."""
        return self._infosets[seat]

    def label(self, view: IpdView, action: int) -> str:
        """The word for an action, by default COOPERATE or DEFECT."""
        return self.labels[action]

    def render(self, view: IpdView) -> tuple[Message, ...]:
        """Rules, then what happened and the round."""
        shown = tuple(zip(view.own, view.other, strict=True))
        return self._prompt(len(view.own) + 1, shown[-1:] if self.history == "last" else shown)

    @lru_cache(maxsize=4096)  # noqa: B019  (games are few and small)
    def _prompt(self, current: int, shown: tuple[Joint, ...]) -> tuple[Message, ...]:
        rules = rules_text(self.phrasing, self.labels, self._table, self.rounds, self.continuation, self.noise)
        announced = self.rounds if self.continuation is None else None
        turn = turn_text(shown, self.labels, self.history == "full", current, announced)
        return ({"role": "system", "content": rules}, {"role": "user", "content": turn})

    def reply(self, view: IpdView, action: int) -> str:
        """For example `ACTION: COOPERATE`."""
        return f"ACTION: {self.labels[action]}"

    def parse(self, text: str, view: IpdView, truncated: bool = False) -> Parsed | Rejected:
        """Reads a reply; see `language`."""
        return language.parse(text, {word: action for action, word in enumerate(self.labels)}, self.labels, truncated)

    def fallback(self, view: IpdView) -> int:
        """To cooperate, as published."""
        return COOPERATE

    def pools(self, preset: str) -> Mapping[str, tuple[str, ...]]:
        """The published pools; the collusive one is played in evaluation of preset `paper` only."""
        return ipd_pools(preset)

    def sft_mixture(self, preset: str) -> tuple[tuple[str, float], ...]:
        """Weights of the strategies that supervised traces come from."""
        return ipd_mixture(preset)
