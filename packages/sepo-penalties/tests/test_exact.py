"""Best responses and NashConv against closed forms, published values, OpenSpiel and brute force."""

from itertools import product

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from open_spiel.python import policy as spiel_policy
from sepo_penalties import SequenceForm, best_response, exploitability, nash_conv, policy_value


def compiled(name):
    return SequenceForm.from_game(pyspiel.load_game(name))


@pytest.fixture(scope="module")
def kuhn():
    return compiled("kuhn_poker")


def kuhn_equilibrium(sf, alpha):
    """The equilibrium family: probability of pass or fold, bet or call, by card and betting."""
    bet = {"0": alpha, "1": 0.0, "2": 3 * alpha, "0pb": 0.0, "1pb": alpha + 1 / 3, "2pb": 1.0}
    answer = {"0p": 1 / 3, "1p": 0.0, "2p": 1.0, "0b": 0.0, "1b": 1 / 3, "2b": 1.0}
    return [sf.policy_from_dict(p, {k: (1 - v, v) for k, v in rows.items()}) for p, rows in enumerate((bet, answer))]


def random_policy(sf, player, rng, batch=()):
    policy = sf.uniform_policy(player) * rng.exponential(size=(*batch, *sf.uniform_policy(player).shape))
    return policy / policy.sum(axis=-1, keepdims=True)


def spiel_tabular(game, sf, policies):
    tabular = spiel_policy.TabularPolicy(game)
    for player, policy in enumerate(policies):
        for name, actions, row in zip(sf.infosets(player), sf.treeplexes[player].actions, policy, strict=True):
            state = tabular.policy_for_key(name)
            state[:] = 0
            state[list(actions)] = row[: len(actions)]
    return spiel_policy.python_policy_to_pyspiel_policy(tabular)


def test_uniform_kuhn_has_nash_conv_eleven_twelfths(kuhn):
    uniform = [kuhn.uniform_policy(0), kuhn.uniform_policy(1)]
    assert nash_conv(kuhn, uniform) == pytest.approx(11 / 12, abs=1e-12)
    assert exploitability(kuhn, uniform) == pytest.approx(11 / 24, abs=1e-12)
    assert policy_value(kuhn, uniform) == pytest.approx([1 / 8, -1 / 8], abs=1e-12)


@pytest.mark.parametrize("alpha", [0, 0.1, 0.2, 1 / 3])
def test_the_kuhn_equilibrium_family_is_not_exploitable_and_worth_minus_one_eighteenth(kuhn, alpha):
    profile = kuhn_equilibrium(kuhn, alpha)
    assert exploitability(kuhn, profile) == pytest.approx(0, abs=1e-12)
    assert policy_value(kuhn, profile) == pytest.approx([-1 / 18, 1 / 18], abs=1e-12)


def test_calling_with_the_queen_too_rarely_loses_a_ninth_a_hand(kuhn):
    # The published "Nash" player calls with Q at 1/3 in both seats; at alpha = 1/3 the first player needs
    # 2/3.
    profile = kuhn_equilibrium(kuhn, 1 / 3)
    profile[0][kuhn.infosets(0).index("1pb")] = (2 / 3, 1 / 3)
    assert best_response(kuhn, profile, 1).value - 1 / 18 == pytest.approx(1 / 9, abs=1e-12)


def test_uniform_leduc_agrees_with_openspiel_and_the_published_value():
    game = pyspiel.load_game("leduc_poker")
    sf = SequenceForm.from_game(game)
    ours = nash_conv(sf, [sf.uniform_policy(0), sf.uniform_policy(1)])
    assert ours == pytest.approx(4.747222222222, abs=1e-9)
    assert ours == pytest.approx(pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game)), abs=1e-9)


@pytest.mark.parametrize(("name", "draws"), [("kuhn_poker", 20), ("kuhn_poker(players=3)", 5), ("leduc_poker", 2)])
def test_random_policies_agree_with_openspiel(name, draws):
    game = pyspiel.load_game(name)
    sf = SequenceForm.from_game(game)
    rng = np.random.default_rng(0)
    for _ in range(draws):
        policies = [random_policy(sf, p, rng) for p in range(sf.num_players)]
        theirs = pyspiel.nash_conv(game, spiel_tabular(game, sf, policies))
        assert nash_conv(sf, policies) == pytest.approx(theirs, abs=1e-9)


def test_simultaneous_nodes_are_played_without_seeing_the_other_move():
    sf = compiled("matrix_pd")
    assert [len(sf.infosets(p)) for p in (0, 1)] == [1, 1]
    defect = [np.array([[0.0, 1.0]]), np.array([[0.0, 1.0]])]
    assert nash_conv(sf, defect) == pytest.approx(0, abs=1e-12)


def test_a_batch_equals_a_loop(kuhn):
    rng = np.random.default_rng(1)
    policies = [random_policy(kuhn, 0, rng, (3, 1)), random_policy(kuhn, 1, rng, (4,))]
    batch = nash_conv(kuhn, policies)
    assert batch.shape == (3, 4)
    for i, j in product(range(3), range(4)):
        assert batch[i, j] == pytest.approx(float(nash_conv(kuhn, [policies[0][i, 0], policies[1][j]])), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_best_responses_are_the_best_pure_strategies_and_beat_every_policy(seed):
    sf = compiled("kuhn_poker")
    rng = np.random.default_rng(seed)
    policies = [random_policy(sf, p, rng) for p in (0, 1)]
    answer = best_response(sf, policies, 0)
    pure = np.array(list(product((0.0, 1.0), repeat=6)))
    every = np.stack([1 - pure, pure], axis=-1)
    assert answer.value == pytest.approx(policy_value(sf, [every, policies[1]])[:, 0].max(), abs=1e-12)
    assert answer.value == pytest.approx(policy_value(sf, [answer.policy, policies[1]])[0], abs=1e-12)
    assert nash_conv(sf, policies) >= -1e-12


class Forgetful:
    """One player moves twice and forgets its first move."""

    def num_players(self):
        return 1

    def new_initial_state(self):
        return ForgetfulState(())


class ForgetfulState:
    def __init__(self, moves):
        self.moves = moves

    def is_terminal(self):
        return len(self.moves) == 2

    def is_chance_node(self):
        return False

    def is_simultaneous_node(self):
        return False

    def current_player(self):
        return 0

    def legal_actions(self, player):
        return [0, 1]

    def information_state_string(self, player):
        return str(min(len(self.moves), 1))

    def child(self, action):
        return ForgetfulState((*self.moves, action))

    def returns(self):
        return [float(sum(self.moves))]


def test_imperfect_recall_is_refused_by_the_name_of_the_state():
    with pytest.raises(ValueError, match="imperfect recall: information state '1'"):
        SequenceForm.from_game(Forgetful())


def test_a_tree_that_is_too_large_is_refused_with_what_to_do():
    with pytest.raises(ValueError, match=r"more than 10 nodes.*raise max_nodes"):
        SequenceForm.from_game(pyspiel.load_game("kuhn_poker"), max_nodes=10)


def test_exploitability_of_a_general_sum_game_names_what_to_call_instead():
    sf = compiled("matrix_pd")
    with pytest.raises(ValueError, match=r"nash_conv.*opponent_surplus"):
        exploitability(sf, [sf.uniform_policy(0), sf.uniform_policy(1)])


@pytest.mark.parametrize("row", [(0.5, 0.4), (1.5, -0.5), (np.nan, 1.0)])
def test_a_row_that_is_no_distribution_is_refused_by_the_name_of_its_information_set(kuhn, row):
    policy = kuhn.uniform_policy(0)
    policy[kuhn.infosets(0).index("1pb")] = row
    with pytest.raises(ValueError, match=r"information set '1pb'.*no distribution"):
        nash_conv(kuhn, [policy, kuhn.uniform_policy(1)])


def test_a_missing_information_set_is_never_read_as_uniform(kuhn):
    with pytest.raises(ValueError, match="is missing"):
        kuhn.policy_from_dict(0, {"0": (1, 0)})
