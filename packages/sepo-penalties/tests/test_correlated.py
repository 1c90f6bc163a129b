"""Best correlated equilibria against textbook values, the auction study, and the definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_penalties.correlated import correlated_equilibrium

# Dare or yield, as in Aumann (1974) and the textbooks: (0, 0), (7, 2), (2, 7), (6, 6).
CHICKEN = np.array([[[0, 7], [2, 6]], [[0, 2], [7, 6]]])
DILEMMA = np.array([[[3, 0], [5, 1]], [[3, 5], [0, 1]]])


def test_the_best_correlated_equilibrium_of_chicken_pays_ten_and_a_half_together():
    found = correlated_equilibrium(CHICKEN)
    # Nobody who is told to yield may want to dare: p(yield, yield) <= 2 p(yield, dare).
    np.testing.assert_allclose(found.distribution, [[0, 1 / 4], [1 / 4, 1 / 2]], atol=1e-9)
    assert found.objective == pytest.approx(10.5, abs=1e-9)
    assert found.payoffs == pytest.approx([5.25, 5.25], abs=1e-9)


def test_a_coalition_of_one_gets_its_best_nash_equilibrium_in_chicken():
    found = correlated_equilibrium(CHICKEN, objective=[1, 0])
    assert found.payoffs == pytest.approx([7, 2], abs=1e-9)


def test_the_dilemma_has_only_mutual_defection():
    for coarse in (False, True):
        found = correlated_equilibrium(DILEMMA, coarse=coarse)
        np.testing.assert_allclose(found.distribution, [[0, 0], [0, 1]], atol=1e-9)


def test_rock_paper_scissors_with_a_bad_draw_separates_coarse_from_full():
    # In the manner of Moulin and Vial (1978): a draw costs both 1/2. Never drawing earns 0 together and no fixed action
    # earns as much; but whoever is told rock knows that paper or scissors is coming and plays scissors. Averaged
    # over the symmetries, a full equilibrium has probability x for a draw and y for any other pair of actions, and the
    # two deviations give y <= x and x <= y: uniform, worth -1/3 together.
    rps = np.array([[-0.5, -1, 1], [1, -0.5, -1], [-1, 1, -0.5]])
    assert correlated_equilibrium([rps, rps.T], coarse=True).objective == pytest.approx(0, abs=1e-9)
    assert correlated_equilibrium([rps, rps.T]).objective == pytest.approx(-1 / 3, abs=1e-9)


def auction():
    """The strategic form of two bidders with values 2 and 4, bids 1 to 3, first price, ties averaged, and revenue."""
    plans = list(product((1, 2, 3), repeat=2))
    payoffs, revenue = np.zeros((2, 9, 9)), np.zeros((9, 9))
    for (i, own), (j, other), (v, w) in product(enumerate(plans), enumerate(plans), product((0, 1), repeat=2)):
        a, b = own[v], other[w]
        share = 1.0 if a > b else 0.5 if a == b else 0.0
        payoffs[0, i, j] += share * (2 * v + 2 - a) / 4
        payoffs[1, i, j] += (1 - share) * (2 * w + 2 - b) / 4
        revenue[i, j] += max(a, b) / 4
    return payoffs, revenue


@pytest.mark.parametrize("coarse", [False, True])
def test_bidders_can_share_at_most_seven_quarters_in_equilibrium_and_the_seller_gets_as_much(coarse):
    payoffs, revenue = auction()
    assert correlated_equilibrium(payoffs, coarse=coarse).objective == pytest.approx(7 / 4, abs=1e-9)
    worst = correlated_equilibrium(payoffs, objective=-revenue, coarse=coarse)
    assert worst.objective == pytest.approx(-7 / 4, abs=1e-9)


def gains(payoffs, distribution, coarse):
    """All gains from deviating, by the definition, for any number of players."""
    found = []
    for player in range(len(payoffs)):
        u = np.moveaxis(payoffs[player], player, 0)
        p = np.moveaxis(distribution, player, 0)
        for b in range(len(u)):
            per = [float((p[a] * (u[b] - u[a])).sum()) for a in range(len(u))]
            found += [sum(per)] if coarse else per
    return np.array(found)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([(3, 3), (2, 4), (2, 3, 2)]), st.booleans())
def test_nobody_gains_by_disobeying_and_coarse_equilibria_are_at_least_as_good(seed, sizes, coarse):
    rng = np.random.default_rng(seed)
    payoffs, weights = rng.normal(size=(len(sizes), *sizes)), rng.normal(size=len(sizes))
    found = correlated_equilibrium(payoffs, weights, coarse)
    assert found.distribution.sum() == pytest.approx(1)
    assert gains(payoffs, found.distribution, coarse).max() <= 1e-7
    assert found.objective == pytest.approx(float(weights @ found.payoffs), abs=1e-9)
    assert found.objective <= correlated_equilibrium(payoffs, weights, coarse=True).objective + 1e-7


@pytest.mark.parametrize(
    ("payoffs", "objective", "message"),
    [
        ([[1.0, 2.0]], None, "one player"),
        (DILEMMA, [1.0, 1.0, 1.0], r"objective has shape \(3,\)"),
        (DILEMMA, [np.nan, 1.0], "finite weights"),
        ([[1.0, 2.0], [3.0, 4.0]], None, r"shape \(2, 2\)"),
    ],
)
def test_what_is_no_program_is_refused(payoffs, objective, message):
    with pytest.raises(ValueError, match=message):
        correlated_equilibrium(payoffs, objective)
