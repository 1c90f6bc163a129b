"""Intervals from sampled actions hold the truth, also at equilibrium, and shrink to it."""

from itertools import product

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sepo_penalties import (
    RepeatedGame,
    SequenceForm,
    best_response,
    clopper_pearson,
    exploitability,
    exploitability_interval,
    repeated_best_response,
    repeated_surplus_interval,
)
from sepo_penalties.box import (
    full_box,
    largest_response,
    least_response,
    relaxed_response,
    tightened,
    vertices,
)

PD = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]])[:, None, None]


@pytest.fixture(scope="module")
def kuhn():
    return SequenceForm.from_game(pyspiel.load_game("kuhn_poker"))


@pytest.fixture(scope="module")
def leduc():
    return SequenceForm.from_game(pyspiel.load_game("leduc_poker"))


def random_policy(sf, player, rng):
    policy = sf.uniform_policy(player) * rng.exponential(size=sf.uniform_policy(player).shape)
    return policy / policy.sum(axis=-1, keepdims=True)


def equilibrium(sf, alpha=0.2):
    first = {"0": alpha, "1": 0.0, "2": 3 * alpha, "0pb": 0.0, "1pb": alpha + 1 / 3, "2pb": 1.0}
    second = {"0p": 1 / 3, "1p": 0.0, "2p": 1.0, "0b": 0.0, "1b": 1 / 3, "2b": 1.0}
    return [sf.policy_from_dict(p, {k: (1 - v, v) for k, v in rows.items()}) for p, rows in enumerate((first, second))]


def around(policy, width):
    """A box of a width around each row."""
    return [tightened(np.maximum(row - width, 0), np.minimum(row + width, 1)) for row in policy]


def test_bounds_are_those_of_the_exact_binomial_test():
    low, high = clopper_pearson(np.array([[3, 7]]), 0.95)
    exact = stats.binomtest(3, 10).proportion_ci(0.95, method="exact")
    assert (low[0, 0], high[0, 0]) == pytest.approx((exact.low, exact.high), abs=1e-12)
    assert (low[0, 1], high[0, 1]) == pytest.approx((1 - exact.high, 1 - exact.low), abs=1e-12)


def test_bounds_without_samples_are_zero_and_one():
    low, high = clopper_pearson(np.zeros((2, 3), dtype=int), 0.95)
    assert not low.any()
    assert (high == 1).all()


@pytest.mark.parametrize("counts", [[[0.5, 1.0]], [[-1, 2]], [1, 2]])
def test_counts_that_are_not_whole_or_negative_are_refused(counts):
    with pytest.raises(ValueError, match="whole numbers of at least 0"):
        clopper_pearson(np.array(counts), 0.95)


@pytest.mark.parametrize("at_equilibrium", [True, False])
def test_the_interval_holds_the_truth_in_at_least_its_share_of_samples(kuhn, at_equilibrium):
    rng = np.random.default_rng(5)
    covered, runs = 0, 60
    for _ in range(runs):
        profile = equilibrium(kuhn) if at_equilibrium else [random_policy(kuhn, p, rng) for p in (0, 1)]
        counts = [rng.multinomial(60, policy) for policy in profile]
        truth = float(exploitability(kuhn, profile))
        plug_in = float(exploitability(kuhn, [c / c.sum(axis=1, keepdims=True) for c in counts]))
        interval = exploitability_interval(kuhn, counts)
        assert interval.low <= plug_in + 1e-9
        assert plug_in <= interval.high + 1e-9
        covered += interval.low <= truth + 1e-9 and truth <= interval.high + 1e-9
    assert covered >= 0.95 * runs


def test_no_samples_give_a_wide_interval_and_no_crash(kuhn):
    interval = exploitability_interval(kuhn, [np.zeros((6, 2), dtype=int)] * 2)
    assert interval.low == pytest.approx(0, abs=1e-9)
    assert interval.high > 1


def test_the_interval_shrinks_to_the_exact_value(kuhn):
    profile = [random_policy(kuhn, p, np.random.default_rng(2)) for p in (0, 1)]
    counts = [np.round(policy * 10**9).astype(np.int64) for policy in profile]
    interval = exploitability_interval(kuhn, counts)
    truth = float(exploitability(kuhn, profile))
    assert (interval.low, interval.high) == pytest.approx((truth, truth), abs=1e-3)
    assert interval.low <= truth + 1e-7
    assert truth <= interval.high + 1e-7


def test_a_game_with_many_information_sets_gets_a_looser_interval_that_still_holds(leduc):
    rng = np.random.default_rng(0)
    profile = [random_policy(leduc, p, rng) for p in (0, 1)]
    counts = [np.round(policy * 10**8).astype(np.int64) for policy in profile]
    interval = exploitability_interval(leduc, counts)
    truth = float(exploitability(leduc, profile))
    assert interval.low <= truth + 1e-6
    assert truth <= interval.high + 1e-6
    assert interval.high - interval.low < 0.5


def test_an_interval_of_a_general_sum_game_or_of_misplaced_counts_is_refused(kuhn, leduc):
    pd = SequenceForm.from_game(pyspiel.load_game("matrix_pd"))
    with pytest.raises(ValueError, match="repeated_surplus_interval"):
        exploitability_interval(pd, [np.ones((1, 2), dtype=int)] * 2)
    with pytest.raises(ValueError, match=r"shape \(5, 2\): \(6, 2\) is needed"):
        exploitability_interval(kuhn, [np.ones((5, 2), dtype=int)] * 2)
    with pytest.raises(ValueError, match="past its 2 legal ones"):
        exploitability_interval(leduc, [np.ones((len(leduc.infosets(p)), 3), dtype=int) for p in (0, 1)])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 0.5))
def test_every_policy_in_the_box_lies_between_its_ends(seed, width):
    sf = SequenceForm.from_game(pyspiel.load_game("kuhn_poker"))
    rng = np.random.default_rng(seed)
    for seat in (0, 1):
        box = around(random_policy(sf, seat, rng), width)
        low, high, loose = (f(sf, box, seat) for f in (least_response, largest_response, relaxed_response))
        inside = np.array([rng.uniform(a[0], b[0], size=20) for a, b in box]).T
        profile = [sf.uniform_policy(0), sf.uniform_policy(1)]
        profile[seat] = np.stack([inside, 1 - inside], axis=-1)
        values = best_response(sf, profile, 1 - seat).value
        assert low <= values.min() + 1e-7
        assert values.max() <= high + 1e-9
        assert high <= loose + 1e-9


def test_the_looser_bound_is_exact_for_a_known_policy(kuhn):
    policy = random_policy(kuhn, 0, np.random.default_rng(1))
    truth = float(best_response(kuhn, [policy, kuhn.uniform_policy(1)], 1).value)
    assert relaxed_response(kuhn, around(policy, 0.0), 0) == pytest.approx(truth, abs=1e-12)


def test_a_seat_of_which_nothing_is_known_may_lose_everything_it_can(kuhn):
    pure = np.array(list(product((0.0, 1.0), repeat=6)))
    worst = best_response(kuhn, [np.stack([1 - pure, pure], axis=-1), kuhn.uniform_policy(1)], 1).value.max()
    assert largest_response(kuhn, full_box(kuhn, 0), 0) == pytest.approx(float(worst), abs=1e-12)


def test_the_corners_of_a_box_of_three_actions_are_its_extreme_distributions():
    corners = vertices(*tightened(np.array([0.1, 0.2, 0.0]), np.array([0.6, 0.5, 1.0])))
    np.testing.assert_allclose(corners.sum(axis=1), 1)
    assert {tuple(np.round(c, 9)) for c in corners} == {
        (0.1, 0.2, 0.7),
        (0.1, 0.5, 0.4),
        (0.5, 0.5, 0.0),
        (0.6, 0.2, 0.2),
        (0.6, 0.4, 0.0),
    }


def test_a_single_action_is_certain_whatever_was_counted():
    low, high = tightened(np.array([0.3]), np.array([1.0]))
    np.testing.assert_allclose([low, high], 1)


@pytest.mark.parametrize("player", [0, 1])
def test_the_repeated_interval_shrinks_to_the_exact_value(player):
    game = RepeatedGame.of(PD, ([1.0], [1.0]), 8)
    p = np.random.default_rng(player).uniform(size=game.num_infosets(player))
    table = np.stack([p, 1 - p], axis=-1)
    truth = float(repeated_best_response(game, table, 1 - player).value)
    widths = []
    for n in (100, 10_000, 10**9):
        interval = repeated_surplus_interval(game, np.round(table * n).astype(np.int64), player)
        assert interval.low <= truth + 1e-6
        assert truth <= interval.high + 1e-6
        widths.append(interval.high - interval.low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.01


@pytest.mark.parametrize("player", [0, 1])
def test_the_repeated_interval_with_private_types_holds_the_truth(player):
    rng = np.random.default_rng(4)
    game = RepeatedGame.of(rng.normal(size=(2, 2, 3, 2, 3)), ([0.4, 0.6], [0.2, 0.3, 0.5]), 3)
    rows, actions = game.num_infosets(player), game.sizes(player)[1]
    for _ in range(4):
        table = rng.dirichlet(np.ones(actions), rows)
        counts = rng.multinomial(40, table)
        interval = repeated_surplus_interval(game, counts, player)
        for policy in (table, counts / 40):
            truth = float(repeated_best_response(game, policy, 1 - player).value)
            assert interval.low <= truth + 1e-6
            assert truth <= interval.high + 1e-6


def test_a_repeated_interval_without_samples_is_as_wide_as_the_game():
    game = RepeatedGame.of(PD, ([1.0], [1.0]), 8)
    interval = repeated_surplus_interval(game, np.zeros((29, 2), dtype=int), 0)
    assert (interval.low, interval.high) == pytest.approx((8, 40), abs=1e-6)
