"""Our numbers against OpenSpiel's, on random policies of poker and on random matrix games."""

import os

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as spiel_policy
from sepo_penalties import SequenceForm, best_response, nash_conv, policy_value, zero_sum_value

DRAWS = int(os.environ.get("SEPO_ORACLE_DRAWS", "0"))
"""Policies of each game; the default is what fits in a test run."""


def random_profile(sf, rng):
    profile = []
    for p in range(sf.num_players):
        # Now and then nearly pure, so that much of the tree is hardly reached.
        policy = sf.uniform_policy(p) * rng.exponential(size=sf.uniform_policy(p).shape) ** rng.choice([1, 8])
        profile.append(policy / policy.sum(axis=-1, keepdims=True))
    return profile


def tabular(sf, game, profile):
    theirs = spiel_policy.TabularPolicy(game)
    for p, policy in enumerate(profile):
        for name, actions, row in zip(sf.infosets(p), sf.actions(p), policy, strict=True):
            entry = theirs.policy_for_key(name)
            entry[:] = 0
            entry[list(actions)] = row[: len(actions)]
    return spiel_policy.python_policy_to_pyspiel_policy(theirs)


@pytest.mark.parametrize(
    ("name", "draws"),
    [
        ("kuhn_poker", 200),
        ("leduc_poker", 20),
        ("leduc_poker(suit_isomorphism=True)", 20),
        ("kuhn_poker(players=3)", 30),
        ("first_sealed_auction(max_value=4)", 20),
        ("tiny_hanabi", 50),
        ("sheriff(num_rounds=1,max_items=2,max_bribe=2,item_penalty=1.0,item_value=2.0)", 10),
    ],
)
def test_nash_conv_of_random_policies_is_openspiels(name, draws):
    game = pyspiel.load_game(name)
    sf, rng = SequenceForm.from_game(game), np.random.default_rng(0)
    worst = 0.0
    for _ in range(DRAWS or draws):
        profile = random_profile(sf, rng)
        theirs = pyspiel.nash_conv(game, tabular(sf, game, profile))
        worst = max(worst, abs(float(nash_conv(sf, profile)) - theirs))
    assert worst <= 1e-9


def test_matrix_games_from_openspiel_and_from_arrays_are_the_same_and_worth_the_same():
    rng = np.random.default_rng(1)
    for _ in range(DRAWS or 50):
        payoffs = rng.normal(size=(2, *rng.integers(2, 6, size=2)))
        game = pyspiel.create_matrix_game(payoffs[0].tolist(), payoffs[1].tolist())
        turns = pyspiel.convert_to_turn_based(game)
        ours, walked = SequenceForm.from_matrix(payoffs), SequenceForm.from_game(game)
        profile = random_profile(ours, rng)
        theirs = pyspiel.nash_conv(turns, tabular(SequenceForm.from_game(turns), turns, profile))
        for sf in (ours, walked):
            assert float(nash_conv(sf, profile)) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker(suit_isomorphism=True)"])
def test_single_best_responses_are_openspiels(name):
    game = pyspiel.load_game(name)
    sf, rng = SequenceForm.from_game(game), np.random.default_rng(2)
    for _ in range(5):
        profile = random_profile(sf, rng)
        theirs = tabular(sf, game, profile)
        for player in (0, 1):
            value = pyspiel.TabularBestResponse(game, player, theirs).value_from_state(game.new_initial_state())
            assert float(best_response(sf, profile, player).value) == pytest.approx(value, abs=1e-9)
        values = pyspiel.expected_returns(game.new_initial_state(), theirs, -1, True)
        assert policy_value(sf, profile) == pytest.approx(values, abs=1e-9)


def test_the_leduc_value_is_the_published_one():
    sf = SequenceForm.from_game(pyspiel.load_game("leduc_poker(suit_isomorphism=True)"))
    assert zero_sum_value(sf) == pytest.approx(-0.0856064, abs=1e-6)


@pytest.mark.parametrize(("name", "iterations"), [("kuhn_poker", 1000), ("leduc_poker(suit_isomorphism=True)", 100)])
def test_the_value_of_the_linear_program_lies_between_openspiels_best_responses(name, iterations):
    game = pyspiel.load_game(name)
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    ends = [pyspiel.TabularBestResponse(game, p, average).value_from_state(game.new_initial_state()) for p in (0, 1)]
    value = zero_sum_value(SequenceForm.from_game(game))
    assert -ends[1] - 1e-9 <= value <= ends[0] + 1e-9
    assert ends[0] + ends[1] < 0.1
