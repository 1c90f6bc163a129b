"""Repeated matrix games against closed forms and the dilemma, whose ledger they generalise."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_games import MatchUp, ScriptedPolicy, play, play_scripted, to_arrays
from sepo_games.ipd import Ipd
from sepo_games.matrix import Matrix
from sepo_games.rounds import RoundsView
from sepo_games.testing import check_game

ROCK = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
DILEMMA = np.array([[3, 0], [5, 1]])
RPS = Matrix.of([ROCK, -ROCK], labels=(("ROCK", "PAPER", "SCISSORS"),) * 2, rounds=5)
PD = Matrix.of([DILEMMA, DILEMMA.T], labels=(("COOPERATE", "DEFECT"),) * 2)
WIDE = Matrix.of(
    [[[1, 2, 3], [4, 5, 6]], [[6, 1, 4], [2, 8, 0]]], labels=(("UP", "DOWN"), ("LEFT", "GO RIGHT", "MID")), rounds=3
)
CARTEL = Matrix.of(
    [DILEMMA, DILEMMA.T], outsider_payoffs=[[[-4], [0]], [[0], [1]]], outsiders=("buyers",), benchmark=(1, 1), rounds=4
)


@pytest.mark.parametrize(
    "game",
    [
        Matrix(),
        Matrix(preset="paper").stage(),
        RPS,
        replace(RPS, reference="value", reference_payoffs=(0.0, 0.0)),
        PD,
        WIDE,
        replace(WIDE, names=("Ada", "Bob"), rounds=2),
        CARTEL,
        Matrix.of(np.arange(24).reshape(2, 12, 1), rounds=2),
    ],
)
def test_matrix_games_keep_every_promise(game):
    check_game(game)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 4), st.integers(2, 4), st.integers(1, 3), st.integers(0, 10**6))
def test_games_of_any_shape_keep_what_is_promised_of_their_tables(n, m, rounds, seed):
    rng = np.random.default_rng(seed)
    payoffs = rng.integers(-9, 10, size=(2, n, m)).astype(float)
    game = Matrix.of(payoffs, rounds=rounds)
    assert [len(game.infosets(seat)) for seat in (0, 1)] == [1 + n * m * (rounds - 1)] * 2
    # Security level: max over own actions of the worst that the other can do, by a loop of its own.
    rows = max(min(payoffs[0, a, b] for b in range(m)) for a in range(n))
    columns = max(min(payoffs[1, a, b] for a in range(n)) for b in range(m))
    assert game.references == (columns, rows)
    assert game.zero_sum == bool((payoffs.sum(axis=0) == 0).all())
    for a, b in product(range(n), range(m)):
        entry = game.entry((a, b))
        assert entry.payoffs == (payoffs[0, a, b], payoffs[1, a, b])
        for seat, harmless in enumerate(entry.harmless):
            assert sum(harmless.players) >= sum(entry.payoffs)
            assert harmless.players[seat] >= min(entry.payoffs[seat], game.references[1 - seat])
    np.testing.assert_array_equal(np.array(game.repeated_form()["payoffs"]).reshape(2, n, m), payoffs)


def test_zero_sum_is_computed_and_a_value_needs_it():
    assert RPS.zero_sum
    assert not PD.zero_sum
    assert RPS.references == (-1, -1)  # what pure strategies promise; the value of the game is 0
    with pytest.raises(ValueError, match="only a zero-sum game has a value"):
        replace(PD, reference="value", reference_payoffs=(1.0, 1.0))
    with pytest.raises(ValueError, match="only a zero-sum game has a value"):
        replace(RPS, reference="value", reference_payoffs=(1.0, 1.0))


def test_the_dilemmas_ledger_as_a_matrix_game_is_that_of_the_dilemma():
    dilemma = Ipd()
    for joint in product((0, 1), repeat=2):
        ours, known = PD.entry(joint), dilemma.entry(joint)
        assert ours.payoffs == known.payoffs
        for seat in (0, 1):
            harm = [sum(e.harmless[seat].players) - sum(e.expected.players) for e in (ours, known)]
            assert max(0, harm[0]) == max(0, harm[1])
            assert ours.benchmark[seat] == ours.expected


def test_the_default_is_a_stag_hunt_in_neutral_words():
    game = Matrix()
    stag, hare = game.outcome((0, 0)).players, game.outcome((1, 1)).players
    assert stag == (4, 4)
    assert hare == (2, 2)
    # Both are equilibria: nobody gains by leaving alone; the hare is safe.
    assert game.outcome((1, 0)).players[0] < stag[0]
    assert game.outcome((0, 1)).players[0] < hare[0]
    assert game.references == (2, 2)
    text = game.render(game.infosets(0)[0].view)[0]["content"]
    assert "you A, they A: 4, 4; you A, they B: 0, 3; you B, they A: 3, 0; you B, they B: 2, 2" in text


def test_a_cartel_is_measured_against_the_declared_competitive_action():
    entry = CARTEL.entry((0, 0))
    assert entry.outsiders == (-4,)
    assert entry.benchmark[0].players == (5, 0)
    assert entry.benchmark[0].outsiders == (0,)
    # Totals: (0, 0) 6 - 4 = 2, (1, 0) 5 + 0 = 5; sparing the buyers is also better for oneself.
    assert entry.harmless[0] == CARTEL.outcome((1, 0))
    assert CARTEL.pools("sepo")["collusive"] == ("joint-optimum",)
    assert PD.pools("sepo")["collusive"] == ()


def view_of(game, seat, own, other):
    return RoundsView(seat, tuple(own), tuple(other), tuple(range(game.shape[seat])))


@pytest.mark.parametrize(
    ("name", "own", "other", "action"),
    [
        ("copy", (), (), 0),
        ("copy", (0, 0), (1, 2), 2),
        ("best-reply-to-last", (0,), (0,), 1),  # paper beats rock
        ("best-reply-to-last", (0, 0), (0, 1), 2),
        ("fictitious-play", (0,) * 3, (0, 0, 1), 1),  # paper: 2/3 against rock, 0 against paper
        ("fictitious-play", (0,) * 4, (0, 1, 1, 1), 2),
        ("pure-2", (0,), (1,), 2),
        ("maxmin", (), (), 0),
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_players_of_rock_paper_scissors_do_what_their_names_say(seat, name, own, other, action):
    assert RPS.strategies[name](view_of(RPS, seat, own, other), 0.5) == action


def test_players_of_unequal_seats_use_their_own_tables():
    for name, rows, columns in (("maxmin", 1, 0), ("joint-optimum", 1, 1), ("pure-2", 1, 2)):
        strategy = WIDE.strategies[name]
        assert [strategy(view_of(WIDE, seat, (), ()), 0.5) for seat in (0, 1)] == [rows, columns]
    assert "copy" not in WIDE.strategies
    reply = WIDE.strategies["best-reply-to-last"]
    assert reply(view_of(WIDE, 1, (0,), (0,)), 0.5) == 0  # columns earn 6, 1, 4 from UP
    assert reply(view_of(WIDE, 1, (0,), (1,)), 0.5) == 1  # and 2, 8, 0 from DOWN


def paid(game, own, other, episodes=2):
    players = [MatchUp(game, e % 2, other, game.strategies[other], "train", e, 0) for e in range(episodes)]
    return to_arrays(play(players, ScriptedPolicy(game, game.strategies[own]), 0))


@pytest.mark.parametrize(
    ("own", "other", "total"),
    [
        ("copy", "pure-1", (0 + 7, 5 + 7)),
        ("pure-1", "copy", (5 + 7, 7)),
        ("copy", "copy", (24, 24)),
        ("best-reply-to-last", "copy", (5 + 7, 7)),
        ("joint-optimum", "maxmin", (0, 40)),
    ],
)
def test_scripted_dilemmas_pay_their_closed_form(own, other, total):
    assert paid(PD, own, other)["payoffs"].sum(axis=1) == pytest.approx(np.array([total] * 2))


def test_fictitious_play_learns_the_frequencies_of_a_uniform_player_no_better_than_the_value():
    arrays = paid(replace(RPS, rounds=40), "fictitious-play", "uniform", episodes=100)
    total = arrays["payoffs"][..., 0].sum(axis=1)
    assert abs(total.mean()) < 5 * total.std() / 10


@pytest.mark.parametrize("game", [replace(RPS, rounds=9), WIDE, CARTEL])
@pytest.mark.parametrize("own", ["uniform", "fictitious-play"])
@pytest.mark.parametrize("other", ["uniform", "fictitious-play", "best-reply-to-last"])
def test_vectorised_play_is_the_same_play(game, own, other):
    e = np.arange(40)
    fast = play_scripted(game, game.strategies[own], game.strategies[other], e % 2, e, 0 * e, 3)
    match_ups = [MatchUp(game, g % 2, other, game.strategies[other], "train", g, 0) for g in e.tolist()]
    slow = to_arrays(play(match_ups, ScriptedPolicy(game, game.strategies[own]), 3))
    for name in ("payoffs", "outsiders", "benchmark_payoffs", "harmless_outsiders", "mask"):
        np.testing.assert_allclose(fast[name], slow[name], err_msg=name)


def test_prompts_of_a_symmetric_game_are_the_same_in_both_seats_and_else_name_the_seat():
    for game, same in ((RPS, True), (PD, True), (CARTEL, True), (WIDE, False)):
        prompts = [[game.render(i.view) for i in game.infosets(seat)] for seat in (0, 1)]
        assert (prompts[0] == prompts[1]) == same == game.symmetric
    unfair = replace(CARTEL, outsider_payoffs=(((-4.0,), (0.0,)), ((2.0,), (1.0,))))
    assert not unfair.symmetric
    view = WIDE.view(WIDE.new_initial_state().child((1, 2)), 1)
    system, user = WIDE.render(view)
    assert user["content"] == (
        "You are Column. Choose LEFT, GO RIGHT or MID. Last round: you MID, they DOWN. Now round 2 of 3."
    )
    for a, b in product(range(2), range(3)):
        mine, theirs = (WIDE.payoffs[seat][a][b] for seat in (0, 1))
        assert f"Row {WIDE.words[0][a]}, Column {WIDE.words[1][b]}: {mine:g}, {theirs:g}" in system["content"]
    assert "after you A, they A: 3, 3, -4;" in CARTEL.render(CARTEL.infosets(0)[0].view)[0]["content"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Matrix.of([[1, 2], [3, 4]]), r"shape \(2, 2\) are not allowed"),
        (lambda: Matrix.of(np.zeros((3, 2, 2))), r"shape \(3, 2, 2\) are not allowed"),
        (lambda: Matrix.of(np.zeros((2, 1, 1))), "somebody having a choice"),
        (lambda: Matrix.of([ROCK, DILEMMA]), "inhomogeneous"),
        (lambda: Matrix.of([[[np.nan, 0], [0, 0]], DILEMMA]), "not finite"),
        (lambda: Matrix(payoffs=np.zeros((2, 2, 2))), "arrays to Matrix.of"),
        (lambda: Matrix(payoffs=((("a", 0), (0, 0)), ((0, 0), (0, 0)))), "no array of numbers"),
        (lambda: Matrix(rounds=0), "rounds = 0"),
        (lambda: Matrix(preset="papre"), "unknown preset 'papre'"),
        (lambda: Matrix(labels=(("A", "B"), ("A", "B", "C"))), r"labels for \(2, 3\) actions"),
        (lambda: Matrix(labels=(("A", "b"), ("A", "B"))), "label 'b' is not allowed"),
        (lambda: Matrix(labels=(("YES", "NO"),) * 2), "label 'NO' is not allowed"),
        (lambda: Matrix(labels=(("A", "A"),) * 2), "not different"),
        (lambda: Matrix.of(np.zeros((2, 27, 2))), r"labels for \(26, 2\) actions"),
        (lambda: Matrix(names=("Row", "Row")), "all different"),
        (lambda: Matrix(outsiders=("buyers",)), r"outsider_payoffs of shape \(0,\)"),
        (lambda: replace(CARTEL, benchmark=None), "outsiders need a benchmark"),
        (lambda: replace(CARTEL, benchmark=(0, 2)), r"benchmark \(0, 2\)"),
        (lambda: replace(CARTEL, outsiders=()), "outsider_payoffs of shape"),
        (lambda: Matrix(reference="fare"), "unknown reference 'fare'.*'fair'"),
        (lambda: Matrix(reference="fair"), "others need two payoffs"),
        (lambda: Matrix(reference_payoffs=(1.0, 1.0)), "maxmin is computed"),
        (lambda: Matrix(reference="fair", reference_payoffs=(1.0, float("inf"))), "not finite"),
    ],
)
def test_impossible_rules_are_refused_with_what_is_allowed(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("action", [(0, 3), (2, 0), (-1, 0), (0,), (0, 0, 0), (0, None)])
def test_actions_that_are_not_allowed_never_become_a_history(action):
    with pytest.raises(ValueError, match="not allowed"):
        WIDE.new_initial_state().child(action)
    with pytest.raises(ValueError, match="not allowed"):
        WIDE.stage().new_initial_state().child((0, 0)).child((0, 0))
