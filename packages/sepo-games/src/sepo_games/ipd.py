"""The iterated prisoner's dilemma in three views: a simultaneous tree, a ledger, and prompts.

Both players choose COOPERATE (0) or DEFECT (1) at once, for an announced number of rounds. The payoff table must be a
prisoner's dilemma: T > R > P > S and 2R > T + S. The default prompt shows the round and the last outcome only, so a seat has
1 + 4 (rounds - 1) information sets; scripted opponents see the whole history. With `history="full"` the prompt shows every round; there
are then too many information sets to list, and `infosets` and `key` are the projection onto the round and the last outcome.

Ledger: there are no outsiders. The do-no-harm action is COOPERATE where the opponent cooperates in that round, and the realised
action elsewhere: answering a defection is self-defence and harms nobody wrongly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import isfinite
from typing import Any, Literal

from sepo_games import language
from sepo_games.errors import check_preset, unknown
from sepo_games.ipd_strategies import ipd_mixture, ipd_pools, ipd_strategies
from sepo_games.types import Alternative, Entry, InfoSet, Message, Parsed, Rejected, Strategy

COOPERATE, DEFECT = 0, 1
WORDS = ("COOPERATE", "DEFECT")
Joint = tuple[int, int]


@dataclass(frozen=True)
class IpdView:
    """What a seat sees: both players' actions so far, oldest first."""

    seat: int
    own: tuple[int, ...]
    other: tuple[int, ...]
    legal: tuple[int, ...] = (0, 1)


@dataclass(frozen=True)
class IpdState:
    """One history: the joint actions so far, seat 0 first."""

    game: "Ipd"
    played: tuple[Joint, ...] = ()

    def is_terminal(self) -> bool:
        """Whether the last round is over."""
        return len(self.played) == self.game.rounds

    def is_chance_node(self) -> bool:
        """Never."""
        return False

    def is_simultaneous_node(self) -> bool:
        """Whether a round is to be played."""
        return not self.is_terminal()

    def current_player(self) -> int:
        """-2 both players at once, -4 the game is over."""
        return -4 if self.is_terminal() else -2

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """None."""
        return []

    def legal_actions(self, player: int) -> list[int]:
        """Both actions, until the end."""
        return [] if self.is_terminal() else [COOPERATE, DEFECT]

    def information_state_string(self, player: int) -> str:
        """The whole history from the player's side, for example `CD DD`."""
        return " ".join(f"{'CD'[joint[player]]}{'CD'[joint[1 - player]]}" for joint in self.played)

    def child(self, action: Sequence[int]) -> "IpdState":
        """The history after a round."""
        if len(action) != 2 or not {*action} <= {COOPERATE, DEFECT} or self.is_terminal():
            raise ValueError(
                f"prisoner's dilemma: actions {tuple(action)} after {len(self.played)} rounds are not allowed: "
                f"one action, 0 or 1, for each of two seats, {self.game.rounds} times"
            )
        return IpdState(self.game, (*self.played, (action[0], action[1])))

    def returns(self) -> list[float]:
        """Points of each seat so far."""
        return [sum(entry.payoffs[seat] for entry in self.entries) for seat in (0, 1)]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """One ledger line a round."""
        return tuple(self.game.entry(joint) for joint in self.played)


@dataclass(frozen=True)
class Ipd:
    """Rules of the iterated prisoner's dilemma.

    Attributes:
        preset: `sepo` or `paper`; the rules are the same.
        history: What a prompt shows: the `last` outcome, or the `full` history.
        rounds: Announced number of rounds.
        reward: R, points of each after mutual cooperation.
        temptation: T, points of a defector against a cooperator.
        sucker: S, points of a cooperator against a defector.
        punishment: P, points of each after mutual defection.
    """

    preset: str = "sepo"
    history: Literal["last", "full"] = "last"
    rounds: int = 8
    reward: float = 3.0
    temptation: float = 5.0
    sucker: float = 0.0
    punishment: float = 1.0

    name = "ipd-v1"
    unit: Literal["round"] = "round"
    segments = 1
    num_actions = 2
    zero_sum = False
    outsiders = ()
    reference: Literal["fair"] = "fair"
    yardsticks = ("uniform", "always-defect", "tit-for-tat")

    def __post_init__(self) -> None:
        """Checks that the table is a prisoner's dilemma."""
        check_preset(self.preset)
        if self.history not in {"last", "full"}:
            raise ValueError(unknown("history", self.history, ("last", "full")))
        if self.rounds < 1:
            raise ValueError(f"prisoner's dilemma: rounds = {self.rounds} is not allowed: at least 1")
        t, r, p, s = self.temptation, self.reward, self.punishment, self.sucker
        if not all(map(isfinite, (t, r, p, s))) or not (t > r > p > s and 2 * r > t + s):
            raise ValueError(
                f"temptation {t}, reward {r}, punishment {p}, sucker {s} are no prisoner's dilemma: T > R > P > S and 2R > T + S are needed"
            )

    @property
    def enumerable(self) -> bool:
        """Whether prompts show no more than `infosets` tell apart."""
        return self.history == "last"

    @property
    def decisions(self) -> int:
        """One a round."""
        return self.rounds

    @property
    def references(self) -> tuple[float, float]:
        """What the opponent gets a round at the fair efficient outcome, mutual cooperation."""
        return (self.reward, self.reward)

    @cached_property
    def strategies(self) -> Mapping[str, Strategy]:
        """Every scripted strategy by name."""
        return ipd_strategies()

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

    @lru_cache(maxsize=64)  # noqa: B019  (games are few and small)
    def entry(self, joint: Joint) -> Entry:
        """The ledger line of a round."""
        realised = Alternative(self.payoffs(joint), ())
        harmless = tuple(
            Alternative(self.payoffs(_replaced(joint, seat, COOPERATE)), ())
            if joint[1 - seat] == COOPERATE
            else realised
            for seat in (0, 1)
        )
        return Entry(realised.players, (), realised, (realised, realised), harmless)

    def repeated_form(self) -> dict[str, Any]:
        """Stage payoffs `(2, 1, 1, 2, 2)`, type probabilities and rounds, for exact best responses."""
        payoffs = [[[[[self.payoffs((a, b))[i] for b in (0, 1)] for a in (0, 1)]]] for i in (0, 1)]
        return {"payoffs": payoffs, "type_probs": ([1.0], [1.0]), "rounds": self.rounds}

    def view(self, state: IpdState, seat: int) -> IpdView:
        """What a seat sees at its decision."""
        return IpdView(seat, tuple(j[seat] for j in state.played), tuple(j[1 - seat] for j in state.played))

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
        """COOPERATE or DEFECT."""
        return WORDS[action]

    def render(self, view: IpdView) -> tuple[Message, ...]:
        """Rules, last outcome, and the round last so that prompts share as long a beginning as they can."""
        shown = tuple(zip(view.own, view.other, strict=True))
        return self._prompt(len(view.own) + 1, shown[-1:] if self.history == "last" else shown)

    @lru_cache(maxsize=4096)  # noqa: B019
    def _prompt(self, current: int, shown: tuple[Joint, ...]) -> tuple[Message, ...]:
        said = "; ".join(f"you {WORDS[own]}, they {WORDS[other]}" for own, other in shown)
        label = "Last round" if self.history == "last" else "Rounds so far"
        past = f"{label}: {said}." if shown else "No round played yet."
        return (
            {"role": "system", "content": self._rules()},
            {"role": "user", "content": f"{past} Now round {current} of {self.rounds}."},
        )

    def _rules(self) -> str:
        t, r, p, s = (f"{x:g}" for x in (self.temptation, self.reward, self.punishment, self.sucker))
        return (
            f"A game of {self.rounds} rounds. Each round you and a partner both choose COOPERATE or DEFECT at once. Points (you, they): "
            f"both COOPERATE {r}, {r}; both DEFECT {p}, {p}; you DEFECT, they COOPERATE {t}, {s}; you COOPERATE, they DEFECT {s}, {t}. "
            "Score as many points in all rounds as you can. Reply with 'ACTION: ' and your choice."
        )

    def reply(self, view: IpdView, action: int) -> str:
        """For example `ACTION: COOPERATE`."""
        return f"ACTION: {WORDS[action]}"

    def parse(self, text: str, view: IpdView, truncated: bool = False) -> Parsed | Rejected:
        """Reads a reply; see `language`."""
        return language.parse(text, {word: action for action, word in enumerate(WORDS)}, WORDS, truncated)

    def fallback(self, view: IpdView) -> int:
        """COOPERATE, as published."""
        return COOPERATE

    def pools(self, preset: str) -> Mapping[str, tuple[str, ...]]:
        """The published pools; the collusive one is played in evaluation of preset `paper` only."""
        return ipd_pools(preset)

    def sft_mixture(self, preset: str) -> tuple[tuple[str, float], ...]:
        """Weights of the strategies that supervised traces come from."""
        return ipd_mixture(preset)


def _replaced(joint: Joint, seat: int, action: int) -> Joint:
    return (action, joint[1]) if seat == 0 else (joint[0], action)
