"""How often the dilemma's scripted players cooperate, and what they earn, against closed forms and published numbers."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sepo_games import Ipd, MatchUp, ScriptedPolicy, get_game, play
from sepo_games.adapters.axelrod import axelrod_strategy
from sepo_games.ipd import IpdView
from sepo_games.ipd_strategies import ipd_strategies, memory_one, zero_determinant

OUTCOMES = ((0, 0), (0, 1), (1, 0), (1, 1))


def four(strategy):
    """Probabilities of cooperation after CC, CD, DC, DD, own action first, and in the first round."""
    views = [*(IpdView(0, (own,), (other,)) for own, other in OUTCOMES), IpdView(0, (), ())]
    return np.array([strategy.probs(view)[0] for view in views])


def chain(own, other):
    """`(4, 4)` transition matrix of outcomes, and the distribution of the first one."""
    p, q = four(own), four(other)[[0, 2, 1, 3, 4]]
    rows = np.stack([p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)], axis=1)
    return rows[:4], rows[4]


def stationary(own, other):
    """The long-run distribution of outcomes of two players whose chain has one."""
    matrix, _ = chain(own, other)
    system = np.vstack([matrix.T - np.eye(4), np.ones(4)])
    return np.linalg.lstsq(system, [0, 0, 0, 0, 1], rcond=None)[0]


def long_run(game, own, other):
    """Mean payoffs (own, other) a round in the long run."""
    return stationary(own, other) @ [game.payoffs(joint) for joint in OUTCOMES]


def cooperation(own, other, episodes=1):
    """`(episodes,)` rates at which `own` cooperates in eight rounds of play."""
    game = Ipd()
    match_ups = [MatchUp(game, e % 2, "other", other, "train", e, 0) for e in range(episodes)]
    played = play(match_ups, ScriptedPolicy(game, own), seed=3)
    return np.mean([[step.action == 0 for step in episode.steps] for episode in played], axis=1)


ALL = get_game("ipd-v1").strategies


@pytest.mark.parametrize(
    ("own", "other", "rate"),
    [
        ("always-cooperate", "always-defect", 1),
        ("always-defect", "always-cooperate", 0),
        ("alternating-defect", "always-cooperate", 1 / 2),
        ("tit-for-tat", "always-defect", 1 / 8),
        ("tit-for-tat", "alternating-defect", 1 / 2),
        ("grim-trigger", "alternating-defect", 1 / 8),
        ("grim-trigger", "tit-for-tat", 1),
        ("win-stay-lose-shift", "always-defect", 1 / 2),
        ("win-stay-lose-shift", "always-cooperate", 1),
        ("win-stay-lose-shift", "alternating-defect", 1 / 2),
        ("tit-for-two-tats", "always-defect", 2 / 8),
        ("tit-for-two-tats", "alternating-defect", 1),
        ("suspicious-tit-for-tat", "tit-for-tat", 1 / 2),
        ("suspicious-tit-for-tat", "suspicious-tit-for-tat", 0),
        ("suspicious-tit-for-tat", "tit-for-two-tats", 7 / 8),
        ("zd-generous", "always-cooperate", 1),
    ],
)
def test_deterministic_play_cooperates_as_often_as_it_must(own, other, rate):
    assert cooperation(ALL[own], ALL[other]) == rate


def extorting_an_angel(rounds=8):
    """Cooperation of (8/9, 1/2, 1/3, 0) against a cooperator: x' = x 8/9 + (1 - x) / 3 from 1, so x_t = 3/4 + (5/9)^t / 4."""
    return np.mean([3 / 4 + (5 / 9) ** t / 4 for t in range(rounds)])


@pytest.mark.parametrize(
    ("own", "other", "rate"),
    [
        ("generous-tit-for-tat", "always-defect", (1 + 7 / 4) / 8),
        ("generous-tit-for-tat", "alternating-defect", (1 + 4 / 4 + 3) / 8),
        ("mixed", "always-defect", 1 / 2),
        ("uniform", "tit-for-tat", 1 / 2),
        ("tit-for-tat", "uniform", (1 + 7 / 2) / 8),
        ("tit-for-two-tats", "uniform", (2 + 6 * 3 / 4) / 8),
        ("win-stay-lose-shift", "uniform", (1 + 7 / 2) / 8),
        ("zd-extort-2", "always-cooperate", extorting_an_angel()),
        ("zd-extort-2", "always-defect", (1 + 1 / 2 + 1 / 4 + 1 / 8 + 1 / 16 + 1 / 32 + 1 / 64 + 1 / 128) / 8),
        ("zd-generous", "always-defect", (1 + sum(2 / 9 - (-1 / 8) ** t * (2 / 9 - 1) for t in range(1, 8))) / 8),
    ],
)
def test_random_play_cooperates_as_often_as_its_closed_form(own, other, rate):
    rates = cooperation(ALL[own], ALL[other], episodes=1000)
    assert abs(rates.mean() - rate) < 5 * rates.std() / np.sqrt(len(rates))


def test_payoffs_of_play_are_those_of_the_chain_of_outcomes():
    game, own, other = Ipd(rounds=100), memory_one(0.9, 0.2, 0.6, 0.3, 0.5), ALL["zd-extort-2"]
    matrix, now = chain(own, other)
    expected = np.zeros(2)
    for _ in range(game.rounds):
        expected += now @ [game.payoffs(joint) for joint in OUTCOMES] / game.rounds
        now = now @ matrix
    match_ups = [MatchUp(game, g % 2, "other", other, "train", g, 0) for g in range(100)]
    played = play(match_ups, ScriptedPolicy(game, own), seed=0)
    means = np.array([np.mean([step.payoffs for step in episode.steps], axis=0) for episode in played])
    assert (np.abs(means.mean(axis=0) - expected) < 5 * means.std(axis=0) / np.sqrt(len(means))).all()


def test_zero_determinant_players_of_the_usual_table_are_the_published_ones():
    assert four(ALL["zd-extort-2"]) == pytest.approx([8 / 9, 1 / 2, 1 / 3, 0, 1])
    assert four(ALL["zd-generous"]) == pytest.approx([1, 1 / 8, 1, 1 / 4, 1])


probabilities = st.floats(0.02, 0.98)
opponents = st.builds(memory_one, *[probabilities] * 5)


@st.composite
def dilemmas(draw):
    """T > R > P > S with 2 R > T + S, not close to the edge."""
    sucker = draw(st.floats(-3, 3))
    punishment = sucker + draw(st.floats(0.2, 3))
    reward = punishment + draw(st.floats(0.2, 3))
    temptation = reward + draw(st.floats(0.1, 0.9)) * (reward - sucker)
    return Ipd(reward=reward, temptation=temptation, sucker=sucker, punishment=punishment)


@given(dilemmas(), opponents)
def test_the_extortioner_gains_twice_what_its_opponent_gains_over_mutual_defection(game, opponent):
    own, other = long_run(game, game.strategies["zd-extort-2"], opponent)
    assert own - game.punishment == pytest.approx(2 * (other - game.punishment), abs=1e-6)


@given(dilemmas(), opponents)
def test_the_generous_player_bears_twice_what_its_opponent_loses_under_mutual_cooperation(game, opponent):
    own, other = long_run(game, game.strategies["zd-generous"], opponent)
    assert game.reward - own == pytest.approx(2 * (game.reward - other), abs=1e-6)


@given(dilemmas(), opponents, st.floats(0, 1), st.floats(0, 0.9), st.floats(0.1, 1))
def test_every_zero_determinant_player_holds_its_line(game, opponent, place, slope, share):
    baseline = game.punishment + place * (game.reward - game.punishment)
    table = (game.temptation, game.reward, game.punishment, game.sucker)
    player = zero_determinant(*table, baseline, slope, share)
    own, other = long_run(game, player, opponent)
    assert slope * (own - baseline) == pytest.approx(other - baseline, abs=1e-6)


def test_the_extortioner_earns_the_published_share_of_a_cooperator():
    assert long_run(Ipd(), ALL["zd-extort-2"], ALL["always-cooperate"]) == pytest.approx([3.5, 2.25])


def test_players_that_say_they_look_at_the_last_outcome_only_do():
    views = [IpdView(0, own, other) for own in np.ndindex(2, 2, 2) for other in np.ndindex(2, 2, 2)]
    long_memory = set()
    for name, strategy in ALL.items():
        rows = {}
        for view in views:
            rows.setdefault((view.own[-1], view.other[-1]), set()).add(tuple(strategy.probs(view)))
        if any(len(found) > 1 for found in rows.values()):
            long_memory.add(name)
    assert long_memory == {name for name, strategy in ALL.items() if not strategy.markov}
    assert long_memory == {"grim-trigger", "tit-for-two-tats"}


@pytest.mark.parametrize("name", ["grim-trigger", "tit-for-two-tats"])
def test_what_a_player_remembers_decides_its_move_and_follows_from_the_round_before(name):
    strategy = ALL[name]
    moves, next_memory = {}, {}
    for length in range(5):
        for other in np.ndindex(*[2] * length):
            memory = strategy.memory(IpdView(0, (0,) * length, other))
            moves.setdefault(memory, set()).add(tuple(strategy.probs(IpdView(0, (0,) * length, other))))
            for move in (0, 1):
                after = strategy.memory(IpdView(0, (0,) * (length + 1), (*other, move)))
                next_memory.setdefault((memory, move), set()).add(after)
    assert all(len(found) == 1 for found in (*moves.values(), *next_memory.values()))


def test_held_out_players_are_in_no_pool_and_no_mixture():
    game = get_game("ipd-v1")
    assert len(game.held_out) == 5
    assert set(game.held_out) <= set(game.strategies)
    for preset in ("sepo", "paper"):
        trained = {name for pool in game.pools(preset).values() for name in pool}
        trained |= {name for name, _ in game.sft_mixture(preset)}
        assert not trained & set(game.held_out)


def test_zero_determinant_players_follow_the_games_own_points():
    scaled = ipd_strategies(50, 30, 10, 0)
    for name in ("zd-extort-2", "zd-generous"):
        assert four(scaled[name]) == pytest.approx(four(ALL[name]))
        assert four(Ipd(temptation=4).strategies[name]) != pytest.approx(four(ALL[name]), abs=1e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: memory_one(1, 0, 1.2, 0, 1), "dc = 1.2 is no probability"),
        (lambda: memory_one(1, 0, 1, 0, float("nan")), "first = nan is no probability"),
        (lambda: zero_determinant(5, 3, 1, 0, 0.5, 0.5, 1), "baseline = 0.5.*from P = 1 to R = 3"),
        (lambda: zero_determinant(5, 3, 1, 0, 1, 1.0, 1), "slope = 1.0.*below 1"),
        (lambda: zero_determinant(5, 3, 1, 0, 1, 0.5, 0), "share = 0.*above 0"),
        (lambda: zero_determinant(5, 3, 1, 0, float("nan"), 0.5, 1), "baseline = nan"),
    ],
)
def test_impossible_players_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_without_axelrod_its_strategies_say_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "axelrod", None)
    with pytest.raises(ImportError, match=r"pip install 'sepo-games\[axelrod\]'"):
        axelrod_strategy("TitForTat", Ipd())
