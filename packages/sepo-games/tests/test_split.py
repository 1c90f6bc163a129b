"""The split of a pie against hand-made episodes and the published players' known scores."""

from itertools import product

import numpy as np
import pytest
from sepo_games.arrays import to_arrays
from sepo_games.bargaining import conceded
from sepo_games.play import MatchUp, play
from sepo_games.policies import ScriptedPolicy
from sepo_games.rounds import RoundsView
from sepo_games.split import Split
from sepo_games.strategies import Scripted, pure
from sepo_games.testing import check_game
from sepo_games.types import Parsed, Rejected
from sepo_games.vector import play_scripted

GAME = Split()


def view(own=(), other=(), game=GAME, seat=0):
    """From demands, not actions."""
    return RoundsView(seat, tuple(d - 1 for d in own), tuple(d - 1 for d in other), tuple(range(game.num_actions)))


def demands(name, own=(), other=(), game=GAME):
    return game.strategies[name](view(own, other, game), 0.5) + 1


@pytest.mark.parametrize("game", [GAME, Split(preset="paper"), Split(rounds=1), Split(pie=7), Split(pie=3, rounds=2)])
def test_splits_keep_every_promise(game):
    check_game(game)


def test_information_sets_are_the_round_and_the_last_demands():
    assert [len(GAME.infosets(seat)) for seat in (0, 1)] == [1 + 81 * 3] * 2
    assert len(Split(pie=5, rounds=3).infosets(0)) == 1 + 16 * 2


def test_demands_that_fit_are_paid_and_the_rest_is_lost():
    for a, b in product(range(1, 10), repeat=2):
        paid = GAME.entry((a - 1, b - 1)).payoffs
        assert paid == ((a, b) if a + b <= 10 else (0, 0))
    assert np.shape(GAME.repeated_form()["payoffs"]) == (2, 1, 1, 9, 9)


def test_pure_equilibria_are_the_nine_exact_splits_and_mixed_ones_are_the_known_family():
    own = np.array(GAME.repeated_form()["payoffs"][0]).reshape(9, 9)
    nash = [
        (a + 1, b + 1)
        for a, b in product(range(9), repeat=2)
        if own[a, b] == own[:, b].max() and own[b, a] == own[:, a].max()
    ]
    assert nash == [(a, 10 - a) for a in range(1, 10)]
    # Symmetric equilibria on {a, 10 - a}: a with probability a / (10 - a); together they pay 2a.
    for a in range(1, 5):
        mixed = np.zeros(9)
        mixed[a - 1] = a / (10 - a)
        mixed[10 - a - 1] = 1 - a / (10 - a)
        assert (own @ mixed).max() == pytest.approx(mixed @ own @ mixed) == pytest.approx(a)


@pytest.mark.parametrize(
    ("pair", "harm"),
    [
        ((5, 5), (0, 0)),
        ((4, 6), (0, 0)),
        ((4, 5), (1, 1)),
        ((2, 7), (1, 1)),
        ((5, 8), (0, 10)),  # to refuse greed with a fair demand is self-defence
        ((6, 6), (10, 10)),
        ((7, 4), (10, 0)),
        ((9, 9), (10, 10)),
    ],
)
def test_harm_is_what_the_pie_loses_by_a_demand_that_is_not_fair_or_does_not_fill_it(pair, harm):
    entry = GAME.entry((pair[0] - 1, pair[1] - 1))
    assert tuple(sum(entry.harmless[s].players) - sum(entry.expected.players) for s in (0, 1)) == harm
    assert entry.benchmark == (entry.expected, entry.expected)


@pytest.mark.parametrize("pie", [3, 7, 10, 11])
def test_every_breakdown_is_somebodys_and_nobody_is_charged_for_a_demand_of_half_that_was_refused(pie):
    game = Split(pie=pie)
    for joint in product(range(pie - 1), repeat=2):
        entry = game.entry(joint)
        harm = [sum(h.players) - sum(entry.payoffs) for h in entry.harmless]
        assert min(harm) >= 0
        if not game.fits(joint):
            assert [h > 0 for h in harm] == [2 * (action + 1) > pie for action in joint]
            assert max(harm) == pie


@pytest.mark.parametrize(
    ("name", "own", "other", "demand"),
    [
        ("fair", (), (), 5),
        ("balanced", (6,), (9,), 6),
        ("selfish", (), (), 7),
        ("hardball", (), (), 8),
        ("concede", (), (), 6),
        ("concede", (6,), (5,), 5),
        ("concede", (6, 5), (5, 5), 6),
        ("balanced-yielding", (6,), (6,), 6),
        ("balanced-yielding", (6,), (7,), 3),
        ("concede-stepwise", (6,), (5,), 5),
        ("concede-stepwise", (6, 5, 4), (8, 8, 8), 3),
        ("concede-stepwise", (6, 5, 4, 3), (8, 8, 8, 8), 3),
        ("concede-stepwise", (4,), (6,), 6),
        ("tit-for-tat", (), (), 5),
        ("tit-for-tat", (5,), (8,), 2),
        ("tit-for-tat", (5,), (1,), 9),
        ("nash-bargaining", (1,), (9,), 5),
        ("tit-for-tat-concession", (), (), 9),
        ("tit-for-tat-concession", (9,), (9,), 9),
        ("tit-for-tat-concession", (9, 9), (9, 7), 7),
        ("tit-for-tat-concession", (9, 9, 7), (9, 7, 8), 8),
        ("tit-for-tat-concession", (9, 9), (9, 1), 5),
        ("tit-for-tat-concession", (9, 9), (3, 8), 9),
    ],
)
def test_players_demand_what_their_rules_say(name, own, other, demand):
    assert demands(name, own, other) == demand


def test_time_dependent_players_fall_from_nine_to_half_late_or_early():
    # 9 - 4 (t / 3) ^ (1 / beta): Boulware 9, 8.98, 8.47, 5; Conceder 9, 5.79, 5.31, 5.
    path = {name: [demands(name, (9,) * t, (9,) * t) for t in range(4)] for name in ("boulware", "conceder")}
    assert path == {"boulware": [9, 9, 8, 5], "conceder": [9, 6, 5, 5]}
    assert [conceded(t, 5, 1) for t in range(5)] == [0, 0.25, 0.5, 0.75, 1]
    assert conceded(0, 1, 0.2) == 1


def test_random_demands_are_even_from_three_to_seven():
    assert GAME.strategies["random-3-to-7"].probs(view()) == (0, 0, 0.2, 0.2, 0.2, 0.2, 0.2, 0, 0)


def test_demands_scale_with_the_pie():
    game = Split(pie=20)
    assert [demands(n, game=game) for n in ("fair", "balanced", "selfish", "hardball")] == [10, 12, 14, 16]
    assert demands("tit-for-tat", (10,), (13,), game) == 7
    assert game.references == (10, 10)


def published_score(strategy):
    """The published score of a player against the published pools, from its definition: scale 0.6, lambdas 3, 1, 1.8."""
    game = Split(preset="paper")
    played = {}
    pools = game.pools("paper")
    for name in {n for pool in pools.values() for n in pool}:
        match_up = MatchUp(game, 0, name, game.strategies[name], "train", 0, 0)
        (episode,) = play([match_up], ScriptedPolicy(game, strategy), 0)
        played[name] = np.array([entry.payoffs for entry in episode.entries]), [s.action + 1 for s in episode.steps]
    utility = np.mean([played[n][0][:, 0].mean() for n in pools["train"]])
    advantage = np.mean([max(0, np.diff(played[n][0]).mean()) for n in pools["exploiter"]])
    greed = np.mean([d >= 7 for n in pools["collusive"] for d in played[n][1]])
    breakdowns = np.mean([(played[n][0].sum(axis=1) == 0).mean() for n in (*pools["train"], *pools["exploiter"])])
    return advantage, 0.6 * utility - 3 * 0.6 * advantage - greed - 1.8 * breakdowns


def test_the_published_score_of_a_constant_four_and_of_the_best_reply_are_the_known_ones():
    four = Scripted(lambda view: pure(3, 9))
    assert published_score(four) == (0, pytest.approx(0.90))
    assert published_score(GAME.strategies["tit-for-tat"]) == (pytest.approx(3.75), pytest.approx(-5.475))


@pytest.mark.parametrize("own", ["uniform", "concede", "tit-for-tat-concession"])
@pytest.mark.parametrize("other", ["random-3-to-7", "boulware", "tit-for-tat-concession"])
def test_vectorised_play_is_the_same_play(own, other):
    e = np.arange(40)
    fast = play_scripted(GAME, GAME.strategies[own], GAME.strategies[other], e % 2, e, 0 * e, 3)
    match_ups = [MatchUp(GAME, g % 2, other, GAME.strategies[other], "train", g, 0) for g in e.tolist()]
    slow = to_arrays(play(match_ups, ScriptedPolicy(GAME, GAME.strategies[own]), 3))
    for name in ("payoffs", "harmless_payoffs", "mask"):
        np.testing.assert_allclose(fast[name], slow[name], err_msg=name)


def test_prompts_tell_the_rules_and_the_last_round_only():
    system, user = GAME.render(view((5, 6), (9, 6)))
    assert user["content"] == "Last round: you 6, they 6, BREAKDOWN. Now round 3 of 4."
    assert GAME.render(view((4,), (6,)))[1]["content"] == "Last round: you 4, they 6, DEAL. Now round 2 of 4."
    assert "split 10 points" in system["content"]
    assert "from 1 to 9" in system["content"]


@pytest.mark.parametrize(
    "text", ["ACTION: 10", "ACTION: 0", "ACTION: -5", "ACTION: 5.5", "ACTION: 50%", "I take 5", "5 5"]
)
def test_a_number_that_is_no_demand_is_never_made_one(text):
    assert isinstance(GAME.parse(text, view()), Rejected)
    assert GAME.parse("**Action: 5**", view()) == Parsed(4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pie": 2}, "pie = 2"),
        ({"pie": 10.0}, "pie = 10.0"),
        ({"rounds": 0}, "rounds = 0"),
        ({"rounds": True}, "rounds = True"),
        ({"preset": "papre"}, "unknown preset"),
    ],
)
def test_impossible_rules_are_refused_with_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        Split(**options)


@pytest.mark.parametrize("action", [(0, 9), (-1, 0), (0,), (0, 0, 0), (0, None)])
def test_actions_that_are_not_allowed_never_become_a_history(action):
    with pytest.raises(ValueError, match="not allowed"):
        GAME.new_initial_state().child(action)
    with pytest.raises(ValueError, match="after 1 of 1 rounds"):
        Split(rounds=1).new_initial_state().child((0, 0)).child((0, 0))
