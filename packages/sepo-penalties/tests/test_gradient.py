"""Gradients of the best-response value, blame and exploitation loss, against finite differences and brute force."""

from itertools import product
from math import prod

import numpy as np
import pyspiel
import pytest
from sepo_penalties import SequenceForm, best_response, exploitability, nash_conv, policy_value
from sepo_penalties.gradient import blame, exploitability_gradient, exploitation_loss


def compiled(name):
    return SequenceForm.from_game(pyspiel.load_game(name))


def random_profile(sf, rng, batch=()):
    profile = []
    for p in range(sf.num_players):
        policy = sf.uniform_policy(p) * rng.exponential(size=(*batch, *sf.uniform_policy(p).shape))
        profile.append(policy / policy.sum(axis=-1, keepdims=True))
    return profile


def replaced(policies, player, policy):
    return [policy if p == player else q for p, q in enumerate(policies)]


GAMES = ["kuhn_poker", "kuhn_poker(players=3)", "first_sealed_auction(max_value=4)", "leduc_poker"]


@pytest.mark.parametrize("name", GAMES)
def test_the_gradient_is_the_slope_of_the_best_response_value_between_two_policies(name):
    sf, rng, step = compiled(name), np.random.default_rng(0), 1e-6
    for player, _ in product(range(2), range(3)):
        by = (player + 1) % sf.num_players
        policies = random_profile(sf, rng)
        toward = random_profile(sf, rng)[player] - policies[player]
        slope = float((exploitability_gradient(sf, policies, player, by) * toward).sum())
        ends = [
            float(best_response(sf, replaced(policies, player, policies[player] + sign * step * toward), by).value)
            for sign in (1, -1)
        ]
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=2e-7)


def test_every_entry_of_the_gradient_is_its_own_finite_difference_in_kuhn():
    sf, rng, step = compiled("kuhn_poker"), np.random.default_rng(3), 1e-6
    policies = random_profile(sf, rng)
    for player in (0, 1):
        gradient = exploitability_gradient(sf, policies, player)
        for row in range(6):
            shift = np.zeros((6, 2))
            shift[row] = (step, -step)
            change = [nash_conv(sf, replaced(policies, player, policies[player] + s * shift)) for s in (1, -1)]
            slope = float(change[0] - change[1]) / (2 * step)
            assert gradient[row, 0] - gradient[row, 1] == pytest.approx(slope, abs=1e-7)


def test_matching_pennies_has_the_gradient_of_its_best_response():
    sf = SequenceForm.from_matrix([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    # Against (3/4, 1/4) the second player answers with tails and wins -1 against tails, 1 against heads.
    gradient = exploitability_gradient(sf, [[[0.75, 0.25]], [[0.5, 0.5]]], 0)
    assert gradient.tolist() == [[1.0, -1.0]]
    assert blame(sf, [[[0.75, 0.25]], [[0.5, 0.5]]], 0).tolist() == [[0.5, -1.5]]


def reach_and_counts(sf, profile, player):
    """Probability of every terminal, and for each the rows and columns that the player chose on the way."""
    paths = []
    for p in range(sf.num_players):
        tree = sf.treeplexes[p]
        place = {0: ()}
        for i, (parent, offset, actions) in enumerate(zip(tree.parents, tree.offsets, tree.actions, strict=True)):
            place.update({int(offset) + a: (*place[int(parent)], (i, a)) for a in range(len(actions))})
        paths.append([place[int(s)] for s in sf.last[p]])
    reach = [
        chance * prod(profile[p][move] for p in range(sf.num_players) for move in paths[p][z])
        for z, chance in enumerate(sf.chance)
    ]
    return reach, paths[player]


@pytest.mark.parametrize("name", GAMES[:3])
def test_blame_has_mean_zero_and_weighs_log_probabilities_into_the_gradient(name):
    sf, rng = compiled(name), np.random.default_rng(1)
    for player in (0, 1):
        by = (player + 1) % sf.num_players
        policies = random_profile(sf, rng)
        table = blame(sf, policies, player, by)
        played = replaced(policies, by, best_response(sf, policies, by).policy)
        reach, chosen = reach_and_counts(sf, played, player)
        assert sum(r * sum(table[c] for c in path) for r, path in zip(reach, chosen, strict=True)) == pytest.approx(
            0, abs=1e-12
        )
        # Expected blame times the score of every logit, against the gradient through the softmax.
        policy = policies[player]
        expected = np.zeros_like(policy)
        for r, path in zip(reach, chosen, strict=True):
            for i, a in path:
                expected[i] -= r * table[i, a] * policy[i]
                expected[i, a] += r * table[i, a]
        slope = exploitability_gradient(sf, policies, player, by)
        through = policy * (slope - (policy * slope).sum(axis=-1, keepdims=True))
        np.testing.assert_allclose(expected, through, atol=1e-12)


def test_following_the_gradient_downhill_lowers_exploitability():
    sf = compiled("kuhn_poker")
    logits = [np.zeros((6, 2)), np.zeros((6, 2))]

    def softmax(x):
        e = np.exp(x)
        return e / e.sum(axis=-1, keepdims=True)

    start = exploitability(sf, list(map(softmax, logits)))
    for t in range(400):
        policies = list(map(softmax, logits))
        for p in (0, 1):
            logits[p] -= 4 / np.sqrt(1 + t) * blame(sf, policies, p) * policies[p]
    assert exploitability(sf, list(map(softmax, logits))) < start / 5


def test_a_batch_of_gradients_equals_a_loop():
    sf, rng = compiled("kuhn_poker"), np.random.default_rng(2)
    policies = random_profile(sf, rng, (5,))
    for call in (exploitability_gradient, blame):
        batch = call(sf, policies, 1)
        assert batch.shape == (5, 6, 2)
        for k in range(5):
            np.testing.assert_allclose(batch[k], call(sf, [q[k] for q in policies], 1), atol=1e-12)


def test_blame_is_zero_where_the_best_responder_never_leads():
    # The rival always takes the outside option, so nobody is to blame at the subgame it avoids.
    sf = SequenceForm.from_terminals(
        [(1.0, [(1, "in", 0)], [0, 5]), *[(1.0, [(1, "in", 1), (0, "late", a)], [1, a]) for a in (0, 1)]]
    )
    assert blame(sf, [[[0.3, 0.7]], [[0.5, 0.5]]], 0).tolist() == [[0.0, 0.0]]


def test_the_loss_to_a_best_responder_in_kuhn_is_the_gain_of_the_responder():
    sf, rng = compiled("kuhn_poker"), np.random.default_rng(5)
    policies = random_profile(sf, rng)
    gain = float(best_response(sf, policies, 1).value - policy_value(sf, policies)[1])
    least, most = exploitation_loss(sf, policies, 0, policies[1])
    assert [float(least), float(most)] == pytest.approx([gain, gain], abs=1e-12)


def test_tied_best_responses_give_an_interval_of_losses():
    # The rival earns 1 from its first two actions and 0 from the third; the player gets 3, -2 and 4.
    sf = SequenceForm.from_matrix([[[3, -2, 4]], [[1, 1, 0]]])
    least, most = exploitation_loss(sf, [[[1.0]], sf.uniform_policy(1)], 0, [[0.0, 0.0, 1.0]])
    assert (float(least), float(most)) == (1.0, 6.0)


def test_losses_in_random_general_sum_trees_span_all_pure_best_responses():
    # Payoffs of few values, so that ties are common.
    rng = np.random.default_rng(0)
    wide = 0
    for _ in range(30):
        ends = [
            (0.25, [(0, f"x{c}", a), (1, f"s{c % 2}", b), (1, f"s{c % 2}{b}", d)], rng.integers(0, 2, size=2).tolist())
            for c, a, b, d in product(range(4), range(2), range(2), range(2))
        ]
        sf = SequenceForm.from_terminals(ends)
        policies = [sf.uniform_policy(0), sf.uniform_policy(1)]
        pure = np.array(list(product(np.eye(2), repeat=len(sf.infosets(1)))))
        values = policy_value(sf, [policies[0], pure])
        best = values[:, 1] >= values[:, 1].max() - 1e-12
        before = policy_value(sf, policies)[0]
        least, most = exploitation_loss(sf, policies, 0, policies[1])
        assert float(least) == pytest.approx(before - values[best, 0].max(), abs=1e-12)
        assert float(most) == pytest.approx(before - values[best, 0].min(), abs=1e-12)
        wide += most > least + 1e-9
    assert wide > 5


def test_with_three_players_the_exploiter_must_be_named():
    sf = compiled("kuhn_poker(players=3)")
    policies = [sf.uniform_policy(p) for p in range(3)]
    with pytest.raises(ValueError, match=r"3 players: name the one that responds, by="):
        exploitability_gradient(sf, policies, 0)
    for player, by in ((1, 1), (0, 3), (-1, 0)):
        with pytest.raises(ValueError, match="two different players from 0 to 2"):
            blame(sf, policies, player, by)
