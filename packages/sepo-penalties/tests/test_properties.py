"""What must hold for every ledger and every benchmark, whatever the numbers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_penalties.batch_ledger import BatchLedger, batch_ledger, collusion_index, signed_ledger, welfare_shortfall
from sepo_penalties.benchmarks import grid_benchmark
from sepo_penalties.correlated import correlated_equilibrium
from sepo_penalties.episodes import EpisodeBatch
from sepo_penalties.legs import equilibrium_gaps, outcome_leg

seeds = st.integers(0, 10**6)
ci = settings(max_examples=200, deadline=None)


def draw(seed, episodes=6, players=3, outsiders=2):
    rng = np.random.default_rng(seed)
    shapes = ((episodes, players), (episodes, outsiders), (players,), (outsiders,))
    return [rng.normal(size=shape) for shape in shapes]


def signed(ledger):
    return np.array([ledger.gain, ledger.harm, ledger.loss])


@ci
@given(seeds)
def test_harm_is_gain_plus_loss_and_the_penalties_split_the_harm(seed):
    ledger = signed_ledger(*draw(seed), coalition=[0, 2])
    np.testing.assert_allclose(ledger.harm, ledger.gain + ledger.loss, atol=1e-12)
    c, e, gain, harm = ledger.collusion, ledger.externality, ledger.gain.mean(), ledger.harm.mean()
    assert 0 <= c <= min(max(gain, 0), max(harm, 0)) + 1e-12
    assert e >= 0
    if gain >= 0 and harm >= 0:
        assert c + e == pytest.approx(harm, abs=1e-12)
    single = signed(signed_ledger(*draw(seed)))
    assert np.isfinite(single).all()


@ci
@given(seeds, st.floats(-9, 9), st.floats(0.1, 9))
def test_constants_cancel_and_a_common_unit_scales(seed, shift, scale):
    u, v, bu, bv = draw(seed)
    base = signed_ledger(u, v, bu, bv, [0, 1])
    moved = shift * np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(signed(signed_ledger(u + moved, v, bu + moved, bv, [0, 1])), signed(base), atol=1e-9)
    wide = signed_ledger(scale * u, scale * v, scale * bu, scale * bv, [0, 1])
    np.testing.assert_allclose(signed(wide), scale * signed(base), atol=1e-9)
    assert outcome_leg(wide).p_value == pytest.approx(outcome_leg(base).p_value)


@ci
@given(seeds)
def test_names_order_and_bystanders_change_nothing(seed):
    u, v, bu, bv = draw(seed)
    base = signed(signed_ledger(u, v, bu, bv, [0, 1]))
    np.testing.assert_allclose(signed(signed_ledger(u[:, [1, 0, 2]], v[:, ::-1], bu[[1, 0, 2]], bv[::-1])), signed(
        signed_ledger(u, v, bu, bv)), atol=1e-12)  # fmt: skip
    np.testing.assert_allclose(signed(signed_ledger(u[:, [2, 1, 0]], v, bu[[2, 1, 0]], bv, [2, 1])), base, atol=1e-12)
    order = np.random.default_rng(seed).permutation(len(u))
    np.testing.assert_allclose(signed(signed_ledger(u[order], v[order], bu, bv, [0, 1])), base[:, order], atol=1e-12)
    dummy = np.hstack([v, np.full((len(v), 1), 7.0)])
    np.testing.assert_allclose(signed(signed_ledger(u, dummy, bu, [*bv, 7.0], [0, 1])), base, atol=1e-12)


@ci
@given(seeds, st.floats(0, 5))
def test_more_harm_to_an_outsider_never_lowers_a_penalty(seed, extra):
    u, v, bu, bv = draw(seed)
    base, worse = signed_ledger(u, v, bu, bv, [0, 1]), signed_ledger(u, v - [extra, 0], bu, bv, [0, 1])
    assert worse.collusion >= base.collusion - 1e-12
    assert worse.externality >= base.externality - 1e-12
    if base.loss.mean() >= 0:
        assert worse.externality == pytest.approx(base.externality + extra, abs=1e-9)


@ci
@given(seeds)
def test_constant_sums_have_no_externality_and_closed_games_no_collusion(seed):
    u, v, bu, bv = draw(seed)
    v[:, -1], bv[-1] = -u.sum(axis=1) - v[:, :-1].sum(axis=1), -bu.sum() - bv[:-1].sum()
    np.testing.assert_allclose(signed_ledger(u, v, bu, bv, [0, 1]).loss, 0, atol=1e-12)
    closed = signed_ledger(u, np.zeros((len(u), 0)), bu, np.zeros(0))
    assert closed.collusion == 0
    assert (closed.harm == 0).all()


@ci
@given(seeds)
def test_episodes_one_by_one_and_padding_change_nothing(seed):
    rng = np.random.default_rng(seed)
    mask = np.arange(4) < rng.integers(1, 5, 3)[:, None]
    zeros, none = np.zeros((3, 4, 2)), np.zeros((3, 4, 1))
    played, seller = rng.normal(size=(3, 4, 2)), rng.normal(size=(3, 4, 1))
    batch = EpisodeBatch(
        zeros, played, zeros, zeros, none, seller, none, none, mask, mask & False, np.zeros((3, 4), int),
        np.zeros(3, int), np.full(3, "train"), np.full(3, "x"), np.zeros(3, int), np.full(3, 4), True,
    )  # fmt: skip
    found = batch_ledger(batch, [0.1, 0.2], [0.3])
    for i in range(3):
        alone = signed_ledger(
            played[i, mask[i]].mean(axis=0)[None], seller[i, mask[i]].mean(axis=0)[None], [0.1, 0.2], [0.3]
        )
        np.testing.assert_allclose(signed(alone)[:, 0], signed(found)[:, i], atol=1e-12)
    padded = replace(batch, expected_payoffs=np.where(mask[..., None], played, 99.0))
    np.testing.assert_allclose(signed(batch_ledger(padded, [0.1, 0.2], [0.3])), signed(found), atol=1e-12)


def random_game(seed, size=3):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=(2, size, size)), rng.normal(size=(1, size, size))
    # A dominant action for each player, so that a pure equilibrium exists.
    u[0, 0] = u[0].max(axis=0) + 0.5
    u[1, :, 0] = u[1].max(axis=1) + 0.5
    return grid_benchmark(tuple(range(size)), u, v)


@ci
@given(seeds)
def test_indices_lie_between_zero_and_one_and_vanish_at_their_benchmark(seed):
    game = random_game(seed)
    for a in range(3):
        for b in range(3):
            welfare = game.outcome(a, b).welfare
            assert 0 <= welfare_shortfall(welfare, game.efficient.welfare, game.worst.welfare) <= 1 + 1e-9
    assert welfare_shortfall(game.efficient.welfare, game.efficient.welfare, game.worst.welfare) == 0
    base = game.equilibrium
    at = signed_ledger(base.payoffs[None], base.outsiders[None], base.payoffs, base.outsiders)
    assert (at.collusion, at.externality) == (0, 0)
    top = game.collusive
    ledger = signed_ledger(top.payoffs[None], top.outsiders[None], base.payoffs, base.outsiders)
    assert 0 <= collusion_index(ledger.collusion, float(ledger.gain[0])) <= 1


@ci
@given(seeds)
def test_no_equilibrium_earns_more_than_the_benchmark_and_only_equilibria_have_no_gap(seed):
    game = random_game(seed)
    best = game.equilibrium.payoffs.sum()
    assert all(e.payoffs.sum() <= best + 1e-9 for e in game.equilibria)
    for cell in np.ndindex(3, 3):
        mu = np.zeros((3, 3))
        mu[cell] = 1
        nash = cell in {e.actions for e in game.equilibria}
        assert (equilibrium_gaps(mu, game.payoffs).max() <= 1e-9) == nash


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_collusion_is_zero_at_the_best_correlated_equilibrium_of_a_dominant_game(seed):
    game = random_game(seed)
    mix = correlated_equilibrium(game.payoffs)
    assert mix.payoffs.sum() == pytest.approx(game.equilibrium.payoffs.sum(), abs=1e-6)


@ci
@given(seeds)
def test_signed_terms_add_over_independent_games_and_externality_is_subadditive(seed):
    first, second = draw(seed), draw(seed + 1)
    a, b = signed_ledger(*first, coalition=[0, 1]), signed_ledger(*second, coalition=[0, 1])
    both = signed_ledger(*(x + y for x, y in zip(first, second, strict=True)), coalition=[0, 1])
    np.testing.assert_allclose(signed(both), signed(a) + signed(b), atol=1e-12)
    assert both.externality <= a.externality + b.externality + 1e-12
    joined = BatchLedger(*(np.concatenate([x, y]) for x, y in zip(signed(a), signed(b), strict=True)))
    assert joined.gain.mean() == pytest.approx((a.gain.mean() + b.gain.mean()) / 2)
