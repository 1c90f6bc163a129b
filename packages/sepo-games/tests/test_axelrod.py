"""Our strategies play like Axelrod's, and Axelrod's play here as they do at home."""

from itertools import product

import numpy as np
import pytest
from sepo_games import Ipd, MatchUp, Scripted, ScriptedPolicy, play
from sepo_games.adapters.axelrod import REFUSED, axelrod_strategy
from sepo_games.ipd import IpdView

axl = pytest.importorskip("axelrod")

LONG = Ipd(rounds=200)
RNG = np.random.default_rng(5)
FIXED = RNG.integers(0, 2, 200).tolist()
SCRIPT = Scripted(lambda view: [float(a == FIXED[len(view.own)]) for a in (0, 1)], markov=False)
PAIRS = {
    "always-cooperate": ("Cooperator", {}),
    "always-defect": ("Defector", {}),
    "tit-for-tat": ("TitForTat", {}),
    "grim-trigger": ("Grudger", {}),
    "alternating-defect": ("Cycler", {"cycle": "DC"}),
    "win-stay-lose-shift": ("WinStayLoseShift", {}),
    "tit-for-two-tats": ("TitFor2Tats", {}),
    "suspicious-tit-for-tat": ("SuspiciousTitForTat", {}),
}


def history(game, own, other):
    """Both players' moves of one scripted episode."""
    (episode,) = play([MatchUp(game, 0, "rival", other, "train", 0, 0)], ScriptedPolicy(game, own), seed=0)
    joints = {game.payoffs(joint): joint for joint in product((0, 1), repeat=2)}
    return [joints[entry.payoffs] for entry in episode.entries]


def match(game, *players):
    """The same of Axelrod's own match."""
    table = axl.Game(r=game.reward, s=game.sucker, t=game.temptation, p=game.punishment)
    return [(a.value, b.value) for a, b in axl.Match(players, turns=game.rounds, game=table).play()]


@pytest.mark.parametrize("name", list(PAIRS))
@pytest.mark.parametrize("rival", ["Alternator", "Prober", "TitForTat", "moves"])
def test_our_strategy_moves_like_axelrods_for_200_rounds(name, rival):
    if rival == "moves":
        other, theirs = SCRIPT, axl.MockPlayer([axl.Action(move) for move in FIXED])
    else:
        other, theirs = axelrod_strategy(rival, LONG), getattr(axl, rival)()
    theirs_name, options = PAIRS[name]
    expected = match(LONG, getattr(axl, theirs_name)(**options), theirs)
    assert len(expected) == 200
    assert history(LONG, LONG.strategies[name], other) == expected


def deterministic():
    """Every strategy that is a function of the history and quick."""
    players = [cls() for cls in axl.strategies]
    return [
        player for player in players if not any(axl.Classifiers[name](player) for name in (*REFUSED, "long_run_time"))
    ]


def test_every_deterministic_strategy_plays_here_as_in_axelrods_match():
    game = Ipd(rounds=30, reward=3.5, temptation=6, sucker=-1, punishment=0.5)
    players = deterministic()
    assert len(players) > 140
    for player in players:
        ours = axelrod_strategy(type(player).__name__, game)
        rival = axl.MockPlayer([axl.Action(move) for move in FIXED[:30]])
        assert history(game, ours, SCRIPT) == match(game, player, rival), player.name


def test_strategies_that_axelrod_says_remember_one_round_are_markov_and_no_others():
    game = Ipd(rounds=6)
    for player in deterministic():
        ours = axelrod_strategy(type(player).__name__, game)
        assert ours.markov == (axl.Classifiers["memory_depth"](player) <= 1)
        if ours.markov:
            moves = {}
            for joints in product(product((0, 1), repeat=2), repeat=3):
                own, other = zip(*joints, strict=True)
                moves.setdefault(joints[-1], set()).add(tuple(ours.probs(IpdView(0, own, other))))
            assert all(len(found) == 1 for found in moves.values()), player.name


def test_moves_that_came_out_otherwise_are_what_the_strategy_sees():
    contrite = axelrod_strategy("ContriteTitForTat", Ipd(noise=0.1))
    assert contrite.probs(IpdView(0, (0, 1), (0, 0))) == (1, 0)
    # Its own defection was an accident, so it bears the answer and goes on cooperating; tit for tat does not.
    assert contrite.probs(IpdView(0, (0, 1, 0), (0, 0, 1))) == (1, 0)
    assert axelrod_strategy("TitForTat", Ipd(noise=0.1)).probs(IpdView(0, (0, 1, 0), (0, 0, 1))) == (0, 1)


def test_a_strategy_learns_the_length_only_where_it_is_announced():
    early = IpdView(0, (0,) * 5, (0,) * 5)
    late = IpdView(0, (0,) * 7, (0,) * 7)
    announced = axelrod_strategy("BackStabber", Ipd())
    assert announced.probs(early) == (1, 0)
    assert announced.probs(late) == (0, 1)
    assert axelrod_strategy("BackStabber", Ipd(continuation=0.9)).probs(late) == (1, 0)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("Random", {}, r"Random draws random numbers of its own \(stochastic\)"),
        ("FirstByJoss", {}, "stochastic"),
        ("Darwin", {}, "reads its opponent.s program .inspects_source."),
        ("TitForTaat", {}, "unknown Axelrod strategy 'TitForTaat'.*Did you mean 'TitForTat'"),
        ("TitForTat", {"memory": 2}, "does not take the options memory"),
    ],
)
def test_strategies_that_cannot_be_opponents_are_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        axelrod_strategy(name, Ipd(), **options)
