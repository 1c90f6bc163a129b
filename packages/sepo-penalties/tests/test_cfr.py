"""CFR+ and the batched kernels, with numpy and, where it is installed, with numba."""

import numpy as np
import pyspiel
import pytest
from sepo_penalties import SequenceForm, best_response, exploitability, kernels, loops, nash_conv, policy_value
from sepo_penalties import cfr as cfr_module
from sepo_penalties.cfr import cfr_plus
from sepo_penalties.kernels import batch_nash_conv, batch_response_value, kernel_of

NUMBA = pytest.param("numba", marks=pytest.mark.skipif(not kernels.HAS_NUMBA, reason="numba is an extra"))


def compiled(name):
    return SequenceForm.from_game(pyspiel.load_game(name))


def random_profiles(sf, rng, count):
    profile = []
    for p in (0, 1):
        policy = sf.uniform_policy(p) * rng.exponential(size=(count, *sf.uniform_policy(p).shape))
        profile.append(policy / policy.sum(axis=-1, keepdims=True))
    return tuple(profile)


@pytest.fixture(params=["numpy", NUMBA])
def backend(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(kernels, "HAS_NUMBA", False)
    return request.param


def test_kuhn_is_solved_to_a_thousandth(backend):
    found = cfr_plus(compiled("kuhn_poker"), iterations=2_000, target=1e-3)
    sf = compiled("kuhn_poker")
    assert found.exploitability <= 1e-3
    assert found.iterations < 2_000
    assert exploitability(sf, found.policies) == pytest.approx(found.exploitability, abs=1e-12)
    # The value lies within NashConv of -1/18.
    assert policy_value(sf, found.policies)[0] == pytest.approx(-1 / 18, abs=2e-3)


def test_leduc_is_solved_to_a_thousandth(backend):
    sf = compiled("leduc_poker(suit_isomorphism=True)")
    found = cfr_plus(sf, iterations=3_000, target=1e-3)
    assert found.exploitability <= 1e-3
    assert exploitability(sf, found.policies) == pytest.approx(found.exploitability, abs=1e-12)
    assert policy_value(sf, found.policies)[0] == pytest.approx(-0.0856064, abs=2e-3)


def test_the_mixed_equilibrium_of_a_matrix_is_found_from_a_pure_start(backend):
    # Value 2/5 with odds 2 to 3 on both sides: the rows earn (2, -1) and (-2/3, 4/3) against the columns.
    payoffs = np.array([[2.0, -1.0], [-2 / 3, 4 / 3]])
    sf = SequenceForm.from_matrix([payoffs, -payoffs])
    found = cfr_plus(sf, iterations=100_000, target=1e-4)
    assert found.policies[0][0] == pytest.approx([2 / 5, 3 / 5], abs=1e-3)
    assert policy_value(sf, found.policies)[0] == pytest.approx(2 / 5, abs=2e-4)


def test_loops_and_levels_take_the_same_steps():
    # The loops run as plain Python here, whether or not numba is installed.
    sf = compiled("kuhn_poker")
    kernel = kernel_of(sf)
    states = []
    for plain in (True, False):
        regrets, totals = np.zeros((2, 13)), np.zeros((2, 13))
        plans = np.zeros((2, 13))
        plans[:, 0] = 1
        for p in (0, 1):
            for level in kernel.levels[p]:
                plans[p][level.sequences] = plans[p][level.parents] / 2
        if plain:
            loops.cfr_plus_loop(*kernel.arrays, regrets, plans, totals, 1, 31)
        else:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(kernels, "HAS_NUMBA", False)
                cfr_module._advance(kernel, regrets, plans, totals, 1, 31)
        states.append((regrets, plans, totals))
    for ours, theirs in zip(*states, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("backend_", ["numpy", NUMBA])
@pytest.mark.parametrize(
    ("name", "count"),
    [("kuhn_poker", 1), ("kuhn_poker", 600), ("leduc_poker", 5), ("first_sealed_auction(max_value=4)", 70)],
)
def test_batched_nash_conv_is_nash_conv(name, count, backend_):
    sf = compiled(name)
    profiles = random_profiles(sf, np.random.default_rng(0), count)
    kernel = kernel_of(sf)
    expected = nash_conv(sf, profiles)
    for dtype, slack in ((np.float64, 1e-12), (np.float32, 2e-5)):
        ours = batch_nash_conv(kernel, profiles, dtype, backend_)
        assert ours.dtype == dtype
        np.testing.assert_allclose(ours, expected, atol=slack)


def test_the_loop_of_nash_conv_is_right_as_plain_python_and_finds_bad_rows():
    sf = compiled("leduc_poker(suit_isomorphism=True)")
    kernel, profiles = kernel_of(sf), random_profiles(sf, np.random.default_rng(1), 3)
    out = np.empty(3)
    assert loops.nash_conv_loop(*kernel.arrays, *profiles, 2, out) == -1
    np.testing.assert_allclose(out, nash_conv(sf, profiles), atol=1e-12)
    for k in range(3):
        alone = loops.nash_conv_single(*kernel.arrays, *(policy[k : k + 1] for policy in profiles))
        assert alone == pytest.approx(out[k], abs=1e-12)
    for row, seat, change in ((1, 0, np.nan), (2, 1, 0.1), (0, 1, -2.0)):
        broken = [policy.copy() for policy in profiles]
        broken[seat][row, 5, 0] += change
        assert loops.nash_conv_loop(*kernel.arrays, *broken, 1, out) == row
        assert np.isnan(loops.nash_conv_single(*kernel.arrays, *(policy[row : row + 1] for policy in broken)))
    broken = [policy.copy() for policy in profiles]
    two_actions = int(np.flatnonzero(sf.num_actions(0) == 2)[0])
    broken[0][2, two_actions, 2] = 1e-3
    assert loops.nash_conv_loop(*kernel.arrays, *broken, 2, out) == 2
    assert np.isnan(loops.nash_conv_single(*kernel.arrays, *(policy[2:] for policy in broken)))


def test_the_loops_take_the_players_own_payoffs_off_in_general_sum_games():
    sf = compiled("first_sealed_auction(max_value=3)")
    kernel, profiles, out = kernel_of(sf), random_profiles(sf, np.random.default_rng(1), 1), np.empty(1)
    expected = nash_conv(sf, profiles)[0]
    assert loops.nash_conv_loop(*kernel.arrays, *profiles, 1, out) == -1
    assert out[0] == pytest.approx(expected, abs=1e-12)
    assert loops.nash_conv_single(*kernel.arrays, *profiles) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("player", [0, 1])
def test_batched_response_values_are_those_of_best_response(player):
    sf = compiled("first_sealed_auction(max_value=4)")
    profiles = random_profiles(sf, np.random.default_rng(3), 300)
    ours = batch_response_value(kernel_of(sf), profiles[1 - player], player)
    np.testing.assert_allclose(ours, best_response(sf, profiles, player).value, atol=1e-12)
    with pytest.raises(ValueError, match="player 2 does not exist"):
        batch_response_value(kernel_of(sf), profiles[0], 2)
    with pytest.raises(ValueError, match=r"\(B, n_infosets, max_actions\) is needed"):
        batch_response_value(kernel_of(sf), profiles[1 - player][0], player)


@pytest.mark.parametrize("backend_", ["numpy", NUMBA])
def test_a_bad_row_in_a_batch_is_named(backend_):
    sf = compiled("kuhn_poker")
    one, two = random_profiles(sf, np.random.default_rng(0), 70)
    two[66, 3] = (0.5, 0.6)
    for rows in (slice(None), slice(66, 67)):
        with pytest.raises(ValueError, match=rf"policy of player 1, information set '{sf.infosets(1)[3]}'"):
            batch_nash_conv(kernel_of(sf), (one[rows], two[rows]), backend=backend_)


def test_what_cannot_be_solved_or_packed_is_refused():
    dilemma, kuhn = compiled("matrix_pd"), compiled("kuhn_poker")
    with pytest.raises(ValueError, match="general-sum"):
        cfr_plus(dilemma)
    with pytest.raises(ValueError, match="at least one"):
        cfr_plus(kuhn, iterations=0)
    with pytest.raises(ValueError, match=r"target = 0\.0"):
        cfr_plus(kuhn, target=0.0)
    with pytest.raises(ValueError, match="3 players"):
        kernel_of(compiled("kuhn_poker(players=3)"))
    one, two = random_profiles(kuhn, np.random.default_rng(0), 3)
    for bad in ((one, two[:2]), (one[0], two[0]), (one[:0], two[:0])):
        with pytest.raises(ValueError, match="policies have shapes"):
            batch_nash_conv(kernel_of(kuhn), bad)


@pytest.mark.parametrize("backend_", ["numpy", NUMBA])
@pytest.mark.parametrize("count", [1, 3])
def test_thousands_of_actions_in_float32_still_sum_to_one(count, backend_):
    payoffs = np.random.default_rng(0).normal(size=(2, 5_000, 2))
    sf = SequenceForm.from_matrix(payoffs)
    profiles = random_profiles(sf, np.random.default_rng(1), count)
    ours = batch_nash_conv(kernel_of(sf), profiles, np.float32, backend_)
    np.testing.assert_allclose(ours, nash_conv(sf, profiles), atol=1e-4)


def test_a_batch_needs_both_players():
    kuhn = compiled("kuhn_poker")
    with pytest.raises(ValueError, match="1 policies were given"):
        batch_nash_conv(kernel_of(kuhn), random_profiles(kuhn, np.random.default_rng(0), 2)[:1])


@pytest.mark.skipif(kernels.HAS_NUMBA, reason="numba is installed")
def test_asking_for_a_missing_numba_says_what_to_install():
    kuhn = compiled("kuhn_poker")
    with pytest.raises(ValueError, match="install the extra numba"):
        batch_nash_conv(kernel_of(kuhn), random_profiles(kuhn, np.random.default_rng(0), 2), backend="numba")
