"""Regret of decisions, rollouts and logged play."""

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_penalties import SequenceForm, best_response, policy_value, realisation_plan
from sepo_penalties.regret import decision_regret, per_rollout_regret, regret

DILEMMA = [[[3, 0], [5, 1]], [[3, 5], [0, 1]]]


def random_profile(sf, rng, batch=()):
    profile = []
    for p in range(sf.num_players):
        policy = sf.uniform_policy(p) * rng.exponential(size=(*batch, *sf.uniform_policy(p).shape))
        profile.append(policy / policy.sum(axis=-1, keepdims=True))
    return profile


@pytest.mark.parametrize(
    "name", ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", "first_sealed_auction(max_value=4)"]
)
def test_the_mean_regret_of_on_policy_rollouts_is_the_term_of_nash_conv(name):
    sf, rng = SequenceForm.from_game(pyspiel.load_game(name)), np.random.default_rng(0)
    policies = random_profile(sf, rng)
    reach = sf.chance.copy()
    for p, policy in enumerate(policies):
        reach *= realisation_plan(sf, policy, p)[sf.last[p]]
    for player in range(sf.num_players):
        table = per_rollout_regret(sf, policies, player)
        term = best_response(sf, policies, player).value - policy_value(sf, policies)[player]
        assert table.min() >= 0
        assert float(table @ reach) == pytest.approx(float(term), abs=1e-12)


def test_always_bluffing_in_kuhn_forgoes_what_the_textbook_says():
    sf = SequenceForm.from_game(pyspiel.load_game("kuhn_poker"))
    # The second player always calls and, after a pass, always passes. Facing it with a jack (card 0), a bet is called
    # and loses 2 where passing loses 1; with a king (card 2), passing wins 1 where betting wins 2.
    policies = [
        sf.uniform_policy(0),
        sf.policy_from_dict(1, {f"{c}{h}": (float(h == "p"), float(h == "b")) for c in range(3) for h in "pb"}),
    ]
    table = decision_regret(sf, policies, 0)
    assert table[sf.infosets(0).index("0")].tolist() == pytest.approx([0, 1])
    assert table[sf.infosets(0).index("2")].tolist() == pytest.approx([1, 0])
    # The second player never bets after a pass, so these are never reached.
    assert table[sf.infosets(0).index("1pb")].tolist() == [0, 0]


def test_a_batch_of_regrets_equals_a_loop():
    sf, rng = SequenceForm.from_game(pyspiel.load_game("kuhn_poker")), np.random.default_rng(2)
    policies = random_profile(sf, rng, (4,))
    batch = per_rollout_regret(sf, policies, 0)
    for k in range(4):
        np.testing.assert_allclose(batch[k], per_rollout_regret(sf, [q[k] for q in policies], 0), atol=1e-12)


def test_cooperating_with_tit_for_tat_regrets_two_a_round():
    both = np.zeros((8, 2), dtype=int)
    assert regret(DILEMMA, both, 0) == 2
    assert regret(DILEMMA, np.ones((8, 2), dtype=int), 0) == 0


def test_play_that_beats_every_fixed_action_has_negative_regret_but_swap_regret_of_zero():
    pennies = [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]
    play = np.array([[0, 0], [1, 1], [0, 0], [1, 1]])
    assert regret(pennies, play, 0) == -1
    assert regret(pennies, play, 0, swap=True) == 0
    assert regret(pennies, play, 1) == 1
    assert regret(pennies, play, 1, swap=True) == 2


def test_three_players_are_judged_against_the_realised_actions_of_the_other_two():
    payoffs = np.random.default_rng(0).normal(size=(3, 2, 3, 2))
    play = np.random.default_rng(1).integers(0, [2, 3, 2], size=(9, 3))
    fixed = [np.mean([payoffs[1, a, b, c] for a, _, c in play]) for b in range(3)]
    own = np.mean([payoffs[(1, *row)] for row in play])
    assert regret(payoffs, play, 1) == pytest.approx(max(fixed) - own, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_swap_regret_is_never_negative_and_never_less_than_the_other(seed):
    rng = np.random.default_rng(seed)
    payoffs = rng.normal(size=(2, 3, 4))
    play = rng.integers(0, [3, 4], size=(5, 7, 2))
    for player in (0, 1):
        plain, swapped = (regret(payoffs, play, player, swap) for swap in (False, True))
        assert plain.shape == (5,)
        assert (swapped >= np.maximum(plain, 0) - 1e-12).all()


@pytest.mark.parametrize(
    ("actions", "player", "message"),
    [
        (np.zeros((0, 2), dtype=int), 0, "T >= 1"),
        (np.zeros((3, 3), dtype=int), 0, r"\(..., T >= 1, 2\)"),
        (np.zeros((3, 2)), 0, "whole numbers"),
        ([[0, 0], [0, 2]], 0, r"action 2 at \(1, 1\) does not exist: player 1 has 2"),
        ([[0, 0]], 2, "player 2 does not exist"),
    ],
)
def test_a_log_that_is_none_is_refused(actions, player, message):
    with pytest.raises(ValueError, match=message):
        regret(DILEMMA, actions, player)
