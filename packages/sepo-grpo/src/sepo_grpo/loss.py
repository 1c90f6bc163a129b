"""The GRPO loss on merged rows.

Identical (prompt, reply) samples of one step are one row. With the advantages A_j of its samples and the ratio
rho = pi / pi_old of one of its tokens, the clipped surrogate of all its samples is

    sum_j min(rho A_j, clip(rho) A_j) = min(rho, 1 + eps) A+  +  max(rho, 1 - eps) A-

where A+ and A- are the sums of the positive and the negative advantages: exactly the unmerged sum, also outside the clip
range. The KL to the reference is the k3 estimate exp(d) - d - 1 with d = log pi_ref - log pi, per token, times the number of
samples. Everything is divided by one constant (rollouts x rounds), never by a length.

The cost of a rejected reply is known at every information set, also where play did not go, since the probability of a valid reply is
that of the canonical ones: the loss adds  cost x mean_I (1 - sum_a pi(reply of a | I)).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sepo_grpo.forward import Row


@dataclass(frozen=True)
class MergedRows:
    """The distinct (prompt, reply) pairs of one game and step, with what their samples add up to.

    Attributes:
        rows: (prompt ids, reply ids) pairs, distinct.
        positive: `(n,)` sum of the positive advantages, >= 0, in payoff units times row weight.
        negative: `(n,)` sum of the negative advantages, <= 0.
        count: `(n,)` number of samples, weighted like the advantages.
        norm: Rollouts times declared rounds of the game, times the unit of its payoffs (see `step`).
        valid: For each information set, places in `rows` of its legal actions' canonical replies.
        invalid_cost: Cost of a rejected reply, in payoff units.
        unit: The unit of the game's payoffs.
    """

    rows: tuple[Row, ...]
    positive: Tensor
    negative: Tensor
    count: Tensor
    norm: float
    valid: tuple[tuple[int, ...], ...]
    invalid_cost: float
    unit: float


def policy_loss(
    logprobs: Sequence[Tensor],
    old: Sequence[Tensor],
    reference: Sequence[Tensor],
    batch: MergedRows,
    clip: float,
    beta: float,
) -> tuple[Tensor, dict[str, Tensor]]:
    """The loss to minimise, and what to log about it.

    Args:
        logprobs: For each row the log-probability of each reply token under the policy in training.
        old: The same under the policy that sampled.
        reference: The same under the SFT policy.
        batch: The merged rows.
        clip: eps of the clipped ratio, > 0.
        beta: Weight of the KL to the reference, >= 0, in payoff units per nat.

    Returns:
        The loss, and to log: `kl` (nats per decision), `invalid` (probability of a rejected reply, mean over information
        sets) and `clip_share` (share of samples' tokens outside the clip range).
    """
    lengths = torch.tensor([len(row) for row in logprobs], device=logprobs[0].device)
    new = torch.cat(list(logprobs))
    ratio = (new - torch.cat(list(old))).exp()
    positive, negative, count = (
        part.to(new).repeat_interleave(lengths) for part in (batch.positive, batch.negative, batch.count)
    )
    gain = ratio.clamp(max=1 + clip) * positive + ratio.clamp(min=1 - clip) * negative
    gap = torch.cat(list(reference)) - new
    kl = (gap.exp() - gap - 1) * count
    outside = ((ratio - 1).abs() > clip) * count
    decisions = batch.count.sum().to(new)
    invalid = invalid_probability(logprobs, batch.valid)
    return (beta * kl - gain).sum() / batch.norm + batch.invalid_cost * invalid / batch.unit, {
        "invalid": invalid.detach(),
        "kl": kl.sum().detach() / decisions,
        "clip_share": outside.sum() / count.sum(),
    }


def invalid_probability(logprobs: Sequence[Tensor], valid: Sequence[Sequence[int]]) -> Tensor:
    """Mean over information sets of the probability that a reply is none of the canonical ones."""
    said = torch.stack([row.sum() for row in logprobs]).exp()
    return torch.stack([1 - said[list(places)].sum() for places in valid]).mean()
