"""Games and penalties fit together without knowing each other."""

import numpy as np
import pytest
from sepo_games import MatchUp, ScriptedPolicy, SeatTables, get_game, play, strategy_policy, to_arrays
from sepo_penalties import (
    EpisodeBatch,
    RepeatedGame,
    SequenceForm,
    best_replies,
    best_response,
    collusion,
    externality,
    nash_conv,
    policy_value,
    repeated_best_response,
)

NAMES = ["kuhn-v1", "ipd-v1", "auction-v1"]


def tables(game, name):
    return [strategy_policy(game, seat, game.strategies[name]).as_dict() for seat in range(2)]


def test_our_kuhn_poker_compiles_to_the_uniform_value_of_openspiels():
    sf = SequenceForm.from_game(get_game("kuhn-v1"))
    assert nash_conv(sf, [sf.uniform_policy(0), sf.uniform_policy(1)]) == pytest.approx(11 / 12, abs=1e-12)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_the_dilemmas_tree_and_its_repeated_form_have_the_same_best_response(rounds):
    from sepo_games.ipd import Ipd

    game = Ipd(rounds=rounds)
    sf, form = SequenceForm.from_game(game), RepeatedGame.of(**game.repeated_form())
    p = np.random.default_rng(rounds).uniform(size=form.num_infosets(0))
    table = np.stack([p, 1 - p], axis=-1)
    by_key = {infoset.key: row for infoset, row in zip(game.infosets(0), table, strict=True)}
    full = {}
    for name in sf.infosets(0):
        past = name.split()
        full[name] = by_key[f"{len(past) + 1}:{past[-1] if past else ''}"]
    value = best_response(sf, [sf.policy_from_dict(0, full), sf.uniform_policy(1)], 1).value
    assert repeated_best_response(form, table, 1).value == pytest.approx(float(value), abs=1e-12)


def test_the_auctions_tree_and_its_repeated_form_have_the_same_best_response():
    from sepo_games.auction import Auction

    game = Auction(rounds=1)
    sf, form = SequenceForm.from_game(game), RepeatedGame.of(**game.repeated_form())
    table = np.random.default_rng(0).dirichlet(np.ones(3), size=2)
    rows = {name: table[(2, 4).index(int(name.split()[-1]))] for name in sf.infosets(0)}
    value = best_response(sf, [sf.policy_from_dict(0, rows), sf.uniform_policy(1)], 1).value
    assert repeated_best_response(form, table, 1).value == pytest.approx(float(value), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "strategy"),
    [("kuhn-v1", "uniform"), ("kuhn-v1", "nash"), ("ipd-v1", "generous-tit-for-tat"), ("auction-v1", "uniform")],
)
def test_a_best_reply_that_is_played_wins_its_value(name, strategy):
    game = get_game(name)
    replies = best_replies(game, tables(game, strategy))
    responder = SeatTables(game, {1 - seat: reply.policy for seat, reply in enumerate(replies)})
    match_ups = [MatchUp(game, e % 2, "b", responder, "exploiter", e, 0) for e in range(1500)]
    batch = EpisodeBatch(**to_arrays(play(match_ups, ScriptedPolicy(game, game.strategies[strategy]), 0)))
    won = batch.payoffs[..., 1].sum(axis=1) / game.rounds
    exact = np.mean([reply.value for reply in replies])
    assert abs(won.mean() - exact) <= 5 * won.std() / np.sqrt(len(won)) + 1e-12


def test_the_dilemma_and_poker_have_no_collusion_and_poker_no_externality():
    for name in ("kuhn-v1", "ipd-v1"):
        game = get_game(name)
        match_ups = [MatchUp(game, 0, "uniform", game.strategies["uniform"], "train", e, 0) for e in range(50)]
        batch = EpisodeBatch(**to_arrays(play(match_ups, ScriptedPolicy(game, game.strategies["uniform"]), 0)))
        assert not collusion(batch).collusion.any()
        assert externality(batch).any() == (name == "ipd-v1")


@pytest.mark.parametrize(
    ("own", "other", "c", "gift", "harm", "e"),
    [
        ("collusive-low", "collusive-low", 3 / 8, 1 / 2, 1 / 2, 1 / 4),
        ("collusive-low", "bayes-nash", 1 / 8, 3 / 8, 1 / 4, 1 / 4),
        ("bayes-nash", "collusive-low", 0, 0, 0, 0),
        ("bayes-nash", "bayes-nash", 0, 0, 0, 0),
    ],
)
def test_the_auctions_penalties_are_those_of_the_reference_sheet(own, other, c, gift, harm, e):
    game = get_game("auction-v1")
    match_ups = [MatchUp(game, s % 2, other, game.strategies[other], "collusive", s, 0) for s in range(2000)]
    batch = EpisodeBatch(**to_arrays(play(match_ups, ScriptedPolicy(game, game.strategies[own]), 0)))
    found = collusion(batch)
    for values, expected in ((found.collusion, c), (found.gift, gift), (found.harm, harm), (externality(batch), e)):
        assert values.mean() == pytest.approx(expected, abs=5 * (values.std() / np.sqrt(values.size)) + 1e-12)


def test_a_best_reply_to_the_poker_equilibrium_wins_exactly_the_value_of_the_game():
    game = get_game("kuhn-v1")
    replies = best_replies(game, tables(game, "equilibrium"))
    assert [reply.value for reply in replies] == pytest.approx(list(game.references), abs=1e-12)
    sf = SequenceForm.from_game(game)
    assert policy_value(sf, [sf.policy_from_dict(s, t) for s, t in enumerate(tables(game, "equilibrium"))])[
        0
    ] == pytest.approx(-1 / 18)
