"""Weights from budgets and from alternatives."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sepo_penalties import PidLagrangian, break_even_lambda, weight_sweep

COSTS = [0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.1, 0.3]


def weights(controller, costs=COSTS):
    found = []
    for cost in costs:
        controller = controller.update(cost)
        found.append(controller.weight)
    return found


def test_the_controller_follows_the_reference_trace():
    expected = [0.44, 0.37, 0.29, 0.20, 0.10, 0.045, 0.12, 0.415]
    assert weights(PidLagrangian(0.1, 1, 0.1, 0.5)) == pytest.approx(expected, abs=1e-12)


def test_without_the_other_gains_it_is_dual_ascent():
    expected = [0.2, 0.35, 0.45, 0.5, 0.5, 0.475, 0.475, 0.575]
    assert weights(PidLagrangian(0.1, 0, 0.5, 0)) == pytest.approx(expected, abs=1e-12)


def test_a_larger_violation_moves_the_weight_further():
    assert PidLagrangian(0.1, 0, 0.5, 0).update(0.5).weight == pytest.approx(
        400 * PidLagrangian(0.1, 0, 0.5, 0).update(0.101).weight
    )


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20), st.floats(0, 2))
def test_weights_are_never_negative_and_the_integral_stays_in_its_range(costs, cap):
    controller = PidLagrangian(0.2, 0.7, 0.3, 0.4, cap=cap)
    for cost in costs:
        controller = controller.update(cost)
        assert controller.weight >= 0
        assert 0 <= controller.accumulated <= cap


def test_one_shot_dilemmas_break_even_where_the_study_says():
    # Alternatives C, D. Against C: 3 or 5; against D: 0 or 1.
    harm_to_other = [break_even_lambda([3, 5], [0, 3], 0), break_even_lambda([0, 1], [0, 4], 0)]
    net = [break_even_lambda([3, 5], [0, 1], 0), break_even_lambda([0, 1], [0, 3], 0)]
    assert max(harm_to_other) == pytest.approx(2 / 3)
    assert max(net) == pytest.approx(2)


def test_what_pays_more_and_costs_no_more_is_stopped_by_no_weight():
    assert break_even_lambda([1, 2], [0.5, 0.5], 0) == inf
    assert break_even_lambda([2, 1], [5, 0], 0) == 0


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 5)), min_size=1, max_size=6), st.data())
def test_from_the_break_even_weight_on_the_target_is_best(alternatives, data):
    rewards, penalties = map(list, zip(*alternatives, strict=True))
    target = data.draw(st.integers(0, len(rewards) - 1))
    least = break_even_lambda(rewards, penalties, target)
    if least < 1e6:
        value = np.array(rewards) - least * np.array(penalties)
        assert (value[np.array(rewards) > rewards[target]] <= value[target] + 1e-6).all()
        if least > 1e-6:
            below = np.array(rewards) - 0.99 * least * np.array(penalties)
            assert below.max() >= below[target]


def test_a_sweep_buys_less_penalty_as_the_weight_rises():
    rewards, penalties = [3, 5, 4], [0, 4, 1]
    assert weight_sweep(rewards, penalties, [0, 0.2, 0.5, 1.0, 3.0]).tolist() == [1, 1, 2, 0, 0]
    found = weight_sweep(rewards, penalties, np.linspace(0, 3, 50))
    assert (np.diff(np.array(penalties)[found]) <= 0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PidLagrangian(nan), "budget = nan"),
        (lambda: PidLagrangian(0.1, -1), "proportional = -1"),
        (lambda: PidLagrangian(0.1, cap=-1.0), "cap = -1"),
        (lambda: PidLagrangian(0.1).update(inf), "cost = inf"),
        (lambda: break_even_lambda([1, 2], [1], 0), "one of each"),
        (lambda: break_even_lambda([1, nan], [1, 1], 0), "not finite"),
        (lambda: break_even_lambda([1, 2], [1, 1], 2), "target = 2"),
        (lambda: weight_sweep([1], [1], [-1]), "at least 0"),
        (lambda: weight_sweep([], [], [1]), "one of each"),
    ],
)
def test_bad_numbers_are_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
