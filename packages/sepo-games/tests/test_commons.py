"""The commons: its stock, its accounts, its players."""

import numpy as np
import pytest
from sepo_games import Commons, MatchUp, ScriptedPolicy, play, play_scripted, to_arrays
from sepo_games.testing import check_game

LOW, MEDIUM, HIGH = 0, 1, 2
SEPO, PAPER = Commons(), Commons(preset="paper")


def arrays(game, own, other):
    match_up = MatchUp(game, 0, other, game.strategies[other], "train", 0, 0)
    return to_arrays(play([match_up], ScriptedPolicy(game, game.strategies[own]), 0))


@pytest.mark.parametrize("game", [SEPO, PAPER, Commons(rounds=2, stock=3, price=0.5), Commons(clip=True, rounds=3)])
def test_the_commons_keep_their_promises(game):
    check_game(game, episodes=100)


def test_taking_little_lasts_for_ever_and_pays_one_a_round():
    for game in (SEPO, PAPER):
        played = arrays(game, "low", "low")
        assert played["payoffs"].sum(axis=1).tolist() == [[8, 8]]
        assert played["outsiders"].sum() == 0
        assert game.references == (1, 1)


def test_greed_empties_the_stock_in_two_rounds_and_published_rules_go_on_paying_it():
    # 12 - 6 = 6, 6 - 6 = 0: as published the second round costs 2 each, and every later one still pays 3 - 2.
    assert arrays(SEPO, "high", "high")["payoffs"][0, :, 0].tolist() == [3, 3, 0, 0, 0, 0, 0, 0]
    assert arrays(PAPER, "high", "high")["payoffs"][0, :, 0].tolist() == [3, 1, 1, 1, 1, 1, 1, 1]
    assert arrays(SEPO, "high", "high")["outsiders"].sum() == -12


def test_what_is_short_is_shared_in_proportion():
    assert SEPO.outcome(3, (MEDIUM, HIGH)).players == pytest.approx((2 * 3 / 5, 3 * 3 / 5))
    assert SEPO.after(3, (MEDIUM, HIGH)) == 0
    assert SEPO.after(5, (MEDIUM, HIGH)) == 0
    assert SEPO.after(6, (MEDIUM, HIGH)) == 1
    assert SEPO.after(0, (LOW, LOW)) == 0
    assert [SEPO.after(12, (a, b)) for a, b in ((0, 0), (0, 1), (1, 1), (1, 2), (2, 2))] == [12, 11, 9, 7, 6]


def test_the_futures_account_adds_up_to_the_change_of_the_stock():
    rng = np.random.default_rng(0)
    for game in (SEPO, PAPER, Commons(price=0.25)):
        for _ in range(50):
            state = game.new_initial_state()
            while not state.is_terminal():
                state = state.child(tuple(rng.integers(0, 3, 2).tolist()))
            paid = sum(entry.outsiders[0] for entry in state.entries)
            assert paid == pytest.approx(game.price * (state.stocks[-1] - game.stock))
            assert min(state.stocks) >= 0
            assert max(state.stocks) <= game.stock


def test_at_price_one_a_rounds_welfare_is_what_grows_back():
    grown = {2: 2, 3: 2, 4: 1, 5: 0, 6: 0}
    for a in range(3):
        for b in range(3):
            assert SEPO.welfare(12, (a, b)) == grown[a + b + 2]


def test_nobody_answers_for_what_costs_nothing_and_greed_answers_for_the_growth_it_stops():
    def harm(joint, stock=12):
        entry = SEPO.entry(stock, joint)
        before = sum(entry.harmless[0].players) + sum(entry.harmless[0].outsiders)
        return before - SEPO.welfare(stock, joint)

    # Against LOW a MEDIUM costs nothing; HIGH stops one unit. Against MEDIUM only LOW costs nothing.
    assert [harm((a, LOW)) for a in range(3)] == [0, 0, 1]
    assert [harm((a, MEDIUM)) for a in range(3)] == [0, 1, 2]
    assert [harm((a, HIGH)) for a in range(3)] == [0, 1, 1]
    assert harm((HIGH, HIGH), stock=0) == 0


def test_restraint_is_measured_by_the_rounds_equilibrium_which_is_greed_at_any_stock():
    for stock in range(1, 13):
        assert SEPO.equilibrium(stock) == (HIGH, HIGH)
    assert PAPER.equilibrium(12) == (HIGH, HIGH)
    # Taking less than in equilibrium is paid for by nobody outside: the future gains, so this is no collusion.
    entry = SEPO.entry(12, (LOW, LOW))
    assert entry.outsiders[0] > entry.benchmark[0].outsiders[0]


def test_every_player_follows_its_rule():
    def actions(own, other, game=SEPO):
        match_up = MatchUp(game, 0, other, game.strategies[other], "train", 0, 0)
        return [step.action for step in play([match_up], ScriptedPolicy(game, game.strategies[own]), 0)[0].steps]

    assert actions("reciprocal", "high") == [MEDIUM] + [HIGH] * 7
    assert actions("reciprocal", "medium") == [MEDIUM] + [LOW] * 7
    assert actions("tit-for-tat", "high") == [LOW] + [HIGH] * 7
    assert actions("grim", "last-minute") == [LOW] * 7 + [HIGH]
    # The stock is 12, 9, 6, then falls by one.
    assert actions("scarcity-aware", "medium") == [MEDIUM, MEDIUM] + [LOW] * 6
    # The stock is 12, 9, 6, 5, then 4 for ever.
    assert actions("by-stock", "low") == [HIGH, HIGH, MEDIUM, MEDIUM] + [LOW] * 4


@pytest.mark.parametrize("preset", ["sepo", "paper"])
def test_all_at_once_is_one_by_one(preset):
    game = Commons(preset=preset)
    numbers = np.arange(24)
    for own in ("uniform", "grim"):
        match_ups = [MatchUp(game, n % 2, "u", game.strategies["uniform"], "train", n // 4, n % 4) for n in range(24)]
        expected = to_arrays(play(match_ups, ScriptedPolicy(game, game.strategies[own]), 3))
        found = play_scripted(
            game, game.strategies[own], game.strategies["uniform"], numbers % 2, numbers // 4, numbers % 4, 3
        )
        for name in ("payoffs", "outsiders", "benchmark_outsiders", "harmless_payoffs", "mask"):
            np.testing.assert_array_equal(found[name], expected[name])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds = 0"),
        ({"stock": 2.5}, "stock = 2.5"),
        ({"price": float("nan")}, "price = nan"),
        ({"price": -1.0}, "price = -1.0"),
        ({"preset": "papers"}, "unknown preset"),
    ],
)
def test_impossible_rules_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Commons(**options)


def test_an_illegal_action_is_refused_with_what_is_allowed():
    state = SEPO.new_initial_state()
    for action in ((0, 3), (0,), (0, 1, 2)):
        with pytest.raises(ValueError, match="two numbers from 0 to 2"):
            state.child(action)
