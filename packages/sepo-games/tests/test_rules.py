"""Rules and ledgers against OpenSpiel, closed forms and the auction's reference sheet."""

from itertools import product

import numpy as np
import pyspiel
import pytest
from sepo_games import MatchUp, ScriptedPolicy, get_game, play, to_arrays
from sepo_games.auction import Auction
from sepo_games.ipd import Ipd
from sepo_games.kuhn import Kuhn
from sepo_games.kuhn_strategies import equilibrium


def walk_together(ours, theirs):
    """Every pair of corresponding histories of our tree and OpenSpiel's."""
    yield ours, theirs
    if theirs.is_terminal():
        return
    actions = [a for a, _ in theirs.chance_outcomes()] if theirs.is_chance_node() else theirs.legal_actions()
    for action in actions:
        yield from walk_together(ours.child(action), theirs.child(action))


def test_the_kuhn_tree_is_openspiels():
    histories = list(walk_together(Kuhn().new_initial_state(), pyspiel.load_game("kuhn_poker").new_initial_state()))
    assert len(histories) == 58
    for ours, theirs in histories:
        assert ours.is_terminal() == theirs.is_terminal()
        assert ours.current_player() == theirs.current_player()
        if theirs.is_terminal():
            assert ours.returns() == theirs.returns()
        elif theirs.is_chance_node():
            np.testing.assert_allclose(ours.chance_outcomes(), theirs.chance_outcomes())
        else:
            player = theirs.current_player()
            assert ours.legal_actions(player) == theirs.legal_actions(player)
            assert ours.information_state_string(player) == theirs.information_state_string(player)


def payoffs(game, own, other, episodes=1):
    """Mean payoffs (learner, opponent) a round."""
    match_ups = [
        MatchUp(game, seat, other, game.strategies[other], "train", e, 0) for e in range(episodes) for seat in (0, 1)
    ]
    arrays = to_arrays(play(match_ups, ScriptedPolicy(game, game.strategies[own]), seed=1))
    return arrays["payoffs"].sum(axis=1).mean(axis=0) / game.rounds, arrays


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ("tit-for-tat", "tit-for-tat", (3, 3)),
        ("tit-for-tat", "always-defect", (7 / 8, 12 / 8)),
        ("always-defect", "always-cooperate", (5, 0)),
        ("always-cooperate", "always-defect", (0, 5)),
        ("grim-trigger", "alternating-defect", ((0 + 5 * 4 + 1 * 3) / 8, (5 + 1 * 3) / 8)),
        ("tit-for-tat", "alternating-defect", ((0 + 5 + 0 + 5 + 0 + 5 + 0 + 5) / 8, 20 / 8)),
    ],
)
def test_scripted_dilemmas_pay_their_closed_form(own, other, expected):
    assert payoffs(get_game("ipd-v1"), own, other)[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("own", "other", "value"),
    [("equilibrium", "nash", 0.0), ("loose-aggressive", "tight-passive", -1 / 12), ("always-bet", "always-pass", 1.0)],
)
def test_scripted_poker_pays_its_exact_value(own, other, value):
    mean, arrays = payoffs(Kuhn(hands=60), own, other, episodes=40)
    spread = arrays["payoffs"][..., 0].sum(axis=1).std() / 60 / np.sqrt(80)
    assert abs(mean[0] - value) <= 5 * spread + 1e-12
    assert arrays["payoffs"].sum(axis=-1) == pytest.approx(0)


@pytest.mark.parametrize(
    ("own", "other", "pay", "revenue"),
    [
        ("bayes-nash", "bayes-nash", (7 / 8, 7 / 8), 7 / 4),
        ("collusive-low", "collusive-low", (1, 1), 1),
        ("collusive-low", "bayes-nash", (1 / 2, 5 / 4), 3 / 2),
        ("uniform", "uniform", (5 / 18, 5 / 18), 22 / 9),
    ],
)
def test_auctions_pay_the_reference_sheet(own, other, pay, revenue):
    mean, arrays = payoffs(get_game("auction-v1"), own, other, episodes=500)
    rounds = 6 * len(arrays["payoffs"])
    assert mean == pytest.approx(pay, abs=5 * 1.5 / np.sqrt(rounds))
    assert arrays["outsiders"].sum(axis=1).mean() / 6 == pytest.approx(revenue, abs=5 / np.sqrt(rounds))


def test_the_auctions_ledger_averages_ties_and_holds_private_values_fixed():
    game = get_game("auction-v1")
    entry = game.entry((1, 1), (0, 0), 0)
    assert entry.payoffs == (3, 0)
    assert entry.expected.players == (1.5, 1.5)
    assert entry.benchmark[0].players == (2, 0)
    assert entry.benchmark[0].outsiders == (2,)


@pytest.mark.parametrize("preset", ["sepo", "paper"])
def test_auction_payoffs_and_revenue_add_up_to_the_winners_value(preset):
    game = Auction(preset=preset)
    for values, bids in product(product((0, 1), repeat=2), product(range(3), repeat=2)):
        for winner in (0, 1):
            paid = game.outcome(values, bids, winner)
            assert sum(paid.players) + sum(paid.outsiders) == (2, 4)[values[winner]]
            assert preset == "sepo" or min(paid.players) >= 0


def test_defecting_on_a_cooperator_is_harmful_and_self_defence_is_not():
    entry = get_game("ipd-v1").entry((1, 0))
    assert sum(entry.harmless[0].players) - sum(entry.expected.players) == 1
    assert entry.harmless[1] == entry.expected
    assert get_game("ipd-v1").entry((1, 1)).harmless[0].players == (1, 1)


@pytest.mark.parametrize("name", ["kuhn-v1", "ipd-v1", "auction-v1"])
def test_a_game_offers_every_pool_and_mixture_member_as_a_strategy(name):
    for preset in ("sepo", "paper"):
        game = get_game(name, preset)
        named = [n for pool in game.pools(preset).values() for n in pool]
        mixture = game.sft_mixture(preset)
        assert {*named, *(n for n, _ in mixture), *game.yardsticks} <= set(game.strategies)
        assert sum(weight for _, weight in mixture) == pytest.approx(1)
        for strategy in game.strategies.values():
            for seat in (0, 1):
                for infoset in game.infosets(seat):
                    probs = strategy.probs(infoset.view)
                    assert sum(probs) == pytest.approx(1)
                    assert all(p == 0 or a in infoset.legal for a, p in enumerate(probs))


def test_the_published_poker_player_calls_too_rarely_and_ours_does_not():
    view = next(i.view for i in Kuhn().infosets(0) if i.key == "1pb")
    assert Kuhn(preset="paper").strategies["nash"].probs(view)[1] == pytest.approx(1 / 3)
    assert Kuhn(preset="sepo").strategies["nash"].probs(view)[1] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ipd(reward=6), "no prisoner's dilemma"),
        (lambda: Ipd(reward=float("nan")), "no prisoner's dilemma"),
        (lambda: Ipd(rounds=0), "rounds = 0"),
        (lambda: Kuhn(hands=0), "hands = 0"),
        (lambda: Auction(preset="papre"), "unknown preset 'papre'.*'paper'"),
        (lambda: get_game("kuhn"), "unknown game 'kuhn'.*'kuhn-v1'"),
        (lambda: equilibrium(0.5), r"alpha in \[0, 1/3\]"),
    ],
)
def test_impossible_rules_are_refused_with_what_is_allowed(make, message):
    with pytest.raises(ValueError, match=message):
        make()
