"""Episodes as plain padded arrays, checked once where they enter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from sepo_penalties.episode_input import check_step, ledgers, per_episode

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

POOLS = ("train", "exploiter", "collusive")
KINDS = {"mask": np.bool_, "invalid": np.bool_} | dict.fromkeys(("segment", "learner", "group", "rounds"), np.integer)
PER_EPISODE = ("learner", "pool", "opponent", "group", "rounds")


@dataclass(frozen=True)
class EpisodeBatch:
    """`B` episodes of up to `T` learner decisions (steps), `N` players and `K` outsiders.

    A step holds the ledger lines that finished before the learner's next decision. `expected_*` is the
    realised actions' ledger with coin flips averaged; `benchmark_*` and `harmless_*` are the ledgers had the
    learner played its benchmark or its do-no-harm action while everybody else's realised actions and the
    private values stayed. Payoffs are in the game's own units; padding is ignored.

    Attributes:
        payoffs, expected_payoffs, benchmark_payoffs, harmless_payoffs: `(B, T, N)`.
        outsiders, expected_outsiders, benchmark_outsiders, harmless_outsiders: `(B, T, K)`; K may be 0.
        mask: `(B, T)` True where the learner decided.
        invalid: `(B, T)` True where every reply was rejected and the fallback was played.
        segment: `(B, T)` hand of the step; return-to-go ends with it.
        learner: `(B,)` the learner's index on the player axis.
        pool: `(B,)` `train`, `exploiter` or `collusive`.
        opponent: `(B,)` name of the opponent.
        group: `(B,)` rollouts of one group are compared with each other.
        rounds: `(B,)` declared rounds or hands of the episode.
        outsiders_declared: Whether the game states who its outsiders are, be it nobody.
    """

    payoffs: Array
    expected_payoffs: Array
    benchmark_payoffs: Array
    harmless_payoffs: Array
    outsiders: Array
    expected_outsiders: Array
    benchmark_outsiders: Array
    harmless_outsiders: Array
    mask: Bools
    invalid: Bools
    segment: Ints
    learner: Ints
    pool: npt.NDArray[np.str_]
    opponent: npt.NDArray[np.str_]
    group: Ints
    rounds: Ints
    outsiders_declared: bool

    def __post_init__(self) -> None:
        """Checks every array.

        Raises:
            ValueError: With the name of the array, the row and the column that is wrong.
        """
        if self.payoffs.ndim != 3 or self.payoffs.shape[0] == 0:
            raise ValueError(
                f"payoffs have shape {self.payoffs.shape}: (episodes, steps, players) with at "
                "least one episode is needed"
            )
        size, steps, players = self.payoffs.shape
        for field in fields(self):
            if field.name == "outsiders_declared":
                continue
            array = getattr(self, field.name)
            needed: tuple[int, ...] = (size,) if field.name in PER_EPISODE else (size, steps)
            if field.name.endswith("payoffs"):
                needed = (size, steps, players)
            elif field.name.endswith("outsiders"):
                needed = (size, steps, self.outsiders.shape[-1])
            if array.shape != needed:
                raise ValueError(f"{field.name} has shape {array.shape}: {needed} is needed")
            # With integers for booleans, ~ would turn every entry true.
            if field.name in KINDS and not np.issubdtype(array.dtype, KINDS[field.name]):
                needed_type = "bool" if KINDS[field.name] is np.bool_ else "an integer type"
                raise ValueError(f"{field.name} has type {array.dtype}: {needed_type} is needed")
            if field.name.endswith(("payoffs", "outsiders")):
                wrong = ~np.isfinite(array).all(axis=-1) & self.mask
                if wrong.any():
                    row, column = np.argwhere(wrong)[0].tolist()
                    raise ValueError(
                        f"{field.name} of episode {row}, step {column} is not finite: {array[row, column].tolist()}"
                    )
        for name, bad in (
            ("learner", (self.learner < 0) | (self.learner >= players)),
            ("pool", ~np.isin(self.pool, POOLS)),
            ("rounds", self.rounds < 1),
            ("mask", ~self.mask.any(axis=1)),
        ):
            if bad.any():
                row = int(np.argmax(bad))
                allowed = {
                    "learner": f"0 to {players - 1}",
                    "pool": ", ".join(POOLS),
                    "rounds": "1 or more",
                    "mask": "at least one decision",
                }
                raise ValueError(f"{name} of episode {row} is {getattr(self, name)[row]!r}: allowed is {allowed[name]}")
        if (self.invalid & ~self.mask).any():
            row, column = np.argwhere(self.invalid & ~self.mask)[0].tolist()
            raise ValueError(f"episode {row}, step {column} is marked invalid but holds no decision")

    @classmethod
    def from_arrays(
        cls,
        payoffs: npt.ArrayLike,
        group: npt.ArrayLike,
        *,
        benchmark_payoffs: npt.ArrayLike | None,
        harmless_payoffs: npt.ArrayLike | None,
        expected_payoffs: npt.ArrayLike | None = None,
        outsiders: npt.ArrayLike | None = None,
        expected_outsiders: npt.ArrayLike | None = None,
        benchmark_outsiders: npt.ArrayLike | None = None,
        harmless_outsiders: npt.ArrayLike | None = None,
        invalid: npt.ArrayLike = False,
        learner: npt.ArrayLike = 0,
        pool: npt.ArrayLike = "train",
        opponent: npt.ArrayLike = "opponent",
    ) -> "EpisodeBatch":
        """Episodes of a one-shot game, one decision each.

        Args:
            payoffs: `(B, N)` payoffs of the players.
            group: `(B,)` which rollouts are compared with each other.
            benchmark_payoffs: `(B, N)` had the learner played its benchmark action; `None` states that the game has none, and collusion is 0.
            harmless_payoffs: `(B, N)` had it played its do-no-harm action; `None` states that there is none, and the externality is 0.
            expected_payoffs: `(B, N)` with coin flips averaged; the payoffs by default.
            outsiders: `(B, K)` payoffs of declared outsiders, K = 0 where there are declared to be none; `None` if nobody stated it.
            expected_outsiders: `(B, K)`; `outsiders` by default.
            benchmark_outsiders: `(B, K)`; needed with `outsiders` and `benchmark_payoffs`.
            harmless_outsiders: `(B, K)`; needed with `outsiders` and `harmless_payoffs`.
            invalid: Whether every reply was rejected, `(B,)` or one for all, as everything below.
            learner: The learner's index on the player axis.
            pool: `train`, `exploiter` or `collusive`.
            opponent: Name of the opponent.

        Raises:
            ValueError: With the name of the array, the row and the column that is wrong.
        """
        given = {
            "payoffs": payoffs,
            "expected_payoffs": expected_payoffs,
            "benchmark_payoffs": benchmark_payoffs,
            "harmless_payoffs": harmless_payoffs,
            "outsiders": outsiders,
            "expected_outsiders": expected_outsiders,
            "benchmark_outsiders": benchmark_outsiders,
            "harmless_outsiders": harmless_outsiders,
        }
        table = np.asarray(payoffs, dtype=np.float64)
        if table.ndim != 2 or not table.size:
            raise ValueError(
                f"payoffs have shape {table.shape}: (episodes, players) with at least one episode is needed"
            )
        size = len(table)
        arrays: dict[str, Any] = {name: array[:, None] for name, array in ledgers(given, (size,), "").items()}
        arrays["mask"] = np.ones((size, 1), dtype=bool)
        arrays["invalid"] = np.broadcast_to(np.asarray(invalid), (size,)).copy()[:, None]
        arrays["segment"] = np.zeros((size, 1), dtype=np.int64)
        arrays |= per_episode(size, learner=learner, pool=pool, opponent=opponent, group=group, rounds=1)
        return cls(**arrays, outsiders_declared=outsiders is not None)

    @classmethod
    def from_records(
        cls,
        episodes: Sequence[Sequence[Mapping[str, Any]]],
        group: npt.ArrayLike,
        rounds: npt.ArrayLike,
        *,
        learner: npt.ArrayLike = 0,
        pool: npt.ArrayLike = "train",
        opponent: npt.ArrayLike = "opponent",
    ) -> "EpisodeBatch":
        """Episodes given as lists of steps.

        Args:
            episodes: For each episode its steps, in order. A step is a mapping with the keys of `from_arrays` that hold one number for each
                player or outsider, where `benchmark_payoffs` and `harmless_payoffs` must be present and may be `None`, and optionally
                `invalid` (False by default) and `segment` (0 by default).
            group: `(B,)` which rollouts are compared with each other.
            rounds: Declared rounds or hands of an episode, one for all or `(B,)`; an episode may have fewer steps.
            learner: As in `from_arrays`.
            pool: As in `from_arrays`.
            opponent: As in `from_arrays`.

        Raises:
            ValueError: With the episode, the step and the key that is wrong.
        """
        if not len(episodes) or not all(len(steps) for steps in episodes):
            raise ValueError(
                "there is no episode, or one without steps: at least one episode with one step each is needed"
            )
        size, longest = len(episodes), max(map(len, episodes))
        declared = episodes[0][0].get("outsiders") is not None
        filled: dict[str, Any] = {
            "mask": np.zeros((size, longest), dtype=bool),
            "invalid": np.zeros((size, longest), dtype=bool),
            "segment": np.zeros((size, longest), dtype=np.int64),
        }
        for row, steps in enumerate(episodes):
            for column, step in enumerate(steps):
                place = f" of episode {row}, step {column}"
                check_step(step, declared, place)
                for name, ledger in ledgers(step, (), place).items():
                    if name not in filled:
                        filled[name] = np.zeros((size, longest, len(ledger)))
                    if filled[name].shape[-1] != len(ledger):
                        raise ValueError(
                            f"{name}{place} has {len(ledger)} entries: {filled[name].shape[-1]} are needed, as in the steps before"
                        )
                    filled[name][row, column] = ledger
                filled["mask"][row, column] = True
                filled["invalid"][row, column] = step.get("invalid", False)
                filled["segment"][row, column] = step.get("segment", 0)
        filled |= per_episode(size, learner=learner, pool=pool, opponent=opponent, group=group, rounds=rounds)
        return cls(**filled, outsiders_declared=declared)

    @property
    def own(self) -> Array:
        """`(B, T)` the learner's payoffs, 0 in padding."""
        return self._of_learner(self.payoffs)

    @property
    def others(self) -> Array:
        """`(B, T)` sum of the other players' payoffs, 0 in padding."""
        return np.where(self.mask, self.payoffs.sum(axis=-1), 0.0) - self.own

    def _of_learner(self, ledger: Array) -> Array:
        chosen = np.take_along_axis(ledger, self.learner[:, None, None], axis=2)[..., 0]
        return np.where(self.mask, chosen, 0.0)
