"""OpenSpiel's games in our language layer."""

import subprocess
import sys

import numpy as np
import pyspiel
import pytest
from sepo_games import MatchUp, ScriptedPolicy, play, read_policy, to_arrays
from sepo_games.adapters.openspiel import openspiel_game
from sepo_games.testing import check_game

QUITTING = """EFG 2 R "quitting" { "first" "second" } ""
p "" 1 1 "" { "IN" "OUT" } 0
p "" 2 1 "" { "LEFT" "RIGHT" } 0
t "" 1 "" { 1, -1 }
t "" 2 "" { -1, 1 }
t "" 3 "" { 0, 0 }
"""
"""The first player may end the game before the second has decided anything."""


def uniform_value(state):
    """Expected returns of uniform play in OpenSpiel's tree."""
    if state.is_terminal():
        return np.array(state.returns())
    legal = state.legal_actions()
    outcomes = state.chance_outcomes() if state.is_chance_node() else [(a, 1 / len(legal)) for a in legal]
    return sum(p * uniform_value(state.child(action)) for action, p in outcomes)


def of(game, **options):
    return openspiel_game(game, **{"references": (0, 0), "reference": "value"} | options)


@pytest.mark.parametrize(
    ("name", "infosets", "zero_sum"),
    [
        ("kuhn_poker", 6, True),
        ("leduc_poker", 468, True),
        ("matrix_rps", 1, True),
        ("matrix_pd", 1, False),
        ("tiny_hanabi", 2, False),
        ("liars_dice(dice_sides=3)", 96, True),
        ("goofspiel(imp_info=True,num_cards=3,points_order=descending)", 8, True),
    ],
)
def test_games_of_openspiel_keep_every_promise(name, infosets, zero_sum):
    game = of(name)
    check_game(game)
    assert len(game.infosets(0)) == infosets
    assert game.zero_sum == zero_sum


def test_a_matrix_game_that_is_built_here_is_played_too_and_equal_trees_are_one_game():
    def build(corner):
        return pyspiel.create_matrix_game(
            "mine", "Mine", ["Up", "Down"], ["No", "Not"], [[corner, 2], [3, 4]], [[1, 2], [3, 4]]
        )

    game = of(build(1))
    check_game(game)
    assert game == of(build(1))
    assert game != of(build(0))
    assert of("kuhn_poker") != of("kuhn_poker", rules="Poker.")
    # Words that mean a negation are no answers; the numbers of the actions do not help, so moves have numbers alone.
    assert [game.label(game.infosets(seat)[0].view, 1) for seat in (0, 1)] == ["DOWN", "MOVE 1"]


def test_words_come_from_openspiels_action_strings():
    view = of("kuhn_poker").infosets(0)[0].view
    assert of("kuhn_poker").render(view)[1]["content"] == "You are player 0. 0\nChoose PASS or BET."
    assert of("hex(board_size=2)").infosets(0)[0].view.words == ("A1", "B1", "A2", "B2")
    bids = of("first_sealed_auction").infosets(1)[0].view.words
    assert bids[0] == "PLAYER 1 BID 0"


def test_rules_that_are_given_stand_in_every_prompt():
    game = of("kuhn_poker", rules="Three cards, one bet.")
    for infoset in game.infosets(1):
        assert game.render(infoset.view)[0]["content"].startswith("Three cards, one bet. Reply with 'ACTION: '")


def test_play_pays_what_openspiels_tree_says():
    game = of("leduc_poker(suit_isomorphism=True)")
    exact = uniform_value(pyspiel.load_game("leduc_poker(suit_isomorphism=True)").new_initial_state())
    match_ups = [MatchUp(game, e % 2, "uniform", game.strategies["uniform"], "train", e, 0) for e in range(3000)]
    payoffs = to_arrays(play(match_ups, ScriptedPolicy(game, game.strategies["uniform"]), 1))["payoffs"].sum(axis=1)
    for seat in (0, 1):
        won = payoffs[seat::2, 0]
        assert abs(won.mean() - exact[seat]) < 5 * won.std() / np.sqrt(len(won))


def test_a_policy_is_read_off_a_scorer_at_openspiels_information_sets():
    game = of("kuhn_poker")
    table = read_policy(game, 1, lambda pairs: [np.log([0.25, 0.5]) for _ in pairs], retries=0)
    # A quarter of the replies is rejected and becomes the fallback, the first legal action.
    assert table.probs == pytest.approx(np.full((6, 2), 0.5))
    assert set(table.keys) == {f"{card}{past}" for card in range(3) for past in "pb"}


@pytest.mark.parametrize("action", [2, -1, (0,), (0, 3), (0, 0, 0), None])
def test_actions_that_are_not_legal_never_become_a_history(action):
    state = of("matrix_rps").new_initial_state()
    with pytest.raises(ValueError, match="not allowed"):
        state.child(action)
    over = state.child((0, 1))
    assert over.is_terminal()
    with pytest.raises(ValueError, match="it is over"):
        over.child((0, 1))


def test_a_history_is_a_value_that_its_children_do_not_change():
    root = of("kuhn_poker").new_initial_state()
    assert root.child(0).child(1) == root.child(0).child(1)
    assert root.child(0).child(1) != root.child(0).child(2)
    assert hash(root.child(0)) == hash(root.child(0))
    assert root.history == ()


@pytest.mark.parametrize(
    ("game", "options", "message"),
    [
        ("kuhn_pokr", {}, "unknown OpenSpiel game 'kuhn_pokr'.*'kuhn_poker'"),
        ("kuhn_poker(players=3)", {}, "it has 3 players, and two are needed"),
        ("catch", {}, "it has 1 players"),
        ("backgammon", {}, "no information state strings"),
        ("negotiation", {}, "does not list its chance outcomes"),
        ("leduc_poker", {"max_nodes": 1000}, "more than 1000 histories"),
        (pyspiel.load_efg_game(QUITTING), {}, r"can end before both have decided, after \[1\]"),
        ("kuhn_poker(ante=2)", {}, "does not load"),
        ("kuhn_poker", {"reference": "par"}, "unknown reference 'par'"),
        ("kuhn_poker", {"references": (0, float("nan"))}, "two finite numbers"),
        ("kuhn_poker", {"references": (0,)}, "two finite numbers"),
    ],
)
def test_what_cannot_be_played_is_refused_with_the_reason(game, options, message):
    with pytest.raises(ValueError, match=message):
        of(game, **options)


def test_without_openspiel_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['pyspiel'] = None\n"
        "from sepo_games.adapters.openspiel import openspiel_game\n"
        "try:\n    openspiel_game('kuhn_poker', references=(0, 0), reference='value')\n"
        "except ImportError as error:\n    print(error)"
    )
    assert "pip install 'sepo-games[openspiel]'" in subprocess.check_output([sys.executable, "-c", code], text=True)
