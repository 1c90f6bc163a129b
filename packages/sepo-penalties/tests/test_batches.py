"""Episode batches from a person's arrays and records, the two presets of the reward, and the orders of adding parts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_penalties import EpisodeBatch, SepoReward, Weights, collusion, externality, group_advantages, paper, pigou

DILEMMA = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]])
"""Payoff of player i where the row player chose C or D and the column player did; after Axelrod (1984)."""


def dilemma(own, other, **more):
    own, other = np.asarray(own), np.asarray(other)
    payoffs = DILEMMA[:, own, other].T
    harmless = DILEMMA[:, np.zeros_like(own), other].T
    return EpisodeBatch.from_arrays(
        payoffs,
        np.zeros(len(own), dtype=int),
        benchmark_payoffs=None,
        harmless_payoffs=harmless,
        outsiders=np.zeros((len(own), 0)),
        **more,
    )


def test_a_one_shot_batch_has_one_step_for_each_episode_and_fills_in_what_was_left_out():
    batch = dilemma([0, 1, 0, 1], [0, 0, 1, 1])
    assert batch.payoffs.shape == (4, 1, 2)
    np.testing.assert_array_equal(batch.own[:, 0], [3, 5, 0, 1])
    np.testing.assert_array_equal(externality(batch)[:, 0], [0, 1, 0, 3])
    assert not collusion(batch).collusion.any()
    np.testing.assert_array_equal(batch.rounds, [1, 1, 1, 1])


def test_records_and_arrays_of_one_shot_episodes_give_the_same_batch():
    arrays = dilemma([0, 1], [1, 1], pool=["train", "exploiter"], opponent=["a", "b"])
    records = [
        [{"payoffs": row, "benchmark_payoffs": None, "harmless_payoffs": kind, "outsiders": []}]
        for row, kind in zip(arrays.payoffs[:, 0].tolist(), arrays.harmless_payoffs[:, 0].tolist(), strict=True)
    ]
    batch = EpisodeBatch.from_records(records, [0, 0], 1, pool=["train", "exploiter"], opponent=["a", "b"])
    for name in EpisodeBatch.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(batch, name), getattr(arrays, name), err_msg=name)


def test_records_of_different_lengths_are_padded_and_keep_their_hands():
    step = {"payoffs": [1.0, -1.0], "benchmark_payoffs": None, "harmless_payoffs": None, "outsiders": ()}
    batch = EpisodeBatch.from_records([[step, step | {"segment": 1, "invalid": True}], [step]], [4, 4], 6)
    np.testing.assert_array_equal(batch.mask, [[True, True], [True, False]])
    np.testing.assert_array_equal(batch.segment, [[0, 1], [0, 0]])
    np.testing.assert_array_equal(batch.invalid, [[False, True], [False, False]])
    np.testing.assert_array_equal(batch.rounds, [6, 6])


def test_outsiders_that_nobody_stated_are_remembered_as_such():
    batch = EpisodeBatch.from_arrays([[1.0, 1.0]], [0], benchmark_payoffs=None, harmless_payoffs=None)
    assert not batch.outsiders_declared
    assert dilemma([0], [0]).outsiders_declared


STEP = {"payoffs": [1.0, 2.0], "benchmark_payoffs": None, "harmless_payoffs": None}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"payofs": [1.0, 2.0]}, "unknown key 'payofs' of episode 1, step 0.*Did you mean 'payoffs'"),
        ({"payoffs": None}, "payoffs of episode 1, step 0 are missing"),
        ({"payoffs": [1.0, np.nan]}, "payoffs of episode 1, step 0 is not finite"),
        ({"payoffs": [1.0, 2.0, 3.0]}, "payoffs of episode 1, step 0 has 3 entries: 2 are needed"),
        ({"payoffs": ["much", 2.0]}, "payoffs of episode 1, step 0 are .*numbers are needed"),
        ({"payoffs": 4.0}, "payoffs of episode 1, step 0 are 4.0: one number for each"),
        ({"harmless_payoffs": [1.0]}, r"harmless_payoffs of episode 1, step 0 has shape \(1,\): \(2,\) is needed"),
        ({"outsiders": [1.0]}, "outsiders of episode 1, step 0 are given, unlike in the first step"),
        ({"invalid": "no"}, "invalid of episode 1, step 0 is 'no': True or False"),
        ({"segment": 0.5}, "segment of episode 1, step 0 is 0.5: a whole number"),
    ],
)
def test_a_wrong_record_is_refused_with_its_episode_and_step(change, message):
    with pytest.raises(ValueError, match=message):
        EpisodeBatch.from_records([[STEP], [STEP | change]], [0, 0], 1)


def test_an_alternative_that_is_left_out_must_be_stated_to_be_none():
    incomplete = {key: value for key, value in STEP.items() if key != "benchmark_payoffs"}
    with pytest.raises(ValueError, match=r"benchmark_payoffs of episode 0, step 0 are missing.*or None"):
        EpisodeBatch.from_records([[incomplete]], [0], 1)
    with pytest.raises(ValueError, match="benchmark_outsiders is missing: outsiders and benchmark_payoffs are given"):
        EpisodeBatch.from_arrays(
            [[1.0, 1.0]], [0], benchmark_payoffs=[[1.0, 1.0]], harmless_payoffs=None, outsiders=[[2.0]]
        )
    with pytest.raises(ValueError, match="at least one episode"):
        EpisodeBatch.from_records([], [], 1)
    with pytest.raises(ValueError, match=r"pool has shape \(3,\): one for all or one for each of the 2"):
        dilemma([0, 1], [0, 1], pool=["train"] * 3)


@pytest.mark.parametrize(
    ("game", "scale", "declared", "reported"),
    [
        ("ipd-v1", 1.0, (2.4, 1.0, 1.8), (2.4, 1.0, 1.8)),
        ("auction-v1", 1.0, (1.2, 1.0, 1.8), (2.4, 2.4, 2.4)),
        ("split-v1", 0.6, (3.0, 2.0, 1.8), (3.0, 1.0, 1.8)),
        ("multi-issue-v1", 0.3, (3.0, 2.0, 1.8), (2.4, 2.4, 2.4)),
        ("kuhn-v1", 1.5, (1.5, 2.4, 0.0), (1.5, 2.4, 0.0)),
    ],
)
def test_the_published_weights_come_in_payoff_units(game, scale, declared, reported):
    for name, lambdas in (("declared", declared), ("reported", reported)):
        reward = paper(game, name)
        scaled = [reward.weights.exploitability, reward.weights.collusion * scale, reward.weights.externality * scale]
        assert scaled == pytest.approx(lambdas)
        assert reward.credit == "immediate"


def test_the_published_exploitability_is_what_the_exploiter_wins_beyond_the_learner():
    batch = dilemma([0, 1, 0], [1, 1, 0], pool="exploiter")
    np.testing.assert_array_equal(paper("ipd-v1")(batch).exploitability[:, 0], [5, 0, 0])


def test_an_unpublished_game_or_set_of_weights_is_refused():
    with pytest.raises(ValueError, match=r"'kuhn': .*Did you mean 'kuhn-v1'"):
        paper("kuhn")
    with pytest.raises(ValueError, match="choose declared or reported"):
        paper("kuhn-v1", "best")
    with pytest.raises(ValueError, match="against = 'me': choose reference or own"):
        SepoReward(Weights(), 0.0, against="me")


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_under_pigou_the_action_that_pays_most_is_the_one_with_the_largest_welfare(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(4, 5))  # own action x (three players, two outsiders); action 0 is the harmless one
    batch = EpisodeBatch.from_arrays(
        table[:, :3],
        np.zeros(4, dtype=int),
        benchmark_payoffs=None,
        harmless_payoffs=np.tile(table[0, :3], (4, 1)),
        outsiders=table[:, 3:],
        harmless_outsiders=np.tile(table[0, 3:], (4, 1)),
        learner=1,
    )
    total = pigou()(batch).total[:, 0]
    others = table[0].sum() - table[0, 1]
    np.testing.assert_allclose(total, table.sum(axis=1) - others, atol=1e-12)


def test_in_the_dilemma_harm_to_the_other_makes_cooperation_pay_from_two_thirds_on_against_a_cooperator():
    parts = pigou()(dilemma([0, 1], [0, 0]))
    gain, harm = parts.payoff[1, 0] - parts.payoff[0, 0], parts.externality[1, 0] - parts.externality[0, 0]
    assert gain / harm == pytest.approx(2 / 3)


def test_pigou_refuses_a_zero_sum_game_but_not_one_in_which_nothing_happened():
    with pytest.raises(ValueError, match="zero-sum game harm to others is the learner's own gain"):
        pigou()(EpisodeBatch.from_arrays([[1.0, -1.0]], [0], benchmark_payoffs=None, harmless_payoffs=[[-1.0, 1.0]]))
    nothing = EpisodeBatch.from_arrays([[0.0, 0.0]], [0], benchmark_payoffs=None, harmless_payoffs=None)
    assert not pigou()(nothing).total.any()


CORRECT, LENGTH = [1.0, 1.0, 0.0, 0.0], [0.0, 100.0, 200.0, 300.0]


def test_parts_added_first_or_last_give_the_numbers_of_the_reference_sheet():
    parts, groups = np.stack([CORRECT, LENGTH], axis=1), np.zeros(4)
    options = {"part_weights": [1.0, 1.0], "baseline": "mean", "scale": "group"}
    first = group_advantages(parts, groups, **options)[:, 0]
    np.testing.assert_allclose(first, [-1.162670, -0.384964, 0.384964, 1.162670], atol=1e-6)
    last = group_advantages(parts, groups, aggregation="normalize_then_sum", **options)[:, 0]
    np.testing.assert_allclose(last, [-0.295870, 0.478727, -0.478727, 0.295870], atol=1e-6)


def test_a_tiny_part_is_blown_up_when_parts_are_added_last_unless_there_is_a_floor():
    penalty = np.zeros((8, 1))
    penalty[0] = 1e-6
    options = {"part_weights": [1.0], "baseline": "mean", "scale": "group", "aggregation": "normalize_then_sum"}
    assert group_advantages(penalty, np.zeros(8), **options)[0, 0] == pytest.approx(2.474874, abs=1e-6)
    assert group_advantages(penalty, np.zeros(8), sd_offset=1e-4, **options)[0, 0] == pytest.approx(0.008719, abs=1e-6)
    assert group_advantages(penalty, np.zeros(8), sd_floor=0.05, **options)[0, 0] == pytest.approx(1.75e-5, abs=1e-7)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["mean", "leave_one_out"]))
def test_without_scaling_the_order_of_adding_parts_does_not_matter(seed, baseline):
    rng = np.random.default_rng(seed)
    parts, groups, weights = rng.normal(size=(12, 3, 4)), rng.integers(0, 3, 12), rng.normal(size=4)
    mask = np.arange(3) < rng.integers(1, 4, 12)[:, None]
    options = {"part_weights": weights, "baseline": baseline, "mask": mask}
    first = group_advantages(parts, groups, **options)
    np.testing.assert_allclose(
        group_advantages(parts, groups, aggregation="normalize_then_sum", **options), first, atol=1e-12
    )
    np.testing.assert_allclose(
        group_advantages(parts @ weights, groups, baseline=baseline, mask=mask), first, atol=1e-12
    )


def test_parts_that_cancel_inside_a_group_give_no_advantage_in_either_order():
    reward = np.array([3.0, 1.0, 2.0, 0.0])
    parts = np.stack([reward, reward - 1], axis=1)
    for order in ("sum_then_normalize", "normalize_then_sum"):
        out = group_advantages(
            parts, np.zeros(4), part_weights=[1, -1], aggregation=order, scale="group", baseline="mean"
        )
        np.testing.assert_allclose(out, 0, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_whitened_advantages_have_mean_zero_and_one_standard_deviation_in_the_batch(seed):
    rng = np.random.default_rng(seed)
    out = group_advantages(
        rng.normal(size=(12, 2)),
        np.repeat([0, 1, 2], 4),
        part_weights=[1.0, -2.0],
        scale="group",
        baseline="mean",
        whiten=True,
    )
    assert out.mean() == pytest.approx(0, abs=1e-12)
    assert out.std(ddof=1) == pytest.approx(1)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 5))
def test_a_penalty_that_differs_inside_the_group_moves_each_centred_advantage_by_exactly_its_centred_self(seed, weight):
    rng = np.random.default_rng(seed)
    reward, penalty = rng.normal(size=6), rng.normal(size=6)
    moved = group_advantages(reward - weight * penalty, np.zeros(6), baseline="mean")[:, 0]
    plain = group_advantages(reward, np.zeros(6), baseline="mean")[:, 0]
    np.testing.assert_allclose(moved - plain, -weight * (penalty - penalty.mean()), atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["none", "group"]), st.floats(0.001, 3))
def test_raising_ones_own_penalty_never_raises_ones_advantage(seed, scale, rise):
    rewards = np.random.default_rng(seed).normal(size=5)
    lower = rewards.copy()
    lower[0] -= rise
    before = group_advantages(rewards, np.zeros(5), baseline="mean", scale=scale)[0, 0]
    assert group_advantages(lower, np.zeros(5), baseline="mean", scale=scale)[0, 0] <= before + 1e-12


def test_part_weights_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"part_weights are .*one finite number for each of the 2 parts"):
        group_advantages(np.zeros((4, 2)), np.zeros(4), part_weights=[1.0])
    with pytest.raises(ValueError, match="aggregation = 'sum' is not allowed"):
        group_advantages(np.zeros(4), np.zeros(4), aggregation="sum")
    with pytest.raises(ValueError, match=r"row 1 \(group 0\), column 0 is \[0.0, nan\]"):
        group_advantages(np.array([[0.0, 1.0], [0.0, np.nan]]), np.zeros(2, dtype=int), part_weights=[1.0, 1.0])
