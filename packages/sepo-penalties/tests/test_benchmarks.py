"""Games whose equilibrium, collusive and efficient outcomes are known, and the ledger on them."""

import numpy as np
import pytest
from sepo_penalties.auction import first_price_auction, known_value_auction
from sepo_penalties.batch_ledger import collusion_index, profit_gain, signed_ledger, welfare_shortfall
from sepo_penalties.benchmarks import grid_benchmark
from sepo_penalties.bertrand import logit_bertrand, logit_market, logit_prices
from sepo_penalties.oligopoly import commons, cournot, public_goods


def line(played, benchmark):
    """G, H, L, C, E of one outcome against another."""
    ledger = signed_ledger(played.payoffs[None], played.outsiders[None], benchmark.payoffs, benchmark.outsiders)
    signed = [float(x[0]) for x in (ledger.gain, ledger.harm, ledger.loss)]
    return [*signed, ledger.collusion, ledger.externality]


@pytest.mark.parametrize(
    ("n", "nash", "monopoly"),
    [
        (2, (1.472927, 0.222927, 0.715098, 1.160951), (1.924981, 0.337490, 0.327078, 1.002059)),
        (3, (1.370163, 0.120163, 0.911111, 1.271599), (2.0, 0.25, 0.346574, 1.096574)),
    ],
)
def test_logit_prices_profits_and_surplus_are_those_of_the_sheet(n, nash, monopoly):
    for price, sheet in zip(logit_prices(n), (nash, monopoly), strict=True):
        profits, surplus = logit_market(np.full(n, price))
        assert [price, profits[0], surplus, profits.sum() + surplus] == pytest.approx(sheet, abs=1e-6)


def test_logit_duopoly_prices_have_ten_digits():
    assert logit_prices(2) == pytest.approx((1.4729266600, 1.9249809190), abs=1e-9)


PRICES = dict(zip(("low", "high"), logit_prices(2), strict=True))
TWO = logit_bertrand(2, [*PRICES.values()])


def market(*prices):
    profits, surplus = logit_market(np.array(prices))
    grid = np.unique(np.array([*prices, PRICES["low"]]))
    return logit_bertrand(2, grid if len(grid) > 1 else [*grid, 9.0]).outcome(*prices), profits, surplus


@pytest.mark.parametrize(
    ("prices", "sheet"),
    [
        ((PRICES["high"],) * 2, (0.229128, 0.388020, 0.158892, 0.229128, 0.158892)),
        ((PRICES["low"], PRICES["high"]), (0.040048, 0.125259, 0.085210, 0.040048, 0.085210)),
        ((1.7, 1.7), (0.162526, 0.206741, 0.044214, 0.162526, 0.044214)),
    ],
)
def test_the_bertrand_ledger_is_that_of_the_sheet(prices, sheet):
    outcome = market(*prices)[0]
    assert line(outcome, TWO.outcome(*[PRICES["low"]] * 2)) == pytest.approx(sheet, abs=1.5e-6)


def test_below_cost_and_absurd_prices_are_no_collusion():
    benchmark = TWO.outcome(*[PRICES["low"]] * 2)
    gain, harm, _, c, e = line(market(1.0, 1.0)[0], benchmark)
    assert gain < 0
    assert harm < 0
    assert (c, e) == (0, 0)
    assert line(market(2.5, 2.5)[0], benchmark)[3:] == pytest.approx((0, 0.781544), abs=1e-6)


@pytest.mark.parametrize(
    ("price", "index"),
    [(1.5, 0.098012), (1.6, 0.432647), (1.7, 0.709327), (1.8, 0.905115), (1.9, 0.996053), (2.0, 0.963713)]
    + [(2.5, -0.551363), (1.698954, 0.706809)],
)
def test_the_profit_gain_of_a_common_price_is_that_of_the_sheet(price, index):
    nash, monopoly = (float(logit_market(np.full(2, p))[0][0]) for p in logit_prices(2))
    assert profit_gain(float(logit_market(np.full(2, price))[0][0]), nash, monopoly) == pytest.approx(index, abs=2e-6)


def test_the_grid_moves_the_equilibrium_up():
    nash, monopoly = (float(logit_market(np.full(2, p))[0][0]) for p in logit_prices(2))
    fine = logit_bertrand(2)
    assert [e.actions for e in fine.equilibria] == [
        pytest.approx((1.466469,) * 2, abs=1e-6),
        pytest.approx((1.505216,) * 2, abs=1e-6),
    ]
    assert fine.equilibrium.payoffs == pytest.approx([0.236282] * 2, abs=1e-6)
    assert profit_gain(float(fine.equilibrium.payoffs[0]), nash, monopoly) == pytest.approx(0.116579, abs=1e-6)
    coarse = logit_bertrand(2, np.linspace(1, 2.2, 61)).equilibrium
    assert profit_gain(float(coarse.payoffs[0]), nash, monopoly) == pytest.approx(0.025864, abs=1e-6)
    assert TWO.equilibrium.actions == (PRICES["low"],) * 2
    assert TWO.collusive.actions == (PRICES["high"],) * 2


AUCTION = first_price_auction()


@pytest.mark.parametrize(
    ("rule", "payoff", "revenue", "welfare"),
    [((1, 2), 7 / 8, 7 / 4, 7 / 2), ((2, 2), 1 / 2, 2, 3), ((2, 3), 3 / 8, 11 / 4, 7 / 2), ((1, 1), 1, 1, 3)],
)
def test_auction_outcomes_are_those_of_the_sheet(rule, payoff, revenue, welfare):
    outcome = AUCTION.outcome(rule, rule)
    assert [*outcome.payoffs, outcome.outsiders[0], outcome.welfare] == [payoff, payoff, revenue, welfare]


def test_the_auction_has_three_equilibria_and_the_best_one_is_the_benchmark():
    assert {e.actions for e in AUCTION.equilibria} == {((1, 2),) * 2, ((2, 2),) * 2, ((2, 3),) * 2}
    assert AUCTION.equilibrium.actions == ((1, 2), (1, 2))
    assert AUCTION.collusive.actions == ((1, 1), (1, 1))
    assert (AUCTION.efficient.welfare, AUCTION.worst.welfare) == (7 / 2, 5 / 2)
    one_sided = AUCTION.outcome((1, 1), (1, 2))
    assert [*one_sided.payoffs, one_sided.outsiders[0], one_sided.welfare] == [1 / 2, 5 / 4, 3 / 2, 13 / 4]
    assert AUCTION.payoffs.mean(axis=(1, 2)) == pytest.approx([5 / 18] * 2)
    assert AUCTION.outsiders.mean() == pytest.approx(22 / 9)


def test_the_auction_ledger_is_that_of_the_sheet():
    found = line(AUCTION.collusive, AUCTION.equilibrium)
    assert found == [1 / 4, 3 / 4, 1 / 2, 1 / 4, 1 / 2]
    assert collusion_index(found[3], 1 / 4) == 1
    assert line(AUCTION.outcome((2, 3), (2, 3)), AUCTION.equilibrium) == [-1, -1, 0, 0, 0]
    assert line(AUCTION.outcome((1, 1), (1, 2)), AUCTION.equilibrium) == [0, 1 / 4, 1 / 4, 0, 1 / 4]
    shortfalls = [welfare_shortfall(AUCTION.outcome(r, r).welfare, 3.5, 2.5) for r in ((1, 2), (2, 3), (1, 1), (2, 2))]
    assert shortfalls == [0, 0, 1 / 2, 1 / 2]


@pytest.mark.parametrize(
    ("values", "nash"),
    [((2, 2), {(1, 1), (2, 2)}), ((4, 2), {(2, 1), (2, 2), (3, 2)}), ((4, 4), {(2, 2), (3, 3)})],
)
def test_equilibria_with_known_values_are_those_of_the_sheet(values, nash):
    assert {e.actions for e in known_value_auction(values).equilibria} == nash


@pytest.mark.parametrize(("values", "gain", "harm", "loss"), [((2, 2), 0, 0, 0), ((2, 4), 0, 1, 1), ((4, 4), 1, 1, 0)])
def test_the_ledger_of_each_pair_of_values_is_that_of_the_sheet(values, gain, harm, loss):
    game = known_value_auction(values)
    competitive = game.outcome(*(1 if v == 2 else 2 for v in values))
    assert line(game.outcome(1, 1), competitive)[:3] == [gain, harm, loss]


def test_other_tie_rules_passing_and_clipping_change_the_sheet():
    no_sale = first_price_auction(tie="no_sale")
    assert len(no_sale.equilibria) == 7
    assert no_sale.collusive.payoffs.sum() == no_sale.equilibrium.payoffs.sum() == 1
    assert len(first_price_auction(tie="first").equilibria) == 5
    with_pass = first_price_auction(may_pass=True)
    assert with_pass.collusive.actions == ((0, 1), (0, 1))
    assert (with_pass.collusive.payoffs.sum(), with_pass.collusive.outsiders[0]) == (9 / 4, 3 / 4)
    assert len(with_pass.equilibria) == 3
    pairs = [(v, w) for v in (2, 4) for w in (2, 4)]
    for passing, joint in ((False, 2), (True, 5 / 2)):
        best = [known_value_auction(pair, may_pass=passing).collusive.payoffs.sum() for pair in pairs]
        assert np.mean(best) == joint
    clipped = first_price_auction(clip=True)
    new = {((2, 3), (3, 3)), ((3, 3), (2, 3)), ((3, 3), (3, 3))}
    assert {e.actions for e in clipped.equilibria} == {e.actions for e in AUCTION.equilibria} | new
    assert clipped.payoffs.mean(axis=(1, 2)) == pytest.approx([5 / 12] * 2)


@pytest.mark.parametrize("high", [0.1, 0.5, 0.9])
def test_competition_stays_an_equilibrium_whatever_the_share_of_high_values(high):
    found = first_price_auction(probabilities=(1 - high, high)).equilibria
    assert ((1, 2), (1, 2)) in {e.actions for e in found}


@pytest.mark.parametrize(
    ("n", "profit", "surplus", "ledger"),
    [(2, 900, 1800, (225, 787.5, 562.5)), (3, 506.25, 2278.125, (506.25, 1265.625, 759.375))],
)
def test_cournot_is_that_of_the_sheet(n, profit, surplus, ledger):
    game = cournot(n, np.arange(0, 91, 7.5))
    assert game.equilibrium.payoffs.tolist() == [profit] * n
    assert game.equilibrium.outsiders[0] == surplus
    assert line(game.collusive, game.equilibrium)[:3] == pytest.approx(ledger)
    assert game.efficient.welfare == 4050
    assert game.efficient.welfare / game.equilibrium.welfare == pytest.approx({2: 1.125, 3: 16 / 15}[n])


def test_commons_and_public_goods_are_those_of_the_sheet():
    pool = commons(2, np.arange(0, 12.5, 0.5))
    assert pool.equilibrium.payoffs.tolist() == [16, 16]
    assert pool.efficient.payoffs.tolist() == [18, 18]
    assert pool.outcome(4.5, 3.0).payoffs.tolist() == [20.25, 13.5]
    good = public_goods(4, [0, 10, 20])
    assert [e.payoffs.tolist() for e in good.equilibria] == [[20] * 4]
    assert good.efficient.payoffs.tolist() == [32] * 4
    assert good.outcome(0.0, 20.0, 20.0, 20.0).payoffs.tolist() == [44, 24, 24, 24]
    assert welfare_shortfall(good.equilibrium.welfare, good.efficient.welfare, good.worst.welfare) == 1


@pytest.mark.parametrize(
    ("price", "trades", "sheet"),
    [
        (95, 5, (25, 25, 0, 25, 0)),
        (100, 5, (50, 50, 0, 50, 0)),
        (95, 3, (-5, 35, 40, 0, 40)),
        (100, 4, (30, 50, 20, 30, 20)),
    ],
)
def test_the_double_auction_ledger_tells_transfers_from_lost_trades(price, trades, sheet):
    def surplus(p, q):
        return np.full((1, 5), (p - 80) * q / 5), np.array([[(100 - p) * q]])

    ledger = signed_ledger(*surplus(price, trades), *surplus(90, 5))
    found = [ledger.gain[0], ledger.harm[0], ledger.loss[0], ledger.collusion, ledger.externality]
    assert found == pytest.approx(sheet)


def test_bad_games_are_refused():
    with pytest.raises(ValueError, match="no pure equilibrium"):
        grid_benchmark(("h", "t"), [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]], np.empty((0, 2, 2)))
    with pytest.raises(ValueError, match="tie = 'dice' is not allowed"):
        first_price_auction(tie="dice")
    with pytest.raises(ValueError, match="strictly increasing"):
        cournot(2, [1, 1])
    with pytest.raises(ValueError, match="at least two distinct players"):
        signed_ledger([[1.0, 2.0]], [[0.0]], [1, 1], [0], coalition=[0])
    with pytest.raises(ValueError, match="benchmarks do not fit"):
        profit_gain(2.0, 1.0, 1.0)
