"""The algebra of ledgers, rewards and advantages."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_penalties import EpisodeBatch, SepoReward, Weights, collusion, externality, group_advantages

LEDGERS = ("", "expected_", "benchmark_", "harmless_")
WEIGHTS = Weights(0.7, 1.3, 0.4, 2.0)


def random_batch(seed, size=12, steps=5, outsiders=1, players=2):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, steps + 1, size)
    mask = np.arange(steps) < lengths[:, None]
    ledgers = {f"{p}payoffs": rng.normal(size=(size, steps, players)) * mask[..., None] for p in LEDGERS}
    ledgers |= {f"{p}outsiders": rng.normal(size=(size, steps, outsiders)) * mask[..., None] for p in LEDGERS}
    return EpisodeBatch(
        **ledgers,
        mask=mask,
        invalid=mask & (rng.uniform(size=mask.shape) < 0.2),
        segment=np.broadcast_to(np.arange(steps) // 2, (size, steps)).copy(),
        learner=rng.integers(0, players, size),
        pool=rng.choice(["train", "exploiter", "collusive"], size),
        opponent=np.full(size, "x"),
        group=rng.integers(0, 3, size),
        rounds=np.full(size, steps),
        outsiders_declared=True,
    )


seeds = st.integers(0, 10**6)


@settings(max_examples=100, deadline=None)
@given(seeds, st.booleans(), st.sampled_from(["return_to_go", "immediate"]))
def test_the_total_is_the_payoff_minus_the_weighted_parts(seed, gate, credit):
    parts = SepoReward(WEIGHTS, 0.3, gate, credit)(random_batch(seed))
    weighted = 0.7 * parts.exploitability + 1.3 * parts.collusion + 0.4 * parts.externality + 2.0 * parts.invalid
    np.testing.assert_allclose(parts.total, parts.payoff - weighted, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_collusion_and_externality_are_never_negative_and_bounded_by_gift_and_harm(seed):
    batch = random_batch(seed)
    c = collusion(batch)
    assert (c.collusion >= 0).all()
    assert (c.collusion <= np.maximum(c.gift, 0) + 1e-12).all()
    assert (c.collusion <= np.maximum(c.harm, 0) + 1e-12).all()
    assert (externality(batch) >= 0).all()


@settings(max_examples=50, deadline=None)
@given(seeds, st.floats(-5, 5), st.floats(0.1, 10))
def test_collusion_and_externality_ignore_constant_payoffs_and_scale_with_the_unit(seed, shift, scale):
    batch = random_batch(seed)
    names = [f"{p}{who}" for p in LEDGERS for who in ("payoffs", "outsiders")]
    shifted = replace(batch, **{name: getattr(batch, name) + shift for name in names})
    scaled = replace(batch, **{name: getattr(batch, name) * scale for name in names})
    np.testing.assert_allclose(collusion(shifted).collusion, collusion(batch).collusion, atol=1e-9)
    np.testing.assert_allclose(externality(shifted), externality(batch), atol=1e-9)
    np.testing.assert_allclose(collusion(scaled).collusion, scale * collusion(batch).collusion, atol=1e-9)
    np.testing.assert_allclose(externality(scaled), scale * externality(batch), atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(seeds)
def test_relabelling_players_and_reordering_episodes_change_nothing(seed):
    batch = random_batch(seed)
    swapped = replace(
        batch,
        **{f"{p}payoffs": getattr(batch, f"{p}payoffs")[..., ::-1] for p in LEDGERS},
        learner=1 - batch.learner,
    )
    reward = SepoReward(WEIGHTS, 0.3)
    np.testing.assert_allclose(reward(swapped).total, reward(batch).total, atol=1e-12)
    order = np.random.default_rng(seed).permutation(len(batch.group))
    arrays = {f: getattr(batch, f)[order] for f in EpisodeBatch.__dataclass_fields__ if f != "outsiders_declared"}
    np.testing.assert_allclose(
        reward(EpisodeBatch(**arrays, outsiders_declared=True)).total, reward(batch).total[order], atol=1e-12
    )


@settings(max_examples=50, deadline=None)
@given(seeds)
def test_a_batch_equals_its_episodes_one_by_one(seed):
    batch = random_batch(seed)
    total = SepoReward(WEIGHTS, 0.3)(batch).total
    for i in range(len(batch.group)):
        arrays = {
            f: getattr(batch, f)[i : i + 1] for f in EpisodeBatch.__dataclass_fields__ if f != "outsiders_declared"
        }
        alone = SepoReward(WEIGHTS, 0.3)(EpisodeBatch(**arrays, outsiders_declared=True)).total
        np.testing.assert_allclose(alone[0], total[i], atol=1e-12)


def test_the_reference_is_booked_once_at_the_last_valid_step():
    batch = random_batch(0)
    quiet = replace(batch, pool=np.full(len(batch.group), "exploiter"))
    with_reference = SepoReward(Weights(), 0.5)(quiet).exploitability
    without = SepoReward(Weights(), 0.0)(quiet).exploitability
    booked = without - with_reference
    np.testing.assert_allclose(booked.sum(axis=1), 0.5 * quiet.rounds)
    assert ((booked != 0).sum(axis=1) == 1).all()
    immediate = without - SepoReward(Weights(), 0.5, credit="immediate")(quiet).exploitability
    np.testing.assert_allclose(immediate, 0.5 * quiet.mask)


def test_a_closed_gate_switches_the_exploitability_part_off():
    assert not SepoReward(Weights(), 0.5, gate=False)(random_batch(0)).exploitability.any()


def test_undeclared_outsiders_give_no_collusion_and_one_warning():
    batch = replace(random_batch(0, outsiders=0), outsiders_declared=False)
    with pytest.warns(UserWarning, match="does not say who its outsiders are"):
        assert not collusion(batch).collusion.any()


def test_stated_absence_of_outsiders_gives_no_collusion_and_no_warning():
    assert not collusion(random_batch(0, outsiders=0)).collusion.any()


@settings(max_examples=100, deadline=None)
@given(seeds, st.floats(-3, 3))
def test_a_penalty_shared_by_a_group_changes_no_advantage(seed, penalty):
    rng = np.random.default_rng(seed)
    rewards, groups = rng.normal(size=(12, 1)), rng.integers(0, 3, 12)
    shared = rewards - penalty * groups[:, None]
    for scale in ("none", "group"):
        np.testing.assert_allclose(
            group_advantages(shared, groups, scale=scale),
            group_advantages(rewards, groups, scale=scale),
            atol=1e-9,
        )


@settings(max_examples=50, deadline=None)
@given(seeds, st.integers(2, 6))
def test_leave_one_out_is_g_over_g_minus_one_times_the_centred_return_on_full_groups(seed, g):
    rewards, groups = np.random.default_rng(seed).normal(size=(3 * g, 4)), np.repeat([0, 1, 2], g)
    out = group_advantages(rewards, groups)
    np.testing.assert_allclose(out, g / (g - 1) * group_advantages(rewards, groups, baseline="mean"), atol=1e-12)


def test_z_scores_are_those_of_the_reference_sheet():
    rewards, groups = np.array([1.0, 2, 3, 4]), np.zeros(4)
    z = group_advantages(rewards, groups, baseline="mean", scale="group")[:, 0]
    np.testing.assert_allclose(z, [-1.161895, -0.387298, 0.387298, 1.161895], atol=1e-6)
    z0 = group_advantages(rewards, groups, baseline="mean", scale="group", ddof=0)[:, 0]
    np.testing.assert_allclose(z0, [-1.341641, -0.447214, 0.447214, 1.341641], atol=1e-6)


def test_return_to_go_ends_with_the_segment():
    rewards = np.array([[1.0, 2.0, 4.0, 8.0], [0.0, 0.0, 0.0, 0.0]])
    segments = np.array([[0, 0, 1, 1], [0, 0, 1, 1]])
    out = group_advantages(rewards, np.zeros(2), segments=segments)
    np.testing.assert_allclose(out[0], [3, 2, 12, 8])
    np.testing.assert_allclose(group_advantages(rewards, np.zeros(2), credit="episode")[0], [15, 15, 15, 15])
    np.testing.assert_allclose(group_advantages(rewards, np.zeros(2), credit="immediate")[0], [1, 2, 4, 8])


def test_an_invalid_step_earns_nothing_and_moves_no_baseline_but_keeps_its_reward_in_earlier_returns():
    rewards = np.array([[0.0, 9.0], [0.0, 1.0], [0.0, 3.0]])
    valid = np.array([[True, False], [True, True], [True, True]])
    out = group_advantages(rewards, np.zeros(3), valid=valid)
    np.testing.assert_allclose(out[:, 1], [0, -2, 2])
    np.testing.assert_allclose(out[:, 0], [7, -5, -2])


def test_a_row_that_is_alone_at_its_step_gets_zero():
    mask = np.array([[True, True], [True, False]])
    out = group_advantages(np.array([[1.0, 5.0], [2.0, 0.0]]), np.zeros(2), mask=mask)
    assert out[0, 1] == 0
    assert out[1, 1] == 0


def test_tiny_noise_is_not_blown_up_when_a_floor_is_set():
    rewards, groups = np.array([1.0, 1.0, 1.0, 1.000001]), np.zeros(4)
    assert np.abs(group_advantages(rewards, groups, scale="group", sd_floor=0.1)).max() < 1e-4
    assert not group_advantages(rewards, groups, scale="group", eps=1e-3).any()


def test_a_nan_reward_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"row 1 \(group 7\), column 0 is nan"):
        group_advantages(np.array([1.0, np.nan]), np.array([7, 7]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pool": np.full(12, "friends")}, "pool of episode 0.*train, exploiter, collusive"),
        ({"rounds": np.zeros(12, dtype=int)}, "rounds of episode 0"),
        ({"learner": np.full(12, 2)}, "learner of episode 0.*0 to 1"),
        ({"group": np.zeros(3)}, r"group has shape \(3,\)"),
    ],
)
def test_a_wrong_array_is_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        replace(random_batch(0), **change)


def test_a_nan_payoff_is_refused_with_its_place():
    batch = random_batch(0)
    payoffs = batch.payoffs.copy()
    payoffs[3, 0, 1] = np.nan
    with pytest.raises(ValueError, match="payoffs of episode 3, step 0 is not finite"):
        replace(batch, payoffs=payoffs)


@pytest.mark.parametrize("weight", [-1.0, np.inf, np.nan])
def test_a_weight_that_is_negative_or_not_finite_is_refused(weight):
    with pytest.raises(ValueError, match="weight collusion"):
        Weights(collusion=weight)
