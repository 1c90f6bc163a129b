"""The update: Adam steps on the sum of the games' losses, piece by piece where memory asks for it."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from sepo_grpo.adapters import adapter_off
from sepo_grpo.chunks import among_legal, chunks
from sepo_grpo.config import RunConfig
from sepo_grpo.errors import TrainingStopped
from sepo_grpo.forward import Row
from sepo_grpo.language_model import LanguageModel
from sepo_grpo.loss import LossOptions, MergedRows, policy_loss

GRADIENT_NORM = 1.0


class ReferenceScores:
    """Log-probabilities of rows under the KL reference.

    The canonical rows of each game are computed once, in one batch; all others when they are asked for, and never kept. What a row
    scores depends in its last bits on its company, so this way a resumed run computes the same bits as an uninterrupted one.

    Args:
        lm: The reference: a model of its own, or the trained one, which is the reference while its adapter is switched off.
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
        """Scores rows."""
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
    beta: float | None = None,
) -> dict[str, float]:
    """Takes `config.updates` steps down the summed loss of all games, fewer if `kl_stop` is met, and returns numbers to log.

    Args:
        lm: The model in training.
        optimiser: Of its trainable parameters.
        batches: The rows of each game.
        reference: The KL reference.
        config: The run's settings.
        beta: Weight of the KL, if it is adapted.

    Returns:
        Of the first update: `loss`; `kl` to the reference and `step_kl` to the policy that sampled, nats per decision; `invalid`,
        `clip_share` and `gradient_norm`, all but the last summed over games. And `updates`, how many were taken. `step_kl` and
        `clip_share` are of the last update, since they are 0 in the first.

    Raises:
        TrainingStopped: If a loss or a gradient is not finite; the weights are then unchanged.
    """
    options = LossOptions(
        config.loss,
        config.clip,
        config.clip_high,
        config.beta if beta is None else beta,
        kl_correction=config.updates > 1,
    )
    parameters = [p for group in optimiser.param_groups for p in group["params"]]
    old: dict[tuple[int, int], list[Tensor]] = {}
    first: dict[str, float] = {}
    log: dict[str, float] = {}
    for number in range(config.updates):
        optimiser.zero_grad()
        log = _descend(lm, batches, reference, config, options, old)
        if number and config.kl_stop is not None and log["step_kl"] > config.kl_stop:
            break
        norm = torch.nn.utils.clip_grad_norm_(parameters, GRADIENT_NORM)
        if not torch.isfinite(norm):
            raise TrainingStopped(f"the gradient's norm is {norm.item()}")
        optimiser.step()
        first = first or log | {"gradient_norm": norm.item()}
        first["updates"] = number + 1
    return first | {key: log[key] for key in ("step_kl", "clip_share")}


def _descend(
    lm: LanguageModel,
    batches: Sequence[MergedRows],
    reference: ReferenceScores,
    config: RunConfig,
    options: LossOptions,
    old: dict[tuple[int, int], list[Tensor]],
) -> dict[str, float]:
    """Adds up the gradients of all games' pieces; `old` keeps what the policy that sampled gave each of them."""
    logs = []
    for number, batch in enumerate(batches):
        sums: dict[str, float] = {}
        for place, (_, piece) in enumerate(chunks(batch, config.micro_tokens)):
            logprobs = lm.logprobs(piece.rows, config.temperature)
            known = reference(piece.rows)
            if config.actions == "choose":
                logprobs, known = among_legal(logprobs, piece.valid), among_legal(known, piece.valid)
            before = old.setdefault((number, place), [row.detach() for row in logprobs])
            loss, log = policy_loss(logprobs, before, known, piece, options)
            if not torch.isfinite(loss):
                raise TrainingStopped(f"the loss is {loss.item()}")
            loss.backward()
            for key, value in {"loss": loss.detach(), **log}.items():
                sums[key] = sums.get(key, 0.0) + value.item()
        decisions = float(batch.count.sum())
        logs.append(
            {
                "loss": sums["loss"],
                "invalid": sums["invalid"],
                "kl": sums["kl"] / decisions,
                "step_kl": sums["step_kl"] / decisions,
                "clip_share": sums["outside"] / sums["tokens"],
            }
        )
    return {key: sum(log[key] for log in logs) for key in logs[0]}
