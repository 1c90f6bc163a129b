"""Rules and ledgers against OpenSpiel, closed forms and the auction's reference sheet."""

from dataclasses import replace
from itertools import product

import numpy as np
import pyspiel
import pytest
from sepo_games import MatchUp, ScriptedPolicy, get_game, play, sft_rows, strategy_policy, strategy_table, to_arrays
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


def value(state, policies):
    """Expected returns by walking our tree or OpenSpiel's with policies by information state string."""
    if state.is_terminal():
        return np.array(state.returns())
    if state.is_chance_node():
        return sum(p * value(state.child(a), policies) for a, p in state.chance_outcomes())
    player = state.current_player()
    row = policies[player][state.information_state_string(player)]
    return sum(row[a] * value(state.child(a), policies) for a in state.legal_actions(player))


@pytest.mark.parametrize("seed", range(5))
def test_random_poker_policies_have_the_same_value_as_in_openspiel(seed):
    rng = np.random.default_rng(seed)
    policies = [{i.key: rng.dirichlet([1, 1]) for i in Kuhn().infosets(seat)} for seat in (0, 1)]
    trees = Kuhn().new_initial_state(), pyspiel.load_game("kuhn_poker").new_initial_state()
    ours, theirs = (value(tree, policies) for tree in trees)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("alpha", [0, 0.1, 1 / 3])
def test_the_equilibrium_family_is_worth_minus_one_eighteenth_against_itself(alpha):
    game = Kuhn()
    policies = [strategy_policy(game, seat, equilibrium(alpha)).as_dict() for seat in (0, 1)]
    assert value(game.new_initial_state(), policies)[0] == pytest.approx(-1 / 18)


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


PUBLISHED = {
    "kuhn-v1": (("nash", "tight-passive", "loose-aggressive"), ("nash", "always-bet"), ()),
    "ipd-v1": (
        ("tit-for-tat", "generous-tit-for-tat", "mixed", "grim-trigger"),
        ("always-defect", "alternating-defect"),
        ("always-cooperate",),
    ),
    "auction-v1": (("truthful", "conservative", "shaded", "adaptive"), ("aggressive",), ("collusive-low",)),
}


@pytest.mark.parametrize("preset", ["sepo", "paper"])
@pytest.mark.parametrize("name", list(PUBLISHED))
def test_pools_of_both_presets_are_the_published_ones(name, preset):
    pools = get_game(name, preset).pools(preset)
    assert (pools["train"], pools["exploiter"], pools["collusive"]) == PUBLISHED[name]


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_pools_and_mixtures_of_an_unknown_preset_are_refused(name):
    game = get_game(name)
    for offer in (game.pools, game.sft_mixture):
        with pytest.raises(ValueError, match="unknown preset 'papre'"):
            offer("papre")


def test_the_bidder_that_remembers_sees_its_own_past_values():
    game = Auction(rounds=3)
    state = game.new_initial_state().child(2).child((2, 0)).child(1).child((1, 0)).child(3)
    view = game.view(state, 0)
    assert (view.value, view.past_values, view.own, view.other) == (1, (1, 0), (2, 1), (0, 0))
    assert game.view(state, 1).past_values == (0, 1)


def test_adaptive_bidders_and_answering_bidders_follow_the_rival():
    game = Auction()
    adaptive, answering = game.strategies["adaptive"], game.strategies["answering"]
    for rival, bid in ((0, 1), (1, 2), (2, 2)):
        view = game.infosets(0)[0].view
        later = replace(view, own=(0,), other=(rival,), past_values=(0,))
        assert adaptive(view, 0.5) == 1
        assert adaptive(later, 0.5) == bid
        assert answering(later, 0.5) == 0
        assert answering(replace(later, value=1), 0.5) == (2 if rival == 2 else 1)


def test_clipping_is_a_rule_of_its_own_that_the_preset_sets():
    assert Auction() == Auction(clip=False)
    assert Auction(preset="paper").clip
    kept = Auction(preset="paper", clip=False)
    assert kept.outcome((0, 0), (2, 0), 0).players == (-1, 0)
    assert kept.outcome((0, 0), (2, 0), 0).outsiders == (3,)
    assert Auction(clip=True).outcome((0, 0), (2, 0), 0).players == (0, 0)
    assert Auction(clip=True).outcome((0, 0), (2, 0), 0).outsiders == (2,)
    assert ", at least 0" in Auction(clip=True).render(kept.infosets(0)[0].view)[0]["content"]


def test_equilibrium_bids_are_a_strict_best_reply_to_themselves_among_all_stage_bids():
    payoffs = np.array(Auction().repeated_form()["payoffs"][0])
    for own in (0, 1):
        against = np.mean([payoffs[own, rival, :, rival] for rival in (0, 1)], axis=0)
        assert against.argmax() == own
        assert np.sort(against)[-1] > np.sort(against)[-2]
    assert np.mean([payoffs[o, r, o, r] for o in (0, 1) for r in (0, 1)]) == pytest.approx(7 / 8)


@pytest.mark.parametrize(
    ("state", "action"),
    [
        (Kuhn().new_initial_state(), 3),
        (Kuhn().new_initial_state().child(1), 1),
        (Kuhn().new_initial_state().child(1).child(2), 2),
        (Kuhn().new_initial_state().child(1).child(2).child(1).child(1), 0),
        (Ipd().new_initial_state(), (0, 2)),
        (Ipd().new_initial_state(), (-1, 0)),
        (Ipd().new_initial_state(), (0,)),
        (Ipd(rounds=1).new_initial_state().child((0, 0)), (0, 0)),
        (Auction().new_initial_state(), 4),
        (Auction().new_initial_state(), (0, 0)),
        (Auction().new_initial_state().child(0), 1),
        (Auction().new_initial_state().child(0), (0, 3)),
        (Auction().new_initial_state().child(0).child((1, 1)), 2),
        (Auction(rounds=1).new_initial_state().child(0).child((1, 0)), 0),
    ],
)
def test_actions_that_are_not_allowed_never_become_a_history(state, action):
    with pytest.raises(ValueError, match=r"not allowed|cannot be dealt"):
        state.child(action)


def markov_surplus(table):
    """What a best responder wins a round beyond mutual cooperation from `(29, 2)` rows of an 8-round dilemma."""
    stage = {(b, a): Ipd().payoffs((b, a))[0] for b in (0, 1) for a in (0, 1)}
    later = dict.fromkeys([(a, b) for a in (0, 1) for b in (0, 1)], 0.0)
    for past in range(7, -1, -1):
        start = 1 + 4 * (past - 1)
        rows = {o: table[start + 2 * o[0] + o[1]] for o in later} if past else {(): table[0]}
        later = {
            o: max(sum(p[a] * (stage[b, a] + later[a, b]) for a in (0, 1)) for b in (0, 1)) for o, p in rows.items()
        }
    return later[()] / 8 - 3


def test_traces_of_the_dilemma_are_more_exploitable_than_tit_for_tat_but_mostly_reciprocal():
    game = get_game("ipd-v1")
    counts = np.full((29, 2), 1e-9)
    places = {infoset.key: i for i, infoset in enumerate(game.infosets(0))}
    for row in sft_rows(game, "sepo", 12_000, seed=0):
        counts[places[row.key], row.action] += 1
    assert markov_surplus(strategy_table(game, 0, game.strategies["tit-for-tat"])) == pytest.approx(0.25)
    assert markov_surplus(counts / counts.sum(axis=1, keepdims=True)) > 0.35
    weights = dict(game.sft_mixture("sepo"))
    assert sum(weights[name] for name in ("tit-for-tat", "generous-tit-for-tat", "grim-trigger")) >= 0.6 - 1e-9


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


def test_a_cartel_holds_until_the_first_betrayal_and_a_rotation_takes_turns():
    game = Auction()
    names = ("grim-cartel", "bid-rotation", "collusive-low")
    cartel, rotation, low = (game.strategies[name] for name in names)

    def bids(learner, opponent, seat):
        match_up = MatchUp(game, seat, "opponent", opponent, "train", 0, 0)
        return play([match_up], ScriptedPolicy(game, learner), 0)[0].steps

    assert [step.action for step in bids(cartel, low, 0)] == [0] * 6
    against_high = bids(cartel, game.strategies["aggressive"], 0)
    assert [step.action for step in against_high] == [0, *(step.view.value for step in against_high[1:])]
    for seat in (0, 1):
        for round_, step in enumerate(bids(rotation, low, seat)):
            assert step.action == (step.view.value if round_ % 2 == seat else 0)
