"""The GRPO loss on merged rows.

Identical (prompt, reply) samples of one step are one row. With the advantages A_j of its samples and the ratio
rho = pi / pi_old of one of its tokens, the clipped surrogate of all its samples is

    sum_j min(rho A_j, clip(rho) A_j) = min(rho, 1 + eps) A+  +  max(rho, 1 - eps) A-

where A+ and A- are the sums of the positive and the negative advantages: exactly the unmerged sum, also outside the clip
range. The KL to the reference is the k3 estimate exp(d) - d - 1 with d = log pi_ref - log pi, per token, times the number of
samples (and times rho with `kl_correction`). With S the sum over rows and their tokens of (beta KL - surrogate), the kinds of loss are

    dr_grpo   S / norm, one constant (rollouts x rounds), never a length
    grpo      as dr_grpo, each row's tokens divided by their number
    gspo      as grpo, with the ratio of the whole reply, exp(mean over its tokens of log rho), in place of each token's
    dapo      S / (norm x tokens a sample)

The cost of a rejected reply is known at every information set, also where play did not go, since the probability of a valid reply is
that of the canonical ones: the loss adds  cost x mean_I (1 - sum_a pi(reply of a | I)).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sepo_grpo.config import LossKind
from sepo_grpo.forward import Row


@dataclass(frozen=True)
class LossOptions:
    """How the loss is made.

    Attributes:
        kind: `dr_grpo`, `grpo`, `gspo` or `dapo`.
        clip: eps of the clipped ratio, > 0.
        clip_high: Its upper side, if it differs.
        beta: Weight of the KL to the reference, >= 0, in payoff units per nat.
        kl_correction: Whether the KL of a token is multiplied by its ratio, which makes its gradient that of the KL where samples are
            of an older policy.
    """

    kind: LossKind = "dr_grpo"
    clip: float = 0.2
    clip_high: float | None = None
    beta: float = 0.0
    kl_correction: bool = False


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
        infosets: Number of information sets that the mean cost of invalid replies is over.
        invalid_cost: Cost of a rejected reply, in payoff units.
        unit: The unit of the game's payoffs.
    """

    rows: tuple[Row, ...]
    positive: Tensor
    negative: Tensor
    count: Tensor
    norm: float
    valid: tuple[tuple[int, ...], ...]
    infosets: int
    invalid_cost: float
    unit: float


def policy_loss(
    logprobs: Sequence[Tensor],
    old: Sequence[Tensor],
    reference: Sequence[Tensor],
    batch: MergedRows,
    options: LossOptions,
) -> tuple[Tensor, dict[str, Tensor]]:
    """The loss to minimise, and what to log about it.

    Args:
        logprobs: For each row the log-probability of each reply token under the policy in training.
        old: The same under the policy that sampled.
        reference: The same under the KL reference.
        batch: The merged rows.
        options: How the loss is made.

    Returns:
        The loss, and to log, as sums over samples: `kl` (nats), `step_kl` (nats, from the policy that sampled), `outside` (tokens outside
        the clip range) and `tokens`; and `invalid`, the probability of a rejected reply, mean over information sets.
    """
    lengths = torch.tensor([len(row) for row in logprobs], device=logprobs[0].device)
    new, before = torch.cat(list(logprobs)), torch.cat(list(old))
    gap, log_ratio = torch.cat(list(reference)) - new, new - before
    share = (
        torch.ones_like(new) if options.kind in {"dr_grpo", "dapo"} else 1 / lengths.to(new).repeat_interleave(lengths)
    )
    if options.kind == "gspo":
        log_ratio = torch.stack([part.mean() for part in log_ratio.split(lengths.tolist())]).repeat_interleave(lengths)
    ratio = log_ratio.exp()
    positive, negative, count = (
        part.to(new).repeat_interleave(lengths) for part in (batch.positive, batch.negative, batch.count)
    )
    high = options.clip if options.clip_high is None else options.clip_high
    gain = ratio.clamp(max=1 + high) * positive + ratio.clamp(min=1 - options.clip) * negative
    kl = k3(gap) * count
    loss = ((options.beta * kl * (ratio if options.kl_correction else 1) - gain) * share).sum() / batch.norm
    invalid = invalid_probability(logprobs, batch.valid, batch.infosets)
    return loss + batch.invalid_cost * invalid / batch.unit, {
        "invalid": invalid.detach(),
        "kl": kl.sum().detach(),
        "step_kl": (k3(new.detach() - before) * count).sum(),
        "outside": (((ratio > 1 + high) | (ratio < 1 - options.clip)) * count).sum(),
        "tokens": count.sum(),
    }


def k3(gap: Tensor) -> Tensor:
    """The estimate exp(d) - d - 1 of KL(p || q) at samples of p, d = log q - log p; never negative."""
    return gap.exp() - gap - 1


def invalid_probability(logprobs: Sequence[Tensor], valid: Sequence[Sequence[int]], infosets: int) -> Tensor:
    """Sum over some information sets of the probability that a reply is none of the canonical ones, divided by `infosets`."""
    if not valid:
        return torch.zeros((), device=logprobs[0].device)
    said = torch.stack([row.sum() for row in logprobs]).exp()
    return torch.stack([1 - said[list(places)].sum() for places in valid]).sum() / infosets
