"""The loss against a calculation by hand, and merged against unmerged samples."""

import numpy as np
import pytest
import torch
from sepo_grpo.loss import LossOptions, MergedRows, invalid_probability, policy_loss


def batch_of(rows, positive, negative, count, norm=1.0, cost=0.0):
    return MergedRows(
        rows=tuple(rows),
        positive=torch.tensor(positive),
        negative=torch.tensor(negative),
        count=torch.tensor(count),
        norm=norm,
        valid=(tuple(range(len(rows))),),
        infosets=1,
        invalid_cost=cost,
        unit=1.0,
    )


def test_the_loss_is_the_clipped_surrogate_and_k3_calculated_by_hand():
    # One row of two tokens with ratios 1.5 and 0.5; samples with advantages +2 and -1; clip 0.2; reference = policy that sampled.
    old = [torch.log(torch.tensor([0.4, 0.4]))]
    new = [torch.log(torch.tensor([0.6, 0.2]))]
    batch = batch_of([((1,), (2, 3))], [2.0], [-1.0], [2.0], norm=4.0)
    loss, log = policy_loss(new, old, old, batch, LossOptions(clip=0.2, beta=0.1))
    gain = (1.2 * 2 - 1.5) + (0.5 * 2 - 0.8)
    d = np.log([0.4 / 0.6, 0.4 / 0.2])
    kl = 2 * (np.exp(d) - d - 1).sum()
    assert loss.item() == pytest.approx((0.1 * kl - gain) / 4, rel=1e-5)
    assert log["kl"].item() == pytest.approx(kl, rel=1e-5)
    assert log["outside"].item() == log["tokens"].item() == 4


@pytest.mark.parametrize("spread", [0.0, 0.05, 1.0])
def test_merged_rows_have_the_gradient_of_their_samples_also_outside_the_clip_range(spread):
    rng = np.random.default_rng(0)
    lengths = [2, 3, 1]
    samples = [(int(rng.integers(3)), float(rng.normal())) for _ in range(40)]
    old = [torch.tensor(rng.uniform(-3, -0.1, n)) for n in lengths]
    reference = [row - 0.3 for row in old]
    start = [row + spread * torch.tensor(rng.normal(size=len(row))) for row in old]

    merged = [row.clone().requires_grad_() for row in start]
    totals = np.zeros((3, 3))
    for row, advantage in samples:
        totals[row, int(advantage < 0)] += advantage
        totals[row, 2] += 1
    rows = [((9,), tuple(range(n))) for n in lengths]
    policy_loss(merged, old, reference, batch_of(rows, *totals.T.tolist(), norm=7.0), LossOptions(clip=0.2, beta=0.05))[
        0
    ].backward()

    alone = [row.clone().requires_grad_() for row in start]
    for row, advantage in samples:
        ratio = (alone[row] - old[row]).exp()
        gain = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        d = reference[row] - alone[row]
        ((0.05 * (d.exp() - d - 1) - gain).sum() / 7.0).backward()
    for a, b in zip(merged, alone, strict=True):
        torch.testing.assert_close(a.grad, b.grad if b.grad is not None else torch.zeros_like(b), rtol=1e-6, atol=1e-9)


def test_with_one_update_the_gradient_is_that_of_the_policy_gradient():
    logprobs = [torch.tensor([-0.5, -1.0], requires_grad=True), torch.tensor([-2.0], requires_grad=True)]
    old = [row.detach() for row in logprobs]
    rows = [((1,), (2, 3)), ((1,), (4,))]
    loss, log = policy_loss(
        logprobs, old, old, batch_of(rows, [3.0, 0.0], [-1.0, -2.0], [2.0, 1.0]), LossOptions(clip=0.2, beta=0.5)
    )
    loss.backward()
    torch.testing.assert_close(logprobs[0].grad, torch.tensor([-2.0, -2.0]))
    torch.testing.assert_close(logprobs[1].grad, torch.tensor([2.0]))
    assert log["kl"].item() == 0


def test_the_invalid_probability_is_what_the_canonical_replies_leave():
    logprobs = [torch.log(torch.tensor([0.5, 0.8])), torch.log(torch.tensor([0.5])), torch.log(torch.tensor([0.2]))]
    left = invalid_probability(logprobs, [(0, 1), (2,)], 2)
    assert left.item() == pytest.approx(((1 - 0.4 - 0.5) + (1 - 0.2)) / 2)
