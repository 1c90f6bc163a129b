"""Episodes as plain padded arrays, checked once where they enter."""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

POOLS = ("train", "exploiter", "collusive")


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
            needed: tuple[int, ...] = (
                (size,) if field.name in {"learner", "pool", "opponent", "group", "rounds"} else (size, steps)
            )
            if field.name.endswith("payoffs"):
                needed = (size, steps, players)
            elif field.name.endswith("outsiders"):
                needed = (size, steps, self.outsiders.shape[-1])
            if array.shape != needed:
                raise ValueError(f"{field.name} has shape {array.shape}: {needed} is needed")
            # With integers for booleans, ~ would turn every entry true.
            kind = {"mask": np.bool_, "invalid": np.bool_} | dict.fromkeys(
                ("segment", "learner", "group", "rounds"), np.integer
            )
            if field.name in kind and not np.issubdtype(array.dtype, kind[field.name]):
                needed_type = "bool" if kind[field.name] is np.bool_ else "an integer type"
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
