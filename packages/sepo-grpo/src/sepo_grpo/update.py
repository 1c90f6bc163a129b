"""The update: one Adam step on the sum of the games' losses."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from sepo_grpo.adapters import adapter_off
from sepo_grpo.config import RunConfig
from sepo_grpo.errors import TrainingStopped
from sepo_grpo.forward import Row
from sepo_grpo.language_model import LanguageModel
from sepo_grpo.loss import MergedRows, policy_loss

GRADIENT_NORM = 1.0


class ReferenceScores:
    """Log-probabilities of rows under the SFT policy.

    The canonical rows of each game are computed once, in one batch; all others when they are asked for, and never kept. What a row
    scores depends in its last bits on its company, so this way a resumed run computes the same bits as an uninterrupted one.

    Args:
        lm: The model; switched off, its adapter leaves the SFT policy.
        temperature: Of the distribution.
        canonical: Rows of each game that every step is likely to meet.
    """

    def __init__(self, lm: LanguageModel, temperature: float, canonical: Iterable[Sequence[Row]] = ()) -> None:
        self._lm = lm
        self._temperature = temperature
        self._known: dict[Row, Tensor] = {}
        for rows in canonical:
            self._known.update(zip(rows, self._score(rows), strict=True))

    def __call__(self, rows: Sequence[Row]) -> list[Tensor]:
        """Scores rows with the adapter switched off."""
        missing = [row for row in rows if row not in self._known]
        fresh = dict(zip(missing, self._score(missing), strict=True)) if missing else {}
        return [self._known[row] if row in self._known else fresh[row] for row in rows]

    @torch.no_grad()
    def _score(self, rows: Sequence[Row]) -> list[Tensor]:
        with adapter_off(self._lm.model):
            return self._lm.logprobs(rows, self._temperature)


def update(
    lm: LanguageModel,
    optimiser: torch.optim.Optimizer,
    batches: Sequence[MergedRows],
    reference: ReferenceScores,
    config: RunConfig,
) -> dict[str, float]:
    """Takes one step down the summed loss of all games and returns numbers to log.

    Raises:
        TrainingStopped: If a loss or a gradient is not finite; the weights are then unchanged.
    """
    parameters = [p for group in optimiser.param_groups for p in group["params"]]
    optimiser.zero_grad()
    logs = []
    for batch in batches:
        logprobs = lm.logprobs(batch.rows, config.temperature)
        old = [row.detach() for row in logprobs]
        loss, log = policy_loss(logprobs, old, reference(batch.rows), batch, config.clip, config.beta)
        if not torch.isfinite(loss):
            raise TrainingStopped(f"the loss is {loss.item()}")
        loss.backward()
        logs.append({"loss": loss.item(), **{key: value.item() for key, value in log.items()}})
    norm = torch.nn.utils.clip_grad_norm_(parameters, GRADIENT_NORM)
    if not torch.isfinite(norm):
        raise TrainingStopped(f"the gradient's norm is {norm.item()}")
    optimiser.step()
    return {key: sum(log[key] for log in logs) for key in logs[0]} | {"gradient_norm": norm.item()}
