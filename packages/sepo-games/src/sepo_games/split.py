"""The repeated split of a pie in three views: a simultaneous tree, a ledger, and prompts.

Each round both players demand 1 to pie - 1 at once. Demands that fit, a + b <= pie, are paid and the rest is lost (a deal); else both
get nothing (a breakdown). The prompt shows the round and the last demands only, so a seat has 1 + (pie - 1)^2 (rounds - 1) information
sets; scripted opponents see the whole history. The stage game's pure equilibria are the pie - 1 exact splits.

Ledger: there are no outsiders. The do-no-harm action loses nothing of the pie given the other's demand b: it is pie - b, the largest
demand that fits. One case is excepted: in a breakdown, a seat that demanded no more than half did not cause it, because two such
demands always fit; its own action then stands (self-defence). So a demand above half that breaks down costs the whole pie, a deal
costs what it leaves on the table, nobody is pressed to give in to greed, and every breakdown is somebody's.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

from sepo_games import language
from sepo_games.errors import check_preset
from sepo_games.rounds import (
    Joint,
    RoundsState,
    RoundsView,
    last_outcome_infosets,
    last_outcome_key,
    replaced,
    rounds_view,
)
from sepo_games.split_strategies import SPLIT_HELD_OUT, split_mixture, split_pools, split_strategies
from sepo_games.types import Alternative, Entry, InfoSet, Message, Parsed, Rejected, Strategy


@dataclass(frozen=True)
class Split:
    """Rules of the split.

    Attributes:
        preset: `sepo` or `paper`; the rules are the same.
        pie: What is split each round, a whole number of at least 3.
        rounds: Announced number of rounds.

    Raises:
        ValueError: If an option is out of its range.
    """

    preset: str = "sepo"
    pie: int = 10
    rounds: int = 4

    name = "split-v1"
    unit: Literal["round"] = "round"
    segments = 1
    zero_sum = False
    public = True
    enumerable = True
    outsiders = ()
    reference: Literal["fair"] = "fair"
    yardsticks = ("uniform", "fair", "hardball")
    held_out = SPLIT_HELD_OUT

    def __post_init__(self) -> None:
        """Checks the rules."""
        check_preset(self.preset)
        for name, given, least in (("pie", self.pie, 3), ("rounds", self.rounds, 1)):
            if type(given) is not int or given < least:
                raise ValueError(f"split: {name} = {given!r} is not allowed: a whole number of at least {least}")

    @property
    def decisions(self) -> int:
        """One a round."""
        return self.rounds

    @property
    def num_actions(self) -> int:
        """Demands from 1 to pie - 1."""
        return self.pie - 1

    @property
    def references(self) -> tuple[float, float]:
        """What the opponent gets a round at the fair efficient outcome: half the pie."""
        return (self.pie / 2, self.pie / 2)

    @cached_property
    def strategies(self) -> Mapping[str, Strategy]:
        """Every scripted strategy by name."""
        return split_strategies(self.pie, self.rounds)

    def num_players(self) -> int:
        """Two."""
        return 2

    def new_initial_state(self) -> RoundsState:
        """Before the first round."""
        return RoundsState(self)

    def seat_of_segment(self, seat: int, segment: int) -> int:
        """The episode's seat."""
        return seat

    def fits(self, joint: Joint) -> bool:
        """Whether the demands of two actions fit."""
        return joint[0] + joint[1] + 2 <= self.pie

    def outcome(self, joint: Joint) -> Alternative:
        """What each seat gets after a joint action."""
        paid = (joint[0] + 1.0, joint[1] + 1.0) if self.fits(joint) else (0.0, 0.0)
        return Alternative(paid, ())

    @lru_cache(maxsize=1024)  # noqa: B019  (games are few and small)
    def entry(self, joint: Joint) -> Entry:
        """The ledger line of a round."""
        paid = self.outcome(joint)
        return Entry(paid.players, (), paid, (paid, paid), (self._harmless(joint, 0), self._harmless(joint, 1)))

    def _harmless(self, joint: Joint, seat: int) -> Alternative:
        if not self.fits(joint) and 2 * (joint[seat] + 1) <= self.pie:
            return self.outcome(joint)
        rest = self.pie - joint[1 - seat] - 2
        return self.outcome(replaced(joint, seat, rest))

    def repeated_form(self) -> dict[str, Any]:
        """Stage payoffs `(2, 1, 1, n, n)`, type probabilities and rounds, for exact best responses."""
        n = range(self.num_actions)
        payoffs = [[[[[self.outcome((a, b)).players[i] for b in n] for a in n]]] for i in (0, 1)]
        return {"payoffs": payoffs, "type_probs": ([1.0], [1.0]), "rounds": self.rounds}

    def view(self, state: RoundsState, seat: int) -> RoundsView:
        """What a seat sees at its decision."""
        return rounds_view(state, seat)

    @cached_property
    def _legal(self) -> tuple[int, ...]:
        return tuple(range(self.num_actions))

    def actions(self, seat: int) -> tuple[int, ...]:
        """All demands; action a demands a + 1."""
        return self._legal

    def pair(self, own: int, other: int) -> str:
        """Two demands, for example `5,6`."""
        return f"{own + 1},{other + 1}"

    @property
    def asked(self) -> tuple[str, str]:
        """For the error of an illegal history."""
        return (
            "split: actions",
            f"two numbers from 0 to {self.num_actions - 1} each round, where action a demands a + 1",
        )

    def position(self, state: RoundsState) -> Hashable:
        """Round and last demands."""
        return len(state.played), state.played[-1:]

    def key(self, view: RoundsView) -> str:
        """Round and last demands, own first, for example `3:5,6`."""
        return last_outcome_key(self, view)

    @cached_property
    def _infosets(self) -> tuple[tuple[InfoSet, ...], ...]:
        return tuple(last_outcome_infosets(self, seat) for seat in (0, 1))

    def infosets(self, seat: int) -> tuple[InfoSet, ...]:
        """The first round, then for each later round the last demands, by own and then by the other's."""
        return self._infosets[seat]

    def label(self, view: RoundsView, action: int) -> str:
        """The demand as a number."""
        return str(action + 1)

    def render(self, view: RoundsView) -> tuple[Message, ...]:
        """Rules, last demands, and the round last so that prompts share as long a beginning as they can."""
        return self._prompt(len(view.own) + 1, tuple(zip(view.own, view.other, strict=True))[-1:])

    @lru_cache(maxsize=4096)  # noqa: B019
    def _prompt(self, current: int, last: tuple[Joint, ...]) -> tuple[Message, ...]:
        past = "No round played yet."
        if last:
            result = "DEAL" if self.fits(last[0]) else "BREAKDOWN"
            past = f"Last round: you {last[0][0] + 1}, they {last[0][1] + 1}, {result}."
        return (
            {"role": "system", "content": self._rules()},
            {"role": "user", "content": f"{past} Now round {current} of {self.rounds}."},
        )

    def _rules(self) -> str:
        return (
            f"A game of {self.rounds} {'round' if self.rounds == 1 else 'rounds'}. Each round you and a partner split {self.pie} points: "
            f"both demand a whole number from 1 to {self.num_actions} at once. If the demands add up to {self.pie} or less it is a DEAL: "
            "each gets its demand, the rest is lost. If they add up to more it is a BREAKDOWN: both get 0. "
            "Score as many points of your own in all rounds as you can. Reply with 'ACTION: ' and your demand."
        )

    def reply(self, view: RoundsView, action: int) -> str:
        """For example `ACTION: 5`."""
        return f"ACTION: {action + 1}"

    def parse(self, text: str, view: RoundsView, truncated: bool = False) -> Parsed | Rejected:
        """Reads a reply; see `language`. A number outside the demands is no demand; it is never moved into their range."""
        return language.parse(text, self._words, self._words, truncated)

    @cached_property
    def _words(self) -> Mapping[str, int]:
        return {str(action + 1): action for action in self._legal}

    def fallback(self, view: RoundsView) -> int:
        """To demand half, as published."""
        return self.pie // 2 - 1

    def pools(self, preset: str) -> Mapping[str, tuple[str, ...]]:
        """Opponents by pool."""
        return split_pools(preset)

    def sft_mixture(self, preset: str) -> tuple[tuple[str, float], ...]:
        """Weights of the strategies that supervised traces come from."""
        return split_mixture(preset)
