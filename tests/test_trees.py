"""Our game trees are OpenSpiel's: information sets, values, and NashConv of random policies by OpenSpiel's own algorithms."""

from itertools import product

import numpy as np
import pyspiel
import pytest
from sepo_games import get_game, table_policy
from sepo_games.adapters.openspiel import openspiel_game
from sepo_games.ipd import Ipd
from sepo_games.kuhn import Kuhn
from sepo_games.leduc import Leduc
from sepo_games.matrix import Matrix
from sepo_penalties import SequenceForm, best_replies, best_response, nash_conv, policy_value, zero_sum_value

WIDE = np.array([[[1, 2, 3], [4, 5, 6]], [[6, 1, 4], [2, 8, 0]]], dtype=float)


def matrix_of(payoffs, rounds=1):
    """OpenSpiel's matrix game of an array, played once or several times."""
    names = [[f"{side}{i}" for i in range(n)] for side, n in zip("rc", payoffs.shape[1:], strict=True)]
    game = pyspiel.create_matrix_game("ours", "Ours", *names, *payoffs.tolist())
    if rounds == 1:
        return game
    return pyspiel.create_repeated_game(game, {"num_repetitions": rounds, "enable_infostate": True})


def named(name):
    game = pyspiel.load_matrix_game(name)
    return Matrix.of([game.row_utilities(), game.col_utilities()], rounds=1), game


def dilemma(**rules):
    game = Ipd(**rules)
    return np.array([[[game.payoffs((a, b))[i] for b in (0, 1)] for a in (0, 1)] for i in (0, 1)])


TREES = {
    "Kuhn": (Kuhn(), pyspiel.load_game("kuhn_poker")),
    "Kuhn, one hand": (Kuhn(hands=1), pyspiel.load_game("kuhn_poker")),
    "Leduc": (Leduc(), pyspiel.load_game("leduc_poker")),
    "Leduc, ranks": (Leduc(suits=False), pyspiel.load_game("leduc_poker(suit_isomorphism=True)")),
    "rock paper scissors": named("matrix_rps"),
    "biased rock paper scissors": named("matrix_brps"),
    "stag hunt": named("matrix_sh"),
    "Shapley's game": named("matrix_shapleys_game"),
    "unequal sides": (Matrix.of(WIDE, rounds=1), matrix_of(WIDE)),
    "unequal sides, twice": (Matrix.of(WIDE, rounds=2), matrix_of(WIDE, 2)),
    "stag hunt, three times": (Matrix(rounds=3), matrix_of(np.array(Matrix().payoffs), 3)),
    "dilemma, twice": (Ipd(rounds=2), matrix_of(dilemma(), 2)),
    "another dilemma, twice": (
        Ipd(rounds=2, reward=2, temptation=3, sucker=-1, punishment=0),
        matrix_of(dilemma(reward=2, temptation=3, sucker=-1, punishment=0), 2),
    ),
    "dilemma, three times": (Ipd(rounds=3), matrix_of(dilemma(), 3)),
    "OpenSpiel's Leduc in our language": (
        openspiel_game("leduc_poker(suit_isomorphism=True)", references=(0, 0), reference="value"),
        pyspiel.load_game("leduc_poker(suit_isomorphism=True)"),
    ),
    "OpenSpiel's goofspiel in our language": (
        openspiel_game(
            "goofspiel(imp_info=True,num_cards=3,points_order=descending)", references=(0, 0), reference="value"
        ),
        pyspiel.load_game("goofspiel(imp_info=True,num_cards=3,points_order=descending)"),
    ),
}


class Twins:
    """One of our trees beside OpenSpiel's, which moves in turns where ours moves at once.

    `names[seat]` maps our information sets to OpenSpiel's.
    """

    def __init__(self, ours, theirs):
        at_once = theirs.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
        self.theirs = pyspiel.convert_to_turn_based(theirs) if at_once else theirs
        self.sf = SequenceForm.from_game(ours)
        self.names, self.terminals = ({}, {}), 0
        self.walk(ours.new_initial_state(), self.theirs.new_initial_state())

    def walk(self, ours, theirs):
        assert ours.is_terminal() == theirs.is_terminal()
        if ours.is_terminal():
            self.terminals += 1
            assert ours.returns() == pytest.approx(theirs.returns(), abs=1e-12)
        elif ours.is_chance_node():
            assert dict(ours.chance_outcomes()) == pytest.approx(dict(theirs.chance_outcomes()))
            for action, _ in theirs.chance_outcomes():
                self.walk(ours.child(action), theirs.child(action))
        elif ours.is_simultaneous_node():
            for moves in product(self.decide(ours, theirs, 0), ours.legal_actions(1)):
                between = theirs.child(moves[0])
                self.decide(ours, between, 1)
                self.walk(ours.child(moves), between.child(moves[1]))
        else:
            for action in self.decide(ours, theirs, ours.current_player()):
                self.walk(ours.child(action), theirs.child(action))

    def decide(self, ours, theirs, seat):
        """Compares a decision, notes both names of it, and returns the actions."""
        assert theirs.current_player() == seat
        assert list(ours.legal_actions(seat)) == theirs.legal_actions()
        name = self.names[seat].setdefault(ours.information_state_string(seat), theirs.information_state_string(seat))
        assert name == theirs.information_state_string(seat)
        return theirs.legal_actions()

    def random_policies(self, seed):
        """Policies of both seats for our tree, and the same for OpenSpiel's."""
        rng = np.random.default_rng(seed)
        ours, theirs = [], {}
        for seat in (0, 1):
            rows = {
                name: dict(zip(actions, rng.dirichlet(np.full(len(actions), 0.5)).tolist(), strict=True))
                for name, actions in zip(self.sf.infosets(seat), self.sf.actions(seat), strict=True)
            }
            ours.append(self.sf.policy_from_dict(seat, rows))
            theirs |= {self.names[seat][name]: list(row.items()) for name, row in rows.items()}
        return ours, pyspiel.TabularPolicy(theirs)


@pytest.fixture(scope="module", params=list(TREES))
def twins(request):
    return Twins(*TREES[request.param])


def test_trees_have_the_same_histories_payoffs_and_information_sets(twins):
    assert twins.terminals == len(twins.sf.chance)
    for seat in (0, 1):
        assert set(twins.names[seat]) == set(twins.sf.infosets(seat))
        # Different information sets of ours are different ones of OpenSpiel's: `decide` shows the other direction.
        assert len(set(twins.names[seat].values())) == len(twins.names[seat])


@pytest.mark.parametrize("seed", range(3))
def test_random_policies_have_openspiels_values_and_nash_conv(twins, seed):
    ours, theirs = twins.random_policies(seed)
    expected = pyspiel.expected_returns(twins.theirs.new_initial_state(), theirs, -1, True)
    assert policy_value(twins.sf, ours) == pytest.approx(np.array(expected), abs=1e-9)
    found = float(nash_conv(twins.sf, ours))
    assert found > 0.01
    assert found == pytest.approx(pyspiel.nash_conv(twins.theirs, theirs), abs=1e-9)


@pytest.mark.parametrize(
    ("game", "value"),
    [
        (Kuhn(), -1 / 18),
        (Kuhn(ante=3, bet=3), -3 / 18),
        (Leduc(), -0.085606424078),  # OpenSpiel's sequence_form_lp_test
        (Leduc(suits=False), -0.085606424078),
        (named("matrix_rps")[0], 0),
        (named("matrix_brps")[0], 0),
        (Matrix.of([[[3, -1], [-2, 1]], [[-3, 1], [2, -1]]], rounds=1), 1 / 7),  # (3 * 1 - 1 * 2) / (3 + 1 + 1 + 2)
        (Matrix.of([[[3, -1], [-2, 1]], [[-3, 1], [2, -1]]], rounds=3), 3 / 7),
    ],
)
def test_zero_sum_games_are_worth_what_is_published(game, value):
    assert zero_sum_value(SequenceForm.from_game(game)) == pytest.approx(value, abs=1e-9)
    if game.reference == "value":
        assert game.references == pytest.approx((-value, value), abs=1e-9)


@pytest.mark.parametrize("suits", [True, False])
def test_the_uniform_leduc_players_nash_conv_is_the_published_one(suits):
    sf = SequenceForm.from_game(Leduc(suits=suits))
    assert nash_conv(sf, [sf.uniform_policy(0), sf.uniform_policy(1)]) == pytest.approx(4.747222, abs=1e-6)


@pytest.mark.parametrize(
    "game",
    [Matrix(rounds=2), Matrix(rounds=3), Matrix.of([np.diag([1, 2, 3.0]), np.arange(9).reshape(3, 3)], rounds=2)],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_repeated_matrix_games_best_reply_to_a_prompts_policy_is_the_trees(game, seat):
    rng = np.random.default_rng(seat)
    n = game.num_actions
    tables = [{i.key: rng.dirichlet(np.ones(n)) for i in game.infosets(s)} for s in (0, 1)]
    sf = SequenceForm.from_game(game)
    full = {name: tables[seat][f"{len(name.split()) + 1}:{(name.split() or [''])[-1]}"] for name in sf.infosets(seat)}
    policies = [sf.uniform_policy(0), sf.uniform_policy(1)]
    policies[seat] = sf.policy_from_dict(seat, full)
    value = float(best_response(sf, policies, 1 - seat).value) / game.rounds
    reply = best_replies(game, tables)[seat]
    assert reply.value == pytest.approx(value, abs=1e-12)
    table_policy(game, reply.policy)


@pytest.mark.parametrize("name", ["value", "tight", "maniac", "uniform"])
def test_a_best_reply_to_a_leduc_player_is_found_by_its_table_and_wins_at_least_the_value(name):
    game = get_game("leduc-v1", hands=1)
    tables = [{i.key: game.strategies[name].probs(i.view) for i in game.infosets(seat)} for seat in (0, 1)]
    values = [reply.value for reply in best_replies(game, tables)]
    assert all(value > reference + 0.01 for value, reference in zip(values, game.references, strict=True))
