"""Games from payoff arrays and from lists of their ends, against hand-made values and brute force."""

from itertools import product
from math import prod

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_penalties import SequenceForm, best_response, nash_conv, policy_value

PENNIES = [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]
CENTIPEDE = [
    (1.0, [(0, "first", 0)], [1, 0]),
    (1.0, [(0, "first", 1), (1, "second", 0)], [0, 3]),
    (1.0, [(0, "first", 1), (1, "second", 1)], [2, 2]),
]


def test_a_matrix_game_has_one_information_set_for_each_player_and_its_own_payoffs():
    payoffs = np.random.default_rng(0).normal(size=(3, 2, 3, 4))
    sf = SequenceForm.from_matrix(payoffs)
    assert [sf.infosets(p) for p in range(3)] == [("start",)] * 3
    assert [sf.num_actions(p).tolist() for p in range(3)] == [[2], [3], [4]]
    mixed = [np.random.default_rng(p).dirichlet(np.ones(n)) for p, n in enumerate((2, 3, 4))]
    expected = np.einsum("pabc,a,b,c->p", payoffs, *mixed)
    assert policy_value(sf, [row[None] for row in mixed]) == pytest.approx(expected, abs=1e-12)


def test_matching_pennies_gives_one_half_each_to_the_best_responses_against_three_quarters():
    sf = SequenceForm.from_matrix(PENNIES)
    assert nash_conv(sf, [[[0.75, 0.25]], [[0.75, 0.25]]]) == pytest.approx(1.0, abs=1e-12)
    assert nash_conv(sf, [[[0.5, 0.5]], [[0.5, 0.5]]]) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("payoffs", "message"),
    [
        ([[1, 2], [3, 4]], r"shape \(2, 2\)"),
        (np.zeros((2, 2, 0)), r"shape \(2, 2, 0\)"),
        ([[[1, np.nan]], [[1, 1]]], "player 0 are not all finite"),
    ],
)
def test_an_array_that_is_no_matrix_game_is_refused(payoffs, message):
    with pytest.raises(ValueError, match=message):
        SequenceForm.from_matrix(payoffs)


def test_a_short_centipede_from_its_ends_unravels():
    sf = SequenceForm.from_terminals(CENTIPEDE)
    cooperate = [[[0.0, 1.0]], [[0.0, 1.0]]]
    assert policy_value(sf, cooperate) == pytest.approx([2, 2])
    assert best_response(sf, cooperate, 1).value == pytest.approx(3)
    assert nash_conv(sf, [[[1.0, 0.0]], [[1.0, 0.0]]]) == pytest.approx(0)


def kuhn_ends():
    """Kuhn poker told by its ends; p passes or folds, b bets or calls."""
    histories = {"pp": 1, "pbp": -1, "pbb": 2, "bp": 1, "bb": 2}
    ends = []
    for first, second in product(range(3), repeat=2):
        for history, stake in histories.items() if first != second else ():
            moves = [
                (k % 2, f"{(first, second)[k % 2]}{history[:k]}", "pb".index(act)) for k, act in enumerate(history)
            ]
            folded = history in ("pbp", "bp")
            gain = stake if folded or first > second else -stake
            ends.append((1 / 6, moves, (gain, -gain)))
    return ends


def test_kuhn_poker_from_its_ends_is_kuhn_poker_from_its_tree():
    told, walked = SequenceForm.from_terminals(kuhn_ends()), SequenceForm.from_game(pyspiel.load_game("kuhn_poker"))
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = [{name: rng.dirichlet([1, 1]) for name in walked.infosets(p)} for p in (0, 1)]
        values = [
            nash_conv(sf, [sf.policy_from_dict(p, given) for p, given in enumerate(rows)]) for sf in (told, walked)
        ]
        assert values[0] == pytest.approx(values[1], abs=1e-12)


def test_a_game_with_a_missing_end_is_refused():
    ends = kuhn_ends()
    for k in range(len(ends)):
        with pytest.raises(ValueError, match="under a random profile: an end is missing"):
            SequenceForm.from_terminals(ends[:k] + ends[k + 1 :])


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ([], "empty"),
        ([*CENTIPEDE, CENTIPEDE[0]], "or double"),
        ([(0.5, [], [0.0])], "sum to 0.5"),
        ([(1.0, [], [np.inf])], "terminal 0.*finite payoffs"),
        ([(0.0, [], [1.0])], "terminal 0.*positive chance"),
        ([(1.0, [(1, "a", 0)], [1.0])], "player 1 does not exist"),
        ([(0.5, [(0, "a", 0)], [1.0]), (0.5, [], [1.0, 2.0])], "terminal 1.*1 finite payoffs"),
        ([(1.0, [(0, "a", 0), (0, "a", 0)], [1.0])], "imperfect recall: information set 'a'"),
    ],
)
def test_ends_that_make_no_game_are_refused(ends, message):
    with pytest.raises(ValueError, match=message):
        SequenceForm.from_terminals(ends)


def test_a_policy_may_be_given_by_action_and_leaves_the_rest_at_zero():
    sf = SequenceForm.from_terminals([(1.0, [(0, "only", a)], [float(a)]) for a in (7, 3, 5)])
    assert sf.actions(0) == ((3, 5, 7),)
    assert sf.policy_from_dict(0, {"only": {7: 1.0}}).tolist() == [[0.0, 0.0, 1.0]]
    with pytest.raises(ValueError, match=r"information set 'only': \[4\] are not among its actions \[3, 5, 7\]"):
        sf.policy_from_dict(0, {"only": {4: 1.0}})


def random_ends(rng, depth=3, players=2):
    """A random tree: what a player sees is its own moves and a coarse signal about everything else."""

    def grow(chance, moves, level):
        if level == depth or (level > 1 and rng.random() < 0.2):
            return [(chance, moves, rng.normal(size=players).tolist())]
        if level == 0:
            branches = [
                grow(chance * p, [(-1, "", i)], level + 1) for i, p in enumerate(rng.dirichlet(np.ones(3)).tolist())
            ]
        else:
            player = (level - 1) % players
            own = [m for m in moves if m[0] == player]
            name = f"{level} {own} {sum(m[2] for m in moves if m[0] != player) % 2}"
            branches = [grow(chance, [*moves, (player, name, a)], level + 1) for a in range(2)]
        return [end for branch in branches for end in branch]

    return [(chance, [m for m in moves if m[0] >= 0], payoffs) for chance, moves, payoffs in grow(1.0, [], 0)]


def best_by_brute_force(ends, policies, player):
    """The largest payoff of all pure strategies, one dictionary at a time."""
    names = sorted({(m[1], m[2]) for _, moves, _ in ends for m in moves if m[0] == player})
    sets = {name: [a for n, a in names if n == name] for name, _ in names}
    values = []
    for picks in product(*sets.values()):
        pure = dict(zip(sets, picks, strict=True))
        values.append(
            sum(
                chance
                * payoffs[player]
                * prod(policies[p][name][act] if p != player else float(pure[name] == act) for p, name, act in moves)
                for chance, moves, payoffs in ends
            )
        )
    return max(values)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([2, 3]))
def test_best_responses_in_random_games_are_the_best_of_all_pure_strategies(seed, players):
    rng = np.random.default_rng(seed)
    ends = random_ends(rng, depth=4, players=players)
    sf = SequenceForm.from_terminals(ends)
    rows = [
        {
            name: dict(zip(acts, rng.dirichlet(np.ones(len(acts))), strict=True))
            for name, acts in zip(sf.infosets(p), sf.actions(p), strict=True)
        }
        for p in range(players)
    ]
    policies = [sf.policy_from_dict(p, row) for p, row in enumerate(rows)]
    for player in range(players):
        expected = best_by_brute_force(ends, rows, player)
        assert best_response(sf, policies, player).value == pytest.approx(expected, abs=1e-12)
