"""Leduc poker against OpenSpiel and closed forms."""

import numpy as np
import pyspiel
import pytest
from sepo_games import MatchUp, Rejected, Scripted, ScriptedPolicy, play, play_scripted, to_arrays
from sepo_games.leduc import Leduc
from sepo_games.testing import check_game

GAME, RANKS = Leduc(), Leduc(suits=False)


@pytest.mark.parametrize("game", [GAME, Leduc(preset="paper", hands=2), Leduc(hands=1, suits=False)])
def test_leduc_poker_keeps_every_promise(game):
    check_game(game)


def walk_together(ours, theirs):
    """Every pair of corresponding histories."""
    yield ours, theirs
    if not theirs.is_terminal():
        outcomes = theirs.chance_outcomes() if theirs.is_chance_node() else [(a, 1) for a in theirs.legal_actions()]
        for action, _ in outcomes:
            yield from walk_together(ours.child(action), theirs.child(action))


@pytest.mark.parametrize(
    ("game", "name", "histories", "terminals"),
    [(GAME, "leduc_poker", 9457, 5520), (RANKS, "leduc_poker(suit_isomorphism=True)", 1939, 1116)],
)
def test_the_tree_is_openspiels(game, name, histories, terminals):
    pairs = list(walk_together(game.new_initial_state(), pyspiel.load_game(name).new_initial_state()))
    assert (len(pairs), sum(theirs.is_terminal() for _, theirs in pairs)) == (histories, terminals)
    for ours, theirs in pairs:
        assert ours.is_terminal() == theirs.is_terminal()
        assert ours.current_player() == theirs.current_player()
        if theirs.is_terminal():
            assert ours.returns() == theirs.returns()
        elif theirs.is_chance_node():
            np.testing.assert_allclose(ours.chance_outcomes(), theirs.chance_outcomes())
        else:
            for player in (0, 1):
                assert ours.legal_actions(player) == theirs.legal_actions(player)
                assert ours.information_state_string(player) == theirs.information_state_string(player)


def value(game, strategies, state=None):
    """Expected returns of a pair of strategies, by the tree."""
    state = state or game.new_initial_state()
    if state.is_terminal():
        return np.array(state.returns())
    if state.is_chance_node():
        return sum(p * value(game, strategies, state.child(a)) for a, p in state.chance_outcomes())
    seat = state.current_player()
    probs = strategies[seat].probs(game.view(state, seat))
    return sum(p * value(game, strategies, state.child(a)) for a, p in enumerate(probs) if p)


def test_prompts_list_what_a_seat_can_meet_and_nothing_else():
    for game, number in ((GAME, 468), (RANKS, 144)):
        found = ({}, {})
        stack = [game.new_initial_state()]
        while stack:
            state = stack.pop()
            if state.is_terminal():
                continue
            seat = state.current_player()
            if seat >= 0:
                found[seat][state.information_state_string(seat)] = tuple(state.legal_actions(seat))
            moves = [a for a, _ in state.chance_outcomes()] or state.legal_actions(seat)
            stack += [state.child(action) for action in moves]
        for seat in (0, 1):
            assert len(game.infosets(seat)) == number
            assert {i.key: i.legal for i in game.infosets(seat)} == found[seat]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("calling-station", "calling-station", 0),
        # Every raise is called by either: the stakes are fixed and the showdown is even.
        ("maniac", "calling-station", 0),
        ("maniac", "maniac", 0),
        # Whoever never bets or calls a raise loses the ante to whoever always raises, whatever the seats.
        ("always-fold", "maniac", -1),
        ("maniac", "always-fold", 1),
        ("always-fold", "always-fold", 0),
    ],
)
def test_simple_players_pay_their_closed_form(first, second, expected):
    assert value(RANKS, [RANKS.strategies[first], RANKS.strategies[second]]) == pytest.approx([expected, -expected])


def test_suits_carry_no_value_for_players_that_look_at_ranks():
    for first, second in (("value", "loose"), ("bluffer", "slow-player"), ("tight", "uniform")):
        ours = [value(game, [game.strategies[first], game.strategies[second]])[0] for game in (GAME, RANKS)]
        assert ours[0] == pytest.approx(ours[1])


@pytest.mark.parametrize(("first", "second"), [("value", "maniac"), ("loose", "tight")])
def test_play_pays_the_value_of_the_tree(first, second):
    game = Leduc(hands=20, suits=False)
    players = [game.strategies[name] for name in (first, second)]
    exact = (value(game, players)[0] - value(game, players[::-1])[0]) / 2
    match_ups = [MatchUp(game, e % 2, second, players[1], "train", e, 0) for e in range(150)]
    paid = to_arrays(play(match_ups, ScriptedPolicy(game, players[0]), 0))["payoffs"].sum(axis=1) / 20
    assert paid.sum(axis=1) == pytest.approx(0)
    assert abs(paid[:, 0].mean() - exact) < 5 * paid[:, 0].std() / np.sqrt(len(paid))


@pytest.mark.parametrize(("own", "other"), [("uniform", "bluffer"), ("value", "uniform")])
def test_vectorised_play_is_the_same_play(own, other):
    e = np.arange(60)
    fast = play_scripted(GAME, GAME.strategies[own], GAME.strategies[other], e % 2, e, 0 * e, 3)
    match_ups = [MatchUp(GAME, g % 2, other, GAME.strategies[other], "train", g, 0) for g in e.tolist()]
    slow = to_arrays(play(match_ups, ScriptedPolicy(GAME, GAME.strategies[own]), 3))
    np.testing.assert_allclose(fast["payoffs"], slow["payoffs"])
    np.testing.assert_array_equal(fast["mask"], slow["mask"])


@pytest.mark.parametrize(
    ("cards", "moves", "chips"),
    [
        ((0, 3, 2), "crf", (-1, 1)),
        ((0, 3, 2), "rrf", (-3, 3)),
        ((2, 4, 3), "ccCrrc", (9, -9)),  # a pair of Q beats K: ante 1, two raises of 4
        ((0, 4, 2), "ccCcc", (-1, 1)),
        ((4, 5, 0), "rrcCrrc", (0, 0)),  # equal ranks share
        ((4, 2, 0), "rrcCrrc", (13, -13)),  # ante 1, raises of 2, 2, 4, 4
        ((4, 2, 0), "rcCcrf", (-3, 3)),
    ],
)
def test_hands_pay_what_the_rules_say(cards, moves, chips):
    state = GAME.new_initial_state().child(cards[0]).child(cards[1])
    for move in moves:
        state = state.child(cards[2] if move == "C" else "fcr".index(move))
    assert state.is_terminal()
    assert state.returns() == list(chips)
    assert state.entries[0].payoffs == chips


def test_a_prompt_shows_the_hand_and_hides_the_others_card():
    state = GAME.new_initial_state().child(5).child(0).child(1).child(2).child(1).child(3).child(1)
    system, user = GAME.render(GAME.view(state, 1))
    assert user["content"] == (
        "You act second. Round 1: they CHECK, you RAISE, they CALL. Round 2: they CHECK. Choose CHECK or RAISE. "
        "Public card: Q of spades. Your card: J of hearts."
    )
    other = GAME.new_initial_state().child(4).child(0).child(1).child(2).child(1).child(3).child(1)
    assert GAME.render(GAME.view(other, 1)) == (system, user)
    assert "2 in round 1, 4 in round 2" in system["content"]


def test_checking_and_calling_are_different_words_for_the_same_action():
    free = GAME.infosets(0)[0].view
    facing = next(i.view for i in GAME.infosets(1) if i.view.facing_raise)
    assert GAME.parse("ACTION: CHECK", free).action == GAME.parse("ACTION: CALL", facing).action == 1
    for word, view in (("CALL", free), ("FOLD", free), ("CHECK", facing)):
        verdict = GAME.parse(f"ACTION: {word}", view)
        assert isinstance(verdict, Rejected)
        assert verdict.kind == "illegal"


def test_rank_only_prompts_name_no_suit():
    for infoset in RANKS.infosets(1):
        assert "hearts" not in str(RANKS.render(infoset.view))


@pytest.mark.parametrize(
    ("path", "action"),
    [((), 6), ((1,), 1), ((1, 2), 0), ((1, 2), 3), ((1, 2, 2, 2), 2), ((1, 2, 2, 0), 1), ((1, 2, 1, 1), 2)],
)
def test_actions_that_are_not_allowed_never_become_a_history(path, action):
    state = GAME.new_initial_state()
    for move in path:
        state = state.child(move)
    with pytest.raises(ValueError, match=r"not allowed|cannot be dealt"):
        state.child(action)


def test_impossible_rules_are_refused():
    with pytest.raises(ValueError, match="hands = 0"):
        Leduc(hands=0)
    with pytest.raises(ValueError, match="unknown preset 'papre'"):
        Leduc(preset="papre")


class Overpaid(Leduc):
    """Gives the strategies a player that calls itself Markov but folds where it may not."""

    strategies = {**GAME.strategies, "odd": Scripted(lambda view: (1.0, 0.0, 0.0))}  # noqa: RUF012


def test_a_strategy_that_folds_for_free_is_caught():
    with pytest.raises(AssertionError, match=r"strategy 'odd'.*not legal"):
        check_game(Overpaid())
