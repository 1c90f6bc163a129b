"""Antitrust screens against the numbers of the sheet and their invariances."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_penalties.screens import bid_screens, conditional_independence

NAMES = ("cv", "spd", "diffp", "rd", "rdnor", "rdalt", "kurt", "skew", "ks")
SHIFT_INVARIANT = ("rd", "rdnor", "rdalt", "kurt", "skew", "ks")


@pytest.mark.parametrize(
    ("bids", "sheet"),
    [
        ([1, 2, 3, 4], (0.516398, 3, 1, 1, 1, 1, -1.2, 0, 0.2)),
        ([100, 101, 102, 103], (0.012719, 0.03, 0.01, 1, 1, 1, -1.2, 0, 0.2)),
        (
            [100, 103, 108, 115, 125],
            (0.091061, 0.25, 0.03, 0.314630, 0.48, 0.409091, -0.351886, 0.786428, 0.213333),
        ),
    ],
    ids=str,
)
def test_screens_are_those_of_the_sheet(bids, sheet):
    found = asdict(bid_screens(bids))
    assert [float(found[name]) for name in NAMES] == pytest.approx(sheet, abs=1e-6)


@pytest.mark.parametrize(("n", "missing"), [(2, {"rd", "rdalt", "skew", "kurt"}), (3, {"kurt"}), (4, set())])
def test_a_screen_without_enough_bids_is_nan_and_never_zero(n, missing):
    found = asdict(bid_screens(np.array([1.0, 2.0, 4.0, 9.0][:n])))
    assert {name for name, value in found.items() if np.isnan(value)} == missing


def test_equal_bids_have_no_variation_and_no_other_screen():
    found = asdict(bid_screens(np.full((3, 5), 0.1)))
    assert (found.pop("cv") == 0).all()
    assert all(np.isnan(value).all() for value in found.values())


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.floats(0.1, 50), st.floats(0.1, 50))
def test_all_screens_ignore_units_and_order_and_some_ignore_a_shift(seed, n, scale, shift):
    rng = np.random.default_rng(seed)
    bids = rng.uniform(1, 9, (4, n))
    base = asdict(bid_screens(bids))
    scaled, mixed = asdict(bid_screens(scale * bids)), asdict(bid_screens(rng.permuted(bids, axis=1)))
    shifted = asdict(bid_screens(bids + shift))
    for name, value in base.items():
        np.testing.assert_allclose(scaled[name], value, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(mixed[name], value, rtol=1e-6, atol=1e-8)
        if name in SHIFT_INVARIANT:
            np.testing.assert_allclose(shifted[name], value, rtol=1e-5, atol=1e-6)
        elif name != "cv":
            assert (shifted[name] < value).all()


@pytest.mark.parametrize(("r", "n", "z", "p"), [(0.5, 28, 2.746531, 0.006023), (0.9, 6, 2.549959, 0.010774)])
def test_the_residual_correlation_test_is_that_of_the_sheet(r, n, z, p):
    assert conditional_independence(r, n) == pytest.approx((z, p), abs=1e-6)


def test_bids_that_are_not_above_zero_are_refused():
    for bids in ([1.0, 0.0], [1.0, np.nan], [1.0]):
        with pytest.raises(ValueError, match="finite numbers above 0, at least two"):
            bid_screens(bids)
