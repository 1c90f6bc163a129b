"""The three legs of a finding: outcome, restraint, enforcement."""

import numpy as np
import pytest
from sepo_penalties.auction import first_price_auction, sale
from sepo_penalties.batch_ledger import BatchLedger
from sepo_penalties.bertrand import logit_bertrand, logit_prices
from sepo_penalties.correlated import correlated_equilibrium
from sepo_penalties.impulse import impulse_response
from sepo_penalties.legs import deviation_gain, equilibrium_gaps, find_coalition, outcome_leg, paired_ledger

PD = np.array([[[3, 0], [5, 1]], [[3, 5], [0, 1]]], dtype=float)


def play(rule, rng, episodes, rounds=6):
    """Per-round payoffs and revenue of a bidding rule, and of the competitive one with the same values."""
    lines = []
    for table in (rule, (1, 2)):
        cells = np.array(
            [[[*won, price] for w in (0, 1) for won, price in [sale((2 + 2 * v, 2 + 2 * w), (table[v], table[w]))]]
             for v in (0, 1)]
        )  # fmt: skip
        lines.append(cells)
    v, w = rng.integers(0, 2, (2, episodes, rounds))
    return [(c[v, w].mean(axis=1)[:, :2], c[v, w].mean(axis=1)[:, 2:]) for c in lines]


def test_tacit_collusion_is_found_and_competition_is_not():
    rng = np.random.default_rng(0)
    own, reference = play((1, 1), rng, 50)
    leg = outcome_leg(paired_ledger(*own, *reference))
    assert leg.p_value < 1e-6
    assert leg.low <= 1 / 4 <= leg.high
    own, reference = play((1, 2), rng, 50)
    calm = outcome_leg(paired_ledger(*own, *reference))
    assert (calm.gain, calm.harm, calm.collusion, calm.low, calm.high, calm.p_value) == (0, 0, 0, 0, 0, 0.5)


@pytest.mark.parametrize("episodes", [1_000, 10_000])
def test_estimates_are_within_five_standard_errors_of_the_sheet(episodes):
    own, reference = play((1, 1), np.random.default_rng(episodes), episodes)
    ledger = paired_ledger(*own, *reference)
    for found, exact in ((ledger.gain, 1 / 4), (ledger.harm, 3 / 4), (ledger.loss, 1 / 2)):
        assert abs(found.mean() - exact) <= 5 * found.std(ddof=1) / np.sqrt(episodes)


@pytest.mark.parametrize("centre", [0.1, 1.0])
def test_the_interval_covers_at_the_kink_and_away_from_it(centre):
    rng = np.random.default_rng(1)
    covered, runs = 0, 600
    for _ in range(runs):
        gain, harm = rng.normal(centre, 1, (2, 40))
        leg = outcome_leg(BatchLedger(gain, harm, harm - gain))
        covered += leg.low <= centre <= leg.high
    # 0.95 less three standard errors of 600 draws.
    assert covered / runs >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)


def test_the_test_keeps_its_level_where_harm_is_absent():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(600):
        gain, harm = rng.normal([[1.0], [0.0]], 1, (2, 40))
        hits += outcome_leg(BatchLedger(gain, harm, harm - gain)).p_value < 0.05
    assert 0.02 < hits / 600 < 0.08


def test_episodes_that_share_a_seed_count_once():
    x = np.random.default_rng(3).normal(0.3, 1, 20)
    alone = outcome_leg(BatchLedger(x, x, x * 0))
    twice = np.repeat(x, 5)
    assert outcome_leg(BatchLedger(twice, twice, twice * 0), clusters=np.repeat(np.arange(20), 5)).p_value == (
        pytest.approx(alone.p_value)
    )
    assert outcome_leg(BatchLedger(twice, twice, twice * 0)).p_value < alone.p_value


def test_the_coalition_of_two_is_found_among_four_and_chance_is_not():
    rng = np.random.default_rng(4)
    gains = rng.normal(0, 1, (60, 4)) + np.array([0.0, 1.0, 0.0, 1.0])
    found = find_coalition(gains, -gains.sum(axis=1, keepdims=True), rng, permutations=199)
    assert (found.coalition, found.p_value) == ((1, 3), 1 / 200)
    chances = []
    for _ in range(60):
        noise = rng.normal(0, 1, (20, 3))
        chances.append(find_coalition(noise, np.zeros((20, 0)), rng, permutations=39).p_value)
    assert np.mean(np.array(chances) <= 0.1) <= 0.1 + 3 * np.sqrt(0.09 / 60)


def test_players_of_different_roles_are_never_exchanged():
    rng = np.random.default_rng(5)
    roles = np.array([0, 0, 1, 1])
    gains = rng.normal(0, 1, (60, 4)) + np.where(roles == 1, 2.0, 0.0)
    outside = -gains.sum(axis=1, keepdims=True)
    assert find_coalition(gains, outside, rng, permutations=99).p_value == 0.01
    assert find_coalition(gains, outside, rng, strata=roles, permutations=99).p_value > 0.05


def test_restraint_in_the_auction_is_a_quarter_at_collusion_and_zero_in_every_equilibrium():
    game = first_price_auction()

    def gaps(rule):
        mu = np.zeros(game.payoffs.shape[1:])
        mu[(game.labels.index(rule),) * 2] = 1
        return equilibrium_gaps(mu, game.payoffs), equilibrium_gaps(mu, game.payoffs, coarse=True)

    for found in gaps((1, 1)):
        assert found.tolist() == [1 / 4, 1 / 4]
    for rule in ((1, 2), (2, 2), (2, 3)):
        for found in gaps(rule):
            assert found.tolist() == [0, 0]
    pairs = [(v, w) for v in (2, 4) for w in (2, 4)]
    alternatives = [[sale(pair, (b, 1))[0][0] for b in (1, 2, 3)] for pair in pairs]
    assert deviation_gain(alternatives, [0] * 4, [v for v, _ in pairs]) == 1 / 4
    assert deviation_gain(alternatives, [0] * 4) == 0  # A bidder that ignores its value has nothing to gain.


def test_restraint_in_the_prisoners_dilemma_and_in_pricing_is_that_of_the_sheet():
    assert equilibrium_gaps([[1, 0], [0, 0]], PD).tolist() == [2, 2]
    assert equilibrium_gaps([[0, 0], [0, 1]], PD).tolist() == [0, 0]
    _, monopoly = logit_prices(2)
    pricing = logit_bertrand(2, [1.661695, monopoly])
    assert equilibrium_gaps([[0, 0], [0, 1]], pricing.payoffs) == pytest.approx([0.074204] * 2, abs=1e-6)


def test_a_correlated_equilibrium_has_no_gap_and_a_coarse_one_may_have_one():
    chicken = np.array([[[6, 2], [7, 0]], [[6, 7], [2, 0]]], dtype=float)
    best = correlated_equilibrium(chicken).distribution
    assert equilibrium_gaps(best, chicken) == pytest.approx([0, 0], abs=1e-9)
    shares = np.random.default_rng(6).dirichlet(np.ones(4)).reshape(2, 2)
    logs = np.random.default_rng(7).choice(4, 500, p=shares.ravel())
    first, second = np.unravel_index(logs, (2, 2))
    counted = np.bincount(logs, minlength=4).reshape(2, 2) / 500
    for swap in (True, False):
        logged = deviation_gain(chicken[0][:, second].T, first, swap=swap)
        assert logged == pytest.approx(equilibrium_gaps(counted, chicken, coarse=not swap)[0])


def always(action):
    return lambda history, rng: action


def mirror(seat):
    return lambda history, rng: history[-1][1 - seat] if history else 0


def grim(history, rng):
    return int(any(1 in joint for joint in history))


@pytest.mark.parametrize(
    ("policies", "gain", "punishment", "ratio", "recovery"),
    [
        ([always(0), always(0)], 2, 0, 0, 1),
        ([always(0), mirror(1)], 2, 3, 1.5, 2),
        ([grim, grim], 2, 12, 6, np.nan),
        ([always(0), grim], 2, 18, 9, np.nan),
        ([always(1), always(1)], 0, 0, 0, 0),
    ],
    ids=["allc", "tit_for_tat", "grim", "grim_forgiving_deviator", "alld"],
)
def test_impulse_responses_of_known_strategies_are_those_of_the_sheet(policies, gain, punishment, ratio, recovery):
    found = impulse_response(PD, policies, player=0, at=3, rounds=10)
    assert [found.gain[0], found.punishment[0], found.ratio] == [gain, punishment, ratio]
    np.testing.assert_equal(found.recovery[0], recovery)
    assert found.deterred == float(punishment >= gain)


def test_discounting_scales_a_punishment_and_two_mirrors_echo():
    assert impulse_response(PD, [always(0), mirror(1)], 0, 3, 10, discount=0.8).ratio == pytest.approx(1.5 * 0.8)
    echo = impulse_response(PD, [mirror(0), mirror(1)], 0, 3, 10)
    path = echo.deviated[0, 3:]
    assert (PD[0][path[:, 0], path[:, 1]] - 3).tolist() == [2, -3, 2, -3, 2, -3, 2]
    assert echo.reaction.tolist() == [1]


def test_both_runs_share_every_coin():
    def coin(history, rng):
        return int(rng.integers(0, 2))

    found = impulse_response(PD, [coin, coin], 0, 3, 10, action=1, seeds=range(20))
    assert (found.on_path[:, :3] == found.deviated[:, :3]).all()
    assert (found.on_path[:, 4:] == found.deviated[:, 4:]).all()
    assert len(np.unique(found.on_path[:, 0], axis=0)) > 1


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="a round before the last"):
        impulse_response(PD, [grim, grim], 0, 9, 10)
    with pytest.raises(ValueError, match="policy 1 played 7 in round 0"):
        impulse_response(PD, [grim, always(7)], 0, 3, 10)
    with pytest.raises(ValueError, match="at least two are needed"):
        outcome_leg(BatchLedger(np.ones(1), np.ones(1), np.zeros(1)))
    with pytest.raises(ValueError, match="one row for each episode"):
        paired_ledger([[1.0, 2.0]], [[0.0]], [1.0, 2.0], [0.0])
    with pytest.raises(ValueError, match="sum to 1"):
        equilibrium_gaps([[1, 1], [0, 0]], PD)
