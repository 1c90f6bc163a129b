"""Price competition against the published market's numbers and closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_games import MatchUp, ScriptedPolicy, play
from sepo_games.pricing import Pricing
from sepo_games.pricing_demand import Demand, price_grid, pure_equilibria
from sepo_games.testing import check_game

MARKET = Demand()
PUBLISHED_GRID = Pricing(points=15, margin=0.1)


@pytest.mark.parametrize("preset", ["sepo", "paper"])
def test_the_game_keeps_its_promises(preset):
    check_game(Pricing(preset=preset), episodes=100)


def test_another_grid_keeps_its_promises():
    check_game(Pricing(rounds=2, points=3, margin=0.0), episodes=50)


def test_competitive_and_monopoly_prices_are_the_published_ones():
    assert MARKET.competitive_price() == pytest.approx(1.4729266600, abs=1e-9)
    assert MARKET.monopoly_price() == pytest.approx(1.9249809190, abs=1e-9)


@pytest.mark.parametrize(
    ("prices", "profits", "surplus"),
    [
        ("NN", (0.222927, 0.222927), 0.715098),
        ("NM", (0.367924, 0.117977), 0.589839),
        ("MN", (0.117977, 0.367924), 0.589839),
        ("MM", (0.337490, 0.337490), 0.327078),
    ],
)
def test_profits_and_consumer_surplus_are_those_of_the_sheet(prices, profits, surplus):
    at = {"N": MARKET.competitive_price(), "M": MARKET.monopoly_price()}
    earned, left = MARKET.market([at[p] for p in prices])
    assert earned == pytest.approx(profits, abs=1e-6)
    assert left == pytest.approx(surplus, abs=1e-6)


@pytest.mark.parametrize(
    ("price", "gain"),
    [(1.5, 0.098012), (1.6, 0.432647), (1.7, 0.709327), (1.9, 0.996053), (2.0, 0.963713), (2.5, -0.551363)],
)
def test_the_profit_gain_of_equal_prices_is_the_published_index(price, gain):
    low, high = (MARKET.market((p, p))[0][0] for p in (MARKET.competitive_price(), MARKET.monopoly_price()))
    assert (MARKET.market((price, price))[0][0] - low) / (high - low) == pytest.approx(gain, abs=1e-6)


numbers = st.floats(0.05, 3)


@settings(deadline=None, max_examples=60)
@given(numbers, numbers, st.floats(-1, 1), st.floats(0.05, 1))
def test_equilibrium_and_monopoly_profits_follow_their_closed_forms(quality, cost, outside, spread):
    market = Demand(quality, cost, outside, spread)
    low, high = market.competitive_price(), market.monopoly_price()
    assert market.market((low, low))[0][0] == pytest.approx(low - cost - spread, abs=1e-9)
    assert 2 * market.market((high, high))[0][0] == pytest.approx(high - cost - spread, abs=1e-9)
    for other in np.linspace(cost, cost + 3, 31):
        assert market.market((other, low))[0][0] <= market.market((low, low))[0][0] + 1e-9
        assert market.market((other, other))[0][0] <= market.market((high, high))[0][0] + 1e-9


def test_consumers_have_nothing_where_nobody_buys():
    assert MARKET.market((50, 50))[1] == pytest.approx(0, abs=1e-12)
    assert replace(MARKET, outside=0.5).market((50, 50))[1] == pytest.approx(0, abs=1e-12)


def test_the_published_grid_moves_the_equilibria_and_the_better_one_is_the_benchmark():
    equilibria = [[PUBLISHED_GRID.prices[a] for a in pair] for pair in pure_equilibria(PUBLISHED_GRID.profits)]
    np.testing.assert_allclose(equilibria, [[1.466469] * 2, [1.505216] * 2], atol=1e-6)
    assert PUBLISHED_GRID.prices[PUBLISHED_GRID.benchmark] == pytest.approx(1.505216, abs=1e-6)
    assert PUBLISHED_GRID.references == pytest.approx((0.236282,) * 2, abs=1e-6)
    low, high = (MARKET.market((p, p))[0][0] for p in (MARKET.competitive_price(), MARKET.monopoly_price()))
    assert (PUBLISHED_GRID.references[0] - low) / (high - low) == pytest.approx(0.116579, abs=1e-6)


def test_the_default_grid_holds_both_prices_and_has_the_competitive_one_as_its_only_equilibrium():
    game = Pricing()
    assert game.prices[1] == pytest.approx(MARKET.competitive_price(), abs=1e-12)
    assert game.prices[3] == pytest.approx(MARKET.monopoly_price(), abs=1e-12)
    assert pure_equilibria(game.profits) == ((1, 1),)
    assert game.words == ("1.25", "1.47", "1.70", "1.92", "2.15")


def test_the_ledger_of_a_cartel_is_that_of_the_sheet():
    entry = Pricing().entry((3, 3))
    partner = entry.expected.players[1] - entry.benchmark[0].players[1]
    harm = entry.benchmark[0].outsiders[0] - entry.expected.outsiders[0]
    assert (partner, harm) == pytest.approx((0.219513, 0.262761), abs=1e-6)
    alone = Pricing().entry((3, 1))
    partner = alone.expected.players[1] - alone.benchmark[0].players[1]
    harm = alone.benchmark[0].outsiders[0] - alone.expected.outsiders[0]
    assert (partner, harm) == pytest.approx((0.144997, 0.125259), abs=1e-6)


def test_a_competing_firm_does_no_harm_and_a_dear_one_costs_welfare():
    game = Pricing()

    def welfare(side):
        return sum(side.players) + sum(side.outsiders)

    for rival in range(5):
        entry = game.entry((1, rival))
        assert entry.harmless[0] == entry.expected
        assert welfare(game.entry((3, rival)).harmless[0]) > welfare(game.entry((3, rival)).expected)
    together = welfare(game.outcome((1, 1))) - welfare(game.outcome((3, 3)))
    assert together == pytest.approx(0.158892, abs=1e-6)


def prices(game, own, other):
    plan = [MatchUp(game, 0, other, game.strategies[other], "train", 0, 0)]
    (episode,) = play(plan, ScriptedPolicy(game, game.strategies[own]), 0)
    last = episode.steps[-1]
    return [*last.view.own, last.action], list(last.view.other)


def test_scripted_firms_follow_their_rules():
    game = Pricing(rounds=4)
    assert prices(game, "monopoly", "monopoly")[0] == [3, 3, 3, 3]
    assert prices(game, "tit-for-tat", "nash") == ([3, 1, 1, 1], [1, 1, 1])
    assert prices(game, "undercut", "monopoly")[0] == [2, 2, 2, 2]
    assert prices(game, "undercut", "tit-for-tat") == ([2, 2, 1, 1], [3, 2, 2])
    assert prices(game, "grim", "undercut") == ([3, 1, 1, 1], [2, 2, 1])
    replying = prices(game, "best-reply", "monopoly")[0]
    assert replying == [1, 2, 2, 2]


def test_a_best_reply_to_the_monopoly_price_is_near_the_continuous_one():
    game = PUBLISHED_GRID
    view = replace(game.infosets(0)[0].view, own=(13,), other=(13,))
    reply = game.prices[game.strategies["best-reply"](view, 0.5)]
    assert reply == pytest.approx(1.661695, abs=0.02)


def test_prices_that_round_alike_get_more_decimals():
    words = Pricing(points=120, rounds=1).words
    assert len(set(words)) == 120
    assert all(len(word) == 5 for word in words)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"rounds": 0}, "rounds = 0"),
        ({"points": 1}, "points = 1"),
        ({"margin": -0.1}, "margin = -0.1"),
        ({"margin": 1.2}, "above the cost"),
        ({"preset": "papre"}, "unknown preset"),
    ],
)
def test_impossible_rules_are_refused(rules, message):
    with pytest.raises(ValueError, match=message):
        Pricing(**rules)


@pytest.mark.parametrize("numbers", [{"spread": 0}, {"cost": -1}, {"quality": float("nan")}])
def test_impossible_markets_are_refused(numbers):
    with pytest.raises(ValueError, match="finite numbers"):
        Demand(**numbers)


@pytest.mark.parametrize("joint", [(0, 5), (0,), (-1, 0)])
def test_prices_that_are_not_on_the_grid_never_become_a_history(joint):
    with pytest.raises(ValueError, match="not allowed"):
        Pricing().new_initial_state().child(joint)


def test_a_grid_of_two_points_without_margin_is_the_two_prices():
    assert price_grid(MARKET, 2, 0.0) == pytest.approx((1.4729266600, 1.9249809190), abs=1e-9)
