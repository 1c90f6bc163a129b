"""What cancels, what is noise, and what teaches."""

import warnings

import numpy as np
import pytest
from sepo_penalties import Parts, Weights, group_report

GROUPS = np.repeat(np.arange(8), 8)
NAMES = ("payoff", "exploitability", "collusion", "externality", "invalid")


def parts(weights=None, **given):
    """Parts of one step; those not given are 0."""
    size = len(next(iter(given.values())))
    found = {name: np.asarray(given.get(name, np.zeros(size)), dtype=float)[:, None] for name in NAMES}
    weights = weights or Weights()
    total = found["payoff"] - sum(getattr(weights, name) * found[name] for name in NAMES[1:])
    return Parts(total=total, **found)


def by_name(report):
    return {part.name: part for part in report.parts}


def played(seed):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (len(GROUPS), 3)), rng


def test_a_penalty_shared_by_a_group_cancels_and_is_told_with_the_fix():
    actions, rng = played(0)
    given = parts(payoff=actions[:, 0] + rng.normal(size=64), exploitability=GROUPS * 1.0)
    with pytest.warns(UserWarning, match=r"exploitability: the same for all rollouts.*Compute it per rollout"):
        report = group_report(given, GROUPS)
    found = by_name(report)["exploitability"]
    assert found.constant_groups == 1
    assert found.varies
    assert found.variance_share == pytest.approx(0)
    assert found.verdict == "varies in the batch, but in no group: it cancels"
    assert "it cancels" in str(report)


def test_a_penalty_of_other_episodes_varies_but_not_because_of_these_tokens():
    actions, rng = played(1)
    given = parts(payoff=actions.sum(axis=1) + 0.3 * rng.normal(size=64), exploitability=rng.normal(size=64))
    with pytest.warns(UserWarning, match=r"exploitability: differs within groups, but not visibly.*credited pools"):
        report = group_report(given, GROUPS, actions)
    found = by_name(report)
    assert found["exploitability"].constant_groups == 0
    assert found["exploitability"].p_value > 0.05
    assert found["exploitability"].explained < 0.1
    assert found["payoff"].p_value < 0.01
    assert found["payoff"].verdict == "teaches"


def test_a_penalty_that_follows_from_an_action_is_explained_by_it_also_where_its_effect_turns_with_the_deal():
    actions, rng = played(2)
    turning = np.where(GROUPS % 2, 1, -1) * actions[:, 1] + 0.1 * rng.normal(size=64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = group_report(parts(payoff=rng.normal(size=64), externality=turning), GROUPS, actions)
    found = by_name(report)["externality"]
    assert found.p_value == 1 / 1000
    assert found.explained > 0.9


def test_shuffles_find_nothing_where_there_is_nothing_about_as_often_as_they_say():
    found = []
    for seed in range(200):
        actions, rng = played(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = group_report(parts(payoff=rng.normal(size=64)), GROUPS, actions, shuffles=99, seed=seed)
        found.append(by_name(report)["payoff"].p_value)
    assert (np.array(found) <= 0.1).mean() == pytest.approx(0.1, abs=3 * np.sqrt(0.1 * 0.9 / 200))
    assert np.mean(found) == pytest.approx(0.5, abs=0.07)


def test_variance_shares_are_those_of_the_reference_and_add_up_to_one():
    # r = [1, 1, 0, 0] and L = [0, 100, 200, 300] enter as a sum.
    report = group_report(parts(payoff=[1, 1, 0, 0], externality=[0, -100, -200, -300]), [0, 0, 0, 0])
    shares = [part.variance_share for part in report.parts]
    assert shares[0] == pytest.approx(-0.004012, abs=1e-6)
    assert shares[3] == pytest.approx(1.004012, abs=1e-6)
    assert sum(shares) == pytest.approx(1)


def test_a_total_that_is_constant_although_its_parts_vary_has_no_variance_to_share():
    payoff = np.array([3.0, 1, 2, 0])
    report = group_report(parts(payoff=payoff, exploitability=payoff - 1), [0, 0, 0, 0])
    assert all(np.isnan(part.variance_share) for part in report.parts)


def test_the_report_is_a_table_and_does_not_depend_on_the_order_of_rollouts_or_names_of_groups():
    actions, rng = played(3)
    weights = Weights(exploitability=2.0)
    penalty, pay = actions[:, 0] * 1.0, rng.normal(size=64)
    report = group_report(parts(weights, payoff=pay, exploitability=penalty), GROUPS, weights=weights)
    order = rng.permutation(64)
    again = group_report(
        parts(weights, payoff=pay[order], exploitability=penalty[order]), 100 - GROUPS[order], weights=weights
    )
    for one, other in zip(report.parts, again.parts, strict=True):
        assert one.constant_groups == other.constant_groups
        assert one.variance_share == pytest.approx(other.variance_share)
    assert str(report).splitlines()[0] == "64 rollouts in 8 groups"
    assert len(str(report).splitlines()) == 7


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: group_report(p, [0, 0, 1]), "one for each of the 4 rollouts"),
        (lambda p: group_report(p, [0, 1, 2, 3]), "one rollout"),
        (lambda p: group_report(p, [0, 0, 1, 1], weights=Weights(externality=3.0)), "is not the total"),
        (lambda p: group_report(p, [0, 0, 1, 1], [[0.5], [1], [1], [0]]), "whole numbers"),
        (lambda p: group_report(p, [0, 0, 1, 1], [0, 1, 1, 0]), "whole numbers"),
        (lambda p: group_report(p, [0, 0, 1, 1], shuffles=0), "shuffles = 0"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(parts(payoff=[1, 2, 3, 4], externality=[0, 1, 1, 0]))
