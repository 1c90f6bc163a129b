"""Any repeated two-player matrix game in three views: a simultaneous tree, a ledger, and prompts, all from payoff arrays.

Both players choose at once, `rounds` times: seat 0 a row a, seat 1 a column b; they get payoffs[0][a][b] and payoffs[1][a][b]. A prompt
shows the round and the last outcome only, so a seat has 1 + n m (rounds - 1) information sets. A game is *symmetric* if both seats have
the same words and payoffs[0][a][b] = payoffs[1][b][a]; prompts then say "you, they" and both seats read the same.
The default is a stag hunt: A hunts the stag (4 each if both do, else nothing), B the hare (3, or 2 if both do).

Reference: unless one is given, the opponent's security level in pure strategies, max_b min_a u(a, b): what it can have whatever the
learner does. Only a `value` makes the exploitability of a zero-sum game zero at equilibrium.

Ledger. The benchmark action is a seat's part of the declared competitive outcome; games with outsiders must declare it, in others it is
the realised one. The do-no-harm action is the one with the highest sum of all payoffs, outsiders' included, the other's action
given, among the realised one and those that leave the seat its security level: nobody has to accept less to spare others.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from string import ascii_uppercase
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sepo_games import language
from sepo_games.errors import check_preset, unknown
from sepo_games.matrix_strategies import (
    matrix_held_out,
    matrix_mixture,
    matrix_pools,
    matrix_strategies,
    own_tables,
    security,
)
from sepo_games.rounds import (
    Joint,
    RoundsState,
    RoundsView,
    last_outcome_infosets,
    last_outcome_key,
    replaced,
    rounds_view,
)
from sepo_games.types import Alternative, Entry, InfoSet, Message, Parsed, Payoffs, Rejected, Strategy

Cells = tuple[tuple[float, ...], ...]
References = ("maxmin", "value", "fair", "nash")
STAG_HUNT: tuple[Cells, Cells] = (((4.0, 0.0), (3.0, 2.0)), ((4.0, 3.0), (0.0, 2.0)))


@dataclass(frozen=True)
class Matrix:
    """Rules of a repeated matrix game; `Matrix.of` takes arrays.

    Attributes:
        preset: `sepo` or `paper`; the rules are the same.
        payoffs: `(2, n, m)` payoffs of both seats as nested tuples.
        rounds: Announced number of rounds.
        labels: Upper-case words for the rows and for the columns; `()` for A, B, C and so on.
        names: What the players are called where the game is not symmetric.
        outsiders: Names of those who are paid or harmed but do not act.
        outsider_payoffs: `(n, m, K)` their payoffs as nested tuples.
        benchmark: Row and column of the competitive outcome, usually a stage equilibrium; needed if there are outsiders.
        reference: Where the reference payoffs come from.
        reference_payoffs: The opponent's reference payoff a round for each seat of the learner; None computes `maxmin`.

    Raises:
        ValueError: If a shape is wrong, a number is not finite, or a word cannot be read back.
    """

    preset: str = "sepo"
    payoffs: tuple[Cells, Cells] = STAG_HUNT
    rounds: int = 8
    labels: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, str] = ("Row", "Column")
    outsiders: tuple[str, ...] = ()
    outsider_payoffs: tuple[Cells, ...] = ()
    benchmark: Joint | None = None
    reference: Literal["maxmin", "value", "fair", "nash"] = "maxmin"
    reference_payoffs: tuple[float, float] | None = None

    name = "matrix-v1"
    unit: Literal["round"] = "round"
    segments = 1
    public = True
    enumerable = True
    yardsticks = ("uniform", "maxmin", "best-reply-to-last")

    @classmethod
    def of(cls, payoffs: npt.ArrayLike, outsider_payoffs: npt.ArrayLike = (), **rules: Any) -> "Matrix":
        """A game from arrays.

        Args:
            payoffs: `(2, n, m)`, for example `np.stack([A, -A])`.
            outsider_payoffs: `(n, m, K)`, if there are outsiders.
            **rules: The other attributes.
        """
        return cls(payoffs=_tuples(payoffs), outsider_payoffs=_tuples(outsider_payoffs), **rules)

    def __post_init__(self) -> None:
        """Checks the rules."""
        check_preset(self.preset)
        try:
            hash(self)
        except TypeError as error:
            raise ValueError(f"matrix game: give nested tuples, or arrays to Matrix.of: {error}") from error
        if self.rounds < 1:
            raise ValueError(f"matrix game: rounds = {self.rounds} is not allowed: at least 1")
        shape = _finite("payoffs", self.payoffs).shape
        if len(shape) != 3 or shape[0] != 2 or min(shape[1:]) < 1 or max(shape[1:]) < 2:
            raise ValueError(
                f"matrix game: payoffs of shape {shape} are not allowed: (2, rows, columns), somebody having a choice"
            )
        self._check_words()
        self._check_outsiders()
        self._check_reference()

    def _check_words(self) -> None:
        sizes = tuple(map(len, self.words))
        if sizes != self.shape:
            raise ValueError(f"matrix game: labels for {sizes} actions are not allowed: the game has {self.shape}")
        for side in self.words:
            for word in side:
                if word != word.upper() or language.parse(f"ACTION: {word}", {word: 0}, side) != Parsed(0):
                    raise ValueError(
                        f"matrix game: label {word!r} is not allowed: upper-case words of letters and digits, no negation"
                    )
            if len(set(side)) < len(side):
                raise ValueError(f"matrix game: labels {side} are not different")
        everybody = (*self.names, *self.outsiders)
        if len(self.names) != 2 or len(set(everybody)) < len(everybody) or not all(map(str.isprintable, everybody)):
            raise ValueError(
                f"matrix game: names {everybody} are not allowed: two players and outsiders, all different, on one line each"
            )

    def _check_outsiders(self) -> None:
        wanted = (*self.shape, len(self.outsiders)) if self.outsiders else (0,)
        found = _finite("outsider_payoffs", self.outsider_payoffs).shape
        if found != wanted:
            raise ValueError(f"matrix game: outsider_payoffs of shape {found} are not allowed: {wanted} is needed")
        if self.benchmark is None:
            if self.outsiders:
                raise ValueError(
                    "matrix game: outsiders need a benchmark: row and column of the outcome under competition, for example (0, 0)"
                )
        elif len(self.benchmark) != 2 or any(
            a not in range(n) for a, n in zip(self.benchmark, self.shape, strict=True)
        ):
            raise ValueError(f"matrix game: benchmark {self.benchmark} is not among the {self.shape} actions")

    def _check_reference(self) -> None:
        given = self.reference_payoffs
        if self.reference not in References:
            raise ValueError(unknown("reference", self.reference, References))
        if (self.reference == "maxmin") != (given is None):
            raise ValueError(
                f"matrix game: reference {self.reference!r} with reference_payoffs {given} is not allowed: "
                "maxmin is computed, the others need two payoffs"
            )
        if given is not None and _finite("reference_payoffs", given).shape != (2,):
            raise ValueError(
                f"matrix game: reference_payoffs {given} are not allowed: one for each seat of the learner"
            )
        if self.reference == "value" and not (self.zero_sum and given is not None and abs(sum(given)) <= 1e-6):
            raise ValueError(f"matrix game: only a zero-sum game has a value, v and -v; reference_payoffs are {given}")

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return (len(self.payoffs[0]), len(self.payoffs[0][0]))

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """Words for the rows and for the columns."""
        return self.labels or tuple(tuple(ascii_uppercase[:n]) for n in self.shape)

    @property
    def num_actions(self) -> int:
        """Of the seat that has more."""
        return max(self.shape)

    @property
    def decisions(self) -> int:
        """One a round."""
        return self.rounds

    @cached_property
    def zero_sum(self) -> bool:
        """Whether payoffs of every outcome add up to zero."""
        return bool((np.abs(np.sum(self.payoffs, axis=0)) < 1e-9).all())

    @cached_property
    def symmetric(self) -> bool:
        """Whether the seats have the same words and payoffs."""
        mine, theirs = own_tables(self.payoffs)
        return self.words[0] == self.words[1] and np.array_equal(mine, theirs) and self._outsiders_symmetric()

    def _outsiders_symmetric(self) -> bool:
        table = np.asarray(self.outsider_payoffs, dtype=np.float64)
        return not self.outsiders or np.array_equal(table, table.transpose(1, 0, 2))

    @cached_property
    def references(self) -> tuple[float, float]:
        """The opponent's reference payoff a round for each seat of the learner."""
        if self.reference_payoffs is not None:
            return self.reference_payoffs
        rows, columns = self._security
        return (columns, rows)

    @cached_property
    def _security(self) -> tuple[float, float]:
        rows, columns = (security(own)[1] for own in own_tables(self.payoffs))
        return (rows, columns)

    @cached_property
    def strategies(self) -> Mapping[str, Strategy]:
        """Every scripted strategy by name."""
        return matrix_strategies(self.payoffs)

    @property
    def held_out(self) -> tuple[str, ...]:
        """Names of strategies that no preset trains on."""
        return matrix_held_out(self.shape)

    def num_players(self) -> int:
        """Two."""
        return 2

    def stage(self) -> "Matrix":
        """One round of the game."""
        return replace(self, rounds=1)

    def new_initial_state(self) -> RoundsState:
        """Before the first round."""
        return RoundsState(self)

    def seat_of_segment(self, seat: int, segment: int) -> int:
        """The episode's seat."""
        return seat

    def outcome(self, joint: Joint) -> Alternative:
        """Payoffs of everybody after a joint action."""
        a, b = joint
        outside: Payoffs = self.outsider_payoffs[a][b] if self.outsiders else ()
        return Alternative((self.payoffs[0][a][b], self.payoffs[1][a][b]), outside)

    @lru_cache(maxsize=1024)  # noqa: B019  (games are few)
    def entry(self, joint: Joint) -> Entry:
        """The ledger line of a round."""
        paid = self.outcome(joint)
        benchmark = tuple(
            paid if self.benchmark is None else self.outcome(replaced(joint, seat, self.benchmark[seat]))
            for seat in (0, 1)
        )
        harmless = tuple(self._harmless(joint, seat) for seat in (0, 1))
        return Entry(paid.players, paid.outsiders, paid, benchmark, harmless)

    def _harmless(self, joint: Joint, seat: int) -> Alternative:
        others = [self.outcome(replaced(joint, seat, action)) for action in range(self.shape[seat])]
        bearable = [other for other in others if other.players[seat] >= self._security[seat]]
        return max([self.outcome(joint), *bearable], key=lambda paid: sum(paid.players) + sum(paid.outsiders))

    def repeated_form(self) -> dict[str, Any]:
        """Stage payoffs `(2, 1, 1, n, m)`, type probabilities and rounds, for exact best responses."""
        payoffs = [[[[list(row) for row in table]]] for table in self.payoffs]
        return {"payoffs": payoffs, "type_probs": ([1.0], [1.0]), "rounds": self.rounds}

    def view(self, state: RoundsState, seat: int) -> RoundsView:
        """What a seat sees at its decision."""
        return rounds_view(state, seat)

    @cached_property
    def _legal(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return tuple(range(self.shape[0])), tuple(range(self.shape[1]))

    def actions(self, seat: int) -> tuple[int, ...]:
        """All rows, or all columns."""
        return self._legal[seat]

    def pair(self, own: int, other: int) -> str:
        """Two actions, for example `0,1`."""
        return f"{own},{other}"

    @property
    def asked(self) -> tuple[str, str]:
        """For the error of an illegal history."""
        rows, columns = self.shape
        return "matrix game: actions", f"a row below {rows} and a column below {columns} each round"

    def position(self, state: RoundsState) -> Hashable:
        """Round and last outcome."""
        return len(state.played), state.played[-1:]

    def key(self, view: RoundsView) -> str:
        """Round and last outcome, own action first, for example `3:0,1`."""
        return last_outcome_key(self, view)

    @cached_property
    def _infosets(self) -> tuple[tuple[InfoSet, ...], ...]:
        return tuple(last_outcome_infosets(self, seat) for seat in (0, 1))

    def infosets(self, seat: int) -> tuple[InfoSet, ...]:
        """The first round, then for each later round the last outcomes, by own and then by the other's action."""
        return self._infosets[seat]

    def label(self, view: RoundsView, action: int) -> str:
        """The word of a row or column."""
        return self.words[view.seat][action]

    def render(self, view: RoundsView) -> tuple[Message, ...]:
        """Rules, last outcome, and the round last so that prompts share as long a beginning as they can."""
        seat = 0 if self.symmetric else view.seat
        return self._prompt(seat, len(view.own) + 1, tuple(zip(view.own, view.other, strict=True))[-1:])

    @lru_cache(maxsize=4096)  # noqa: B019
    def _prompt(self, seat: int, current: int, last: tuple[Joint, ...]) -> tuple[Message, ...]:
        mine, theirs = self.words[seat], self.words[1 - seat]
        past = f"Last round: you {mine[last[0][0]]}, they {theirs[last[0][1]]}." if last else "No round played yet."
        who = "" if self.symmetric else f"You are {self.names[seat]}. Choose {_either(mine)}. "
        return (
            {"role": "system", "content": self._rules()},
            {"role": "user", "content": f"{who}{past} Now round {current} of {self.rounds}."},
        )

    def _rules(self) -> str:
        first, second = ("you", "they") if self.symmetric else self.names
        cells = []
        for a, row in enumerate(self.words[0]):
            for b, column in enumerate(self.words[1]):
                paid = self.outcome((a, b))
                numbers = ", ".join(f"{x:.12g}" for x in (*paid.players, *paid.outsiders))
                cells.append(f"{first} {row}, {second} {column}: {numbers}")
        choice = (
            f"you and a partner both choose {_either(self.words[0])} at once"
            if self.symmetric
            else f"{first} chooses {_either(self.words[0])} and {second} chooses {_either(self.words[1])}, both at once"
        )
        return (
            f"A game of {self.rounds} {'round' if self.rounds == 1 else 'rounds'}. Each round {choice}. Points ({', '.join((first, second, *self.outsiders))}) "
            f"after {'; '.join(cells)}. Score as many points of your own in all rounds as you can. Reply with 'ACTION: ' and your choice."
        )

    def reply(self, view: RoundsView, action: int) -> str:
        """For example `ACTION: A`."""
        return f"ACTION: {self.label(view, action)}"

    def parse(self, text: str, view: RoundsView, truncated: bool = False) -> Parsed | Rejected:
        """Reads a reply; see `language`."""
        legal = {word: action for action, word in enumerate(self.words[view.seat])}
        return language.parse(text, legal, (*self.words[0], *self.words[1]), truncated)

    def fallback(self, view: RoundsView) -> int:
        """The first action."""
        return 0

    def pools(self, preset: str) -> Mapping[str, tuple[str, ...]]:
        """Opponents by pool; the same in both presets."""
        return matrix_pools(preset, self.shape[0] == self.shape[1], bool(self.outsiders))

    def sft_mixture(self, preset: str) -> tuple[tuple[str, float], ...]:
        """Weights of the strategies that supervised traces come from."""
        return matrix_mixture(preset)


def _finite(name: str, given: Any) -> npt.NDArray[np.float64]:
    try:
        table = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"matrix game: {name} are no array of numbers: {error}") from error
    if not np.isfinite(table).all():
        raise ValueError(f"matrix game: {name} hold a number that is not finite: {given}")
    return table


def _tuples(given: npt.ArrayLike) -> Any:
    """An array as nested tuples, so that games are hashable."""
    table = np.asarray(given, dtype=np.float64)
    return tuple(map(_tuples, table)) if table.ndim else float(table)


def _either(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
