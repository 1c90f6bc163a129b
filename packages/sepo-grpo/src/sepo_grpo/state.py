"""What training remembers from step to step beside weights and optimiser: penalty weights, the KL's weight, best responses, tables.

It is plain data and goes into each checkpoint, so that a resumed run goes on as if it had not stopped.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sepo_games import Game, SeatTables
from sepo_penalties import PidLagrangian, Weights

from sepo_grpo.config import RunConfig
from sepo_grpo.step import weights_of

PARTS = ("exploitability", "collusion", "externality")
COST_OF = {"exploitability": "surplus", "collusion": "collusion", "externality": "externality"}
"""The number of a step's log that is held against the budget, per round, clipped at 0."""
KL_GAIN, KL_ERROR = 0.1, 0.2
"""Of the adaptive KL weight (Ziegler et al. 2019): beta grows by the gain times the relative error, clipped."""
LARGEST_INTEGRAL = 1e6
"""Of a controller; finite, so that it can be written as JSON."""

Tables = dict[str, dict[str, tuple[float, ...]]]


@dataclass(frozen=True)
class TrainerState:
    """Carried over from step to step.

    Attributes:
        beta: Weight of the KL.
        controllers: For each game and part with a budget, its controller.
        responders: For each game the last best response, seat (as text) to its table.
    """

    beta: float
    controllers: Mapping[str, Mapping[str, PidLagrangian]] = field(default_factory=dict)
    responders: Mapping[str, Tables] = field(default_factory=dict)

    @classmethod
    def first(cls, config: RunConfig, games: list[str]) -> "TrainerState":
        """The state before the first step: weights under a budget start at the settings' weights."""
        budgets = {part: getattr(config, f"budget_{part}") for part in PARTS}
        start = {
            part: PidLagrangian(budget, cap=LARGEST_INTEGRAL, weight=getattr(config, f"lambda_{part}"))
            for part, budget in budgets.items()
            if budget is not None
        }
        return cls(config.beta, dict.fromkeys(games, start) if start else {})

    def weights(self, game: str, config: RunConfig) -> Weights:
        """The penalty weights of a game in the next step."""
        found = {part: controller.weight for part, controller in self.controllers.get(game, {}).items()}
        return replace(weights_of(config), **found)

    def responder(self, game: Game, step: int, config: RunConfig) -> SeatTables | None:
        """The best response that is still played in a step, or `None` if it is time for a new one."""
        tables = self.responders.get(game.name)
        if tables is None or step % config.best_response_every == 0:
            return None
        return SeatTables(game, {int(seat): table for seat, table in tables.items()})

    def after(self, log: Mapping[str, Any], responders: Mapping[str, Tables], config: RunConfig) -> "TrainerState":
        """The state after a step.

        Args:
            log: The step's line of metrics.
            responders: Best responses that were new in the step.
            config: The run's settings.
        """
        controllers = {
            game: {
                part: pid.update(max(0.0, log["games"][game][COST_OF[part]] or 0.0)) for part, pid in of_game.items()
            }
            for game, of_game in self.controllers.items()
        }
        beta = self.beta
        if config.kl_target is not None:
            error = min(KL_ERROR, max(-KL_ERROR, log["kl"] / config.kl_target - 1))
            beta *= 1 + KL_GAIN * error
        return TrainerState(beta, controllers, {**self.responders, **responders})

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "beta": self.beta,
            "controllers": {
                game: {part: asdict(pid) for part, pid in of.items()} for game, of in self.controllers.items()
            },
            "responders": self.responders,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "TrainerState":
        """Reads what `to_json` wrote."""
        return cls(
            data["beta"],
            {
                game: {part: PidLagrangian(**pid) for part, pid in of.items()}
                for game, of in data["controllers"].items()
            },
            data["responders"],
        )
