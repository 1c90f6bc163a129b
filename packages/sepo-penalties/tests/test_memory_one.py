"""Memory-one payoffs and best responses against closed forms, the round-memory program, trees and brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_penalties import RepeatedGame, SequenceForm, best_response, repeated_best_response, repeated_value
from sepo_penalties.memory_estimate import estimate_memory
from sepo_penalties.memory_one import MemoryOne, memory_one_best_response, memory_one_value

PD = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]])
TIT_FOR_TAT = MemoryOne.stationary([1, 1, 0, 1, 0])
COOPERATE, DEFECT = MemoryOne.stationary([1, 1, 1, 1, 1]), MemoryOne.stationary([0, 0, 0, 0, 0])
GRIM, PAVLOV = MemoryOne.stationary([1, 1, 0, 0, 0]), MemoryOne.stationary([1, 1, 0, 0, 1])
CLASSICS = {
    "tit-for-tat": (TIT_FOR_TAT, 26),
    "always-cooperate": (COOPERATE, 40),
    "always-defect": (DEFECT, 8),
    "grim": (GRIM, 26),
    "win-stay-lose-shift": (PAVLOV, 26),
}


def random_policies(rng, batch=(), rounds=None):
    if rounds is None:
        return MemoryOne.stationary(rng.uniform(size=(*batch, 5)))
    return MemoryOne.by_round(rng.uniform(size=(*batch, rounds, 5)))


@pytest.mark.parametrize("name", CLASSICS)
@pytest.mark.parametrize("player", [0, 1])
def test_best_responses_in_eight_rounds_are_worth_the_closed_form(name, player):
    policy, total = CLASSICS[name]
    assert 8 * memory_one_best_response(PD, policy, player, rounds=8).value == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("discount", [0.0, 0.1, 0.24, 0.3, 0.6, 0.7, 0.875, 0.99])
def test_tit_for_tat_is_answered_by_the_best_of_three_plans(discount):
    # Cooperate for ever, alternate beginning with a defection, or defect for ever.
    plans = [3, 5 / (1 + discount), 5 * (1 - discount) + discount]
    answer = memory_one_best_response(PD, TIT_FOR_TAT, 0, discount=discount)
    assert answer.value == pytest.approx(max(plans), abs=1e-12)


LIMITS = [
    (TIT_FOR_TAT, TIT_FOR_TAT, (3, 3)),
    (MemoryOne.stationary([0, 1, 0, 1, 0]), TIT_FOR_TAT, (2.5, 2.5)),
    (TIT_FOR_TAT, DEFECT, (1, 1)),
    (PAVLOV, DEFECT, (0.5, 3)),
    (GRIM, MemoryOne.stationary([0, 1, 1, 1, 1]), (5, 0)),
    (PAVLOV, MemoryOne.stationary([0, 1, 0, 0, 1]), (3, 3)),
]


@pytest.mark.parametrize(("first", "second", "value"), LIMITS)
def test_limits_of_means_are_those_of_the_cycles(first, second, value):
    assert memory_one_value(PD, [first, second]) == pytest.approx(value, abs=1e-12)
    assert memory_one_value(PD, [second, first])[::-1] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("noise", [1e-1, 1e-4, 1e-9])
def test_the_smallest_noise_costs_tit_for_tat_a_quarter_of_the_reward(noise):
    # All four outcomes come up equally often (Molander 1985): (3 + 0 + 5 + 1) / 4. Next to 1 a float64 knows a noise
    # of 1e-9 to seven digits only.
    trembling = MemoryOne.stationary(np.array([1, 1, 0, 1, 0]) * (1 - 2 * noise) + noise)
    assert memory_one_value(PD, [trembling, trembling]) == pytest.approx([9 / 4, 9 / 4], abs=2e-7)


def test_an_extortioner_gains_three_times_as_much_over_mutual_defection_whatever_the_other_does():
    # Press and Dyson (2012), extortion factor 3: p = (11/13, 1/2, 7/26, 0), and (p_c = 1) the published 3.73 and 1.91.
    extort = MemoryOne.stationary([1, 11 / 13, 1 / 2, 7 / 26, 0])
    others = random_policies(np.random.default_rng(0), (200,))
    value = memory_one_value(PD, [extort, others])
    np.testing.assert_allclose(value[:, 0] - 1, 3 * (value[:, 1] - 1), atol=1e-12)
    assert memory_one_value(PD, [extort, COOPERATE]) == pytest.approx([3.73, 1.91], abs=0.005)
    # The best answer to extortion is to cooperate always.
    answer = memory_one_best_response(PD, extort, 1)
    assert answer.value == pytest.approx(memory_one_value(PD, [extort, COOPERATE])[1], abs=1e-12)


def test_the_limit_of_means_of_a_chain_with_two_closed_classes_weighs_them_by_their_chance():
    # Both repeat an agreed outcome for ever, and else both cooperate half of the time: CC and DD are absorbing.
    half = MemoryOne.stationary([0.5, 1, 0.5, 0.5, 0])
    assert memory_one_value(PD, [half, half]) == pytest.approx([2, 2], abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([0.0, 0.5, 1.0]))
def test_long_and_patient_games_approach_the_limit_of_means(seed, sharp):
    rng = np.random.default_rng(seed)
    # Sharp tables have zeros and ones, so that chains are reducible and periodic.
    tables = [np.where(rng.random(5) < sharp, rng.integers(0, 2, 5), rng.uniform(0.05, 0.95, 5)) for _ in range(2)]
    policies, payoffs = [MemoryOne.stationary(t) for t in tables], rng.normal(size=(2, 2, 2))
    limit = memory_one_value(payoffs, policies)
    assert memory_one_value(payoffs, policies, discount=1 - 1e-7) == pytest.approx(limit, abs=1e-4)
    for player in (0, 1):
        other = policies[1 - player]
        patient = memory_one_best_response(payoffs, other, player, discount=1 - 1e-7).value
        assert memory_one_best_response(payoffs, other, player).value == pytest.approx(float(patient), abs=1e-4)


def test_finite_payoffs_are_those_of_played_games_round_by_round():
    rng = np.random.default_rng(1)
    tables = [rng.uniform(size=(3, 5)) for _ in range(2)]
    expected = np.zeros(2)
    for play in product(product((0, 1), repeat=2), repeat=3):
        chance = 1.0
        for t, joint in enumerate(play):
            for p in (0, 1):
                row = 0 if t == 0 else 1 + 2 * play[t - 1][p] + play[t - 1][1 - p]
                chance *= tables[p][t, row] if joint[p] == 0 else 1 - tables[p][t, row]
        expected += chance * np.mean([PD[:, a, b] for a, b in play], axis=0)
    policies = [MemoryOne.by_round(table) for table in tables]
    assert memory_one_value(PD, policies, rounds=3) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 6))
def test_round_dependent_tables_agree_with_the_program_for_round_memory(seed, rounds):
    rng = np.random.default_rng(seed)
    payoffs = rng.normal(size=(2, 2, 2))
    game = RepeatedGame.of(payoffs[:, None, None], ([1.0], [1.0]), rounds)
    policies = [random_policies(rng, rounds=rounds) for _ in range(2)]
    tables = []
    for policy in policies:
        p = np.concatenate([policy.table[0, :1], policy.table[1:, 1:].ravel()])
        tables.append(np.stack([p, 1 - p], axis=-1))
    ours = memory_one_value(payoffs, policies, rounds=rounds)
    assert ours * rounds == pytest.approx(repeated_value(game, tables), abs=1e-12)
    for player in (0, 1):
        answer = memory_one_best_response(payoffs, policies[1 - player], player, rounds=rounds)
        expected = repeated_best_response(game, tables[1 - player], player)
        assert answer.value * rounds == pytest.approx(float(expected.value), abs=1e-12)


def played(answer, policies, player):
    """The profile in which a player plays its best response."""
    table = MemoryOne(answer.policy[..., 0])
    return [table if p == player else q for p, q in enumerate(policies)]


@pytest.mark.parametrize("horizon", [{"rounds": 5}, {"discount": 0.8}, {}])
def test_best_responses_earn_their_value_and_beat_all_pure_memory_one_policies(horizon):
    rng = np.random.default_rng(4)
    pure = MemoryOne.stationary(list(product((0.0, 1.0), repeat=5)))
    for _ in range(20):
        payoffs, policies = rng.normal(size=(2, 2, 2)), [random_policies(rng), random_policies(rng)]
        for player in (0, 1):
            answer = memory_one_best_response(payoffs, policies[1 - player], player, **horizon)
            own = memory_one_value(payoffs, played(answer, policies, player), **horizon)[player]
            assert own == pytest.approx(float(answer.value), abs=1e-9)
            rivals = [pure if p == player else q for p, q in enumerate(policies)]
            best = memory_one_value(payoffs, rivals, **horizon)[:, player].max()
            if "rounds" in horizon:
                assert best <= answer.value + 1e-12
            else:
                # In endless games one of the 32 is a best response.
                assert best == pytest.approx(float(answer.value), abs=1e-9)


class Dilemma:
    """Four rounds as a tree whose players remember everything."""

    def __init__(self, played=()):
        self.played = played

    def num_players(self):
        return 2

    def new_initial_state(self):
        return self

    def is_terminal(self):
        return len(self.played) == 4

    def is_chance_node(self):
        return False

    def is_simultaneous_node(self):
        return True

    def legal_actions(self, player):
        return [0, 1]

    def information_state_string(self, player):
        return " ".join(f"{joint[player]}{joint[1 - player]}" for joint in self.played)

    def child(self, joint):
        return Dilemma((*self.played, tuple(joint)))

    def returns(self):
        return [sum(PD[p, a, b] for a, b in self.played) for p in (0, 1)]


def test_a_responder_that_remembers_everything_does_no_better():
    sf, rng = SequenceForm.from_game(Dilemma()), np.random.default_rng(0)
    for _ in range(5):
        table = rng.uniform(size=5)
        rows = {}
        for name in sf.infosets(1):
            p = table[1 + int(name.split()[-1], 2)] if name else table[0]
            rows[name] = (p, 1 - p)
        full = best_response(sf, [sf.uniform_policy(0), sf.policy_from_dict(1, rows)], 0).value
        ours = memory_one_best_response(PD, MemoryOne.stationary(table), 0, rounds=4)
        assert 4 * ours.value == pytest.approx(float(full), abs=1e-12)


@pytest.mark.parametrize("horizon", [{"rounds": 6}, {"discount": 0.9}, {}])
def test_a_batch_equals_a_loop(horizon):
    rng = np.random.default_rng(2)
    first, second = random_policies(rng, (3, 1)), random_policies(rng, (4,))
    values = memory_one_value(PD, [first, second], **horizon)
    answers = memory_one_best_response(PD, first, 1, **horizon)
    assert values.shape == (3, 4, 2)
    for i, j in product(range(3), range(4)):
        one, two = MemoryOne(first.table[i, 0]), MemoryOne(second.table[j])
        assert values[i, j] == pytest.approx(memory_one_value(PD, [one, two], **horizon), abs=1e-12)
        alone = memory_one_best_response(PD, one, 1, **horizon)
        assert answers.value[i, 0] == pytest.approx(float(alone.value), abs=1e-12)
        np.testing.assert_array_equal(answers.policy[i, 0], alone.policy)
        np.testing.assert_allclose(answers.action_values[i, 0], alone.action_values, atol=1e-9)


def test_an_estimate_from_many_episodes_finds_the_policy_and_few_episodes_are_smoothed():
    rng = np.random.default_rng(0)
    table = np.array([0.9, 0.8, 0.3, 0.6, 0.1])
    play = np.zeros((20_000, 5, 2), dtype=int)
    for t in range(5):
        last = play[:, t - 1]
        row = np.zeros(len(play), dtype=int) if t == 0 else 1 + 2 * last[:, 1] + last[:, 0]
        play[:, t, 1] = rng.random(len(play)) >= table[row]
        play[:, t, 0] = rng.random(len(play)) < 0.5
    found = estimate_memory(play, 1, (2, 2))
    np.testing.assert_allclose(found.policy[:, 0], table, atol=0.01)
    assert found.counts.sum() == 100_000
    few = estimate_memory([[[0, 1]]], 1, (2, 2), alpha=1.0)
    np.testing.assert_allclose(few.policy, [[1 / 3, 2 / 3]] + [[0.5, 0.5]] * 4)


def test_longer_memories_number_histories_by_length_and_then_oldest_outcome_first():
    # Player 0 has three actions, player 1 two: outcomes of player 1 are own * 3 + other's.
    play = [[[2, 1], [0, 1], [1, 0], [2, 0]]]
    counts = estimate_memory(play, 1, (3, 2), memory=2).counts
    assert counts.shape == (1 + 6 + 36, 2)
    rows = {tuple(place) for place in np.argwhere(counts).tolist()}
    assert rows == {(0, 1), (1 + 5, 1), (7 + 5 * 6 + 3, 0), (7 + 3 * 6 + 1, 0)}
    assert estimate_memory(play, 0, (3, 2), memory=0).counts.tolist() == [[1, 1, 2]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MemoryOne.stationary([1, 1, 1, 1]), r"shape \(4,\)"),
        (lambda: MemoryOne.stationary([1, 1, 1, 1, 1.2]), r"entry \(4,\) is 1.2"),
        (lambda: MemoryOne.by_round([[1, 1, 1, np.nan, 1]]), r"entry \(0, 3\) is nan"),
        (lambda: MemoryOne.by_round([1, 1, 1, 1, 1]), r"\(..., T, 5\) is needed"),
        (lambda: memory_one_value(PD[0], [GRIM, GRIM]), r"\(2, 2, 2\) is needed"),
        (lambda: memory_one_value(PD, [GRIM]), "1 policies"),
        (lambda: memory_one_value(PD, [GRIM, GRIM], rounds=3, discount=0.5), "both given"),
        (lambda: memory_one_value(PD, [GRIM, GRIM], rounds=0), "at least one"),
        (lambda: memory_one_value(PD, [GRIM, GRIM], discount=1.0), r"\[0, 1\)"),
        (lambda: memory_one_value(PD, [GRIM, MemoryOne.by_round([[1] * 5] * 3)], rounds=4), "3 rounds, but 4"),
        (lambda: memory_one_value(PD, [GRIM, MemoryOne.by_round([[1] * 5] * 3)]), "stationary policy"),
        (lambda: memory_one_best_response(PD, GRIM, 2), "player 2 does not exist"),
        (lambda: estimate_memory(np.zeros((0, 3, 2), dtype=int), 0, (2, 2)), r"shape \(0, 3, 2\)"),
        (lambda: estimate_memory([[[0, 2]]], 0, (2, 2)), "episode 0, round 0: player 1 has 2 actions, 2"),
        (lambda: estimate_memory([[[0, 1]]], 2, (2, 2)), "player 2 does not exist"),
        (lambda: estimate_memory([[[0, 1]]], 0, (2, 2), memory=-1), "memory = -1"),
        (lambda: estimate_memory([[[0, 1]]], 0, (2, 2), alpha=0.0), "alpha = 0.0"),
    ],
)
def test_bad_input_is_refused_with_what_is_allowed(call, message):
    with pytest.raises(ValueError, match=message):
        call()
