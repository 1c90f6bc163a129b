"""The dilemma's options: an open end, noise, other words for actions, other wordings of the rules."""

import re
from itertools import product

import numpy as np
import pytest
from sepo_games import Ipd, MatchUp, Parsed, Rejected, ScriptedPolicy, get_game, play, to_arrays
from sepo_games.ipd import IpdView
from sepo_games.ipd_strategies import memory_one
from sepo_games.testing import check_game
from sepo_games.vector import play_scripted

OUTCOMES = tuple(product((0, 1), repeat=2))
LENGTHS = (None, 0.875)
NOISES = (0.0, 0.05)
WORDS = (("COOPERATE", "DEFECT"), ("A", "B"))


def exact(game, strategies, measure):
    """Expected measure of a finished history, by walking the tree."""
    total, stack = 0.0, [(game.new_initial_state(), 1.0)]
    while stack:
        state, reach = stack.pop()
        if state.is_terminal():
            total += reach * measure(state)
        elif state.is_chance_node():
            stack += [(state.child(outcome), reach * p) for outcome, p in state.chance_outcomes() if p]
        else:
            rows = [strategy.probs(game.view(state, seat)) for seat, strategy in enumerate(strategies)]
            weights = [(joint, rows[0][joint[0]] * rows[1][joint[1]]) for joint in OUTCOMES]
            stack += [(state.child(joint), reach * p) for joint, p in weights if p]
    return total


def points(seat):
    return lambda state: state.returns()[seat]


def chain_value(game, own, other, seat):
    """The same for memory-one players by the chain of outcomes: survival, then choices, then flips, round by round."""
    e = game.noise

    def cooperates(strategy, view):
        p = strategy.probs(view)[0]
        return p * (1 - e) + (1 - p) * e

    def joint(views):
        p, q = (cooperates(strategy, view) for strategy, view in zip((own, other), views, strict=True))
        return np.array([p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)])

    pay = np.array([game.payoffs(outcome)[seat] for outcome in OUTCOMES])
    now = joint([IpdView(0, (), ()), IpdView(1, (), ())])
    rows = np.array([joint([IpdView(0, (a,), (b,)), IpdView(1, (b,), (a,))]) for a, b in OUTCOMES])
    total, alive = 0.0, 1.0
    for _ in range(game.rounds):
        total += alive * float(now @ pay)
        now, alive = now @ rows, alive * (1 if game.continuation is None else game.continuation)
    return total


@pytest.mark.parametrize("continuation", [None, 0.3, 0.9])
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.4])
def test_the_trees_value_is_that_of_the_chain_of_outcomes(continuation, noise):
    game = Ipd(rounds=3, continuation=continuation, noise=noise, temptation=4.5, sucker=-1)
    rng = np.random.default_rng(1)
    own, other = (memory_one(*rng.uniform(size=5)) for _ in range(2))
    for seat in (0, 1):
        assert exact(game, (own, other), points(seat)) == pytest.approx(chain_value(game, own, other, seat))


def test_an_open_end_lasts_as_many_rounds_as_its_probability_says():
    game = Ipd(rounds=3, continuation=0.5)
    both = (game.strategies["always-cooperate"],) * 2
    assert game.mean_rounds == 1.75
    assert exact(game, both, lambda state: len(state.entries)) == 1.75
    lengths = [exact(game, both, lambda state, n=n: len(state.entries) == n) for n in (1, 2, 3)]
    assert lengths == [0.5, 0.25, 0.25]


def test_tit_for_tat_meets_a_defector_for_a_random_time():
    """0 once, then 1 in each of the L - 1 rounds that follow on average; the defector 5 and then the same."""
    game = Ipd(rounds=10, continuation=0.8)
    rounds = (1 - 0.8**10) / (1 - 0.8)
    pair = (game.strategies["tit-for-tat"], game.strategies["always-defect"])
    assert exact(game, pair, points(0)) == pytest.approx(rounds - 1)
    assert exact(game, pair, points(1)) == pytest.approx(rounds + 4)


def test_how_long_a_game_lasts_depends_on_the_group_alone():
    game = Ipd(rounds=20, continuation=0.8, noise=0.2)
    match_ups = [
        MatchUp(game, seat, "x", game.strategies["uniform"], "train", g, seat) for g in range(300) for seat in (0, 1)
    ]
    played = [
        play(match_ups, ScriptedPolicy(game, game.strategies[name]), seed=4) for name in ("always-defect", "mixed")
    ]
    lengths = np.array([[len(episode.entries) for episode in one] for one in played])
    assert (lengths[0] == lengths[1]).all()
    assert (lengths[0, ::2] == lengths[0, 1::2]).all()
    assert len(set(lengths[0])) > 5
    assert abs(lengths[0].mean() - game.mean_rounds) < 5 * lengths[0].std() / np.sqrt(300)
    assert all(len(step.entries) == 1 for episode in played[0] for step in episode.steps)


@pytest.mark.parametrize(
    "game",
    [
        Ipd(rounds=7, reward=3.3),
        Ipd(rounds=5, continuation=0.7),
        Ipd(rounds=2, noise=0.1),
        Ipd(rounds=2, noise=0.3, continuation=0.4),
    ],
)
def test_the_reference_is_what_lasting_mutual_cooperation_pays_a_declared_round(game):
    both = (game.strategies["always-cooperate"],) * 2
    assert exact(game, both, points(1)) / game.rounds == pytest.approx(game.references[0])
    assert game.references[0] == game.references[1]


def test_the_reference_of_an_announced_game_without_noise_is_the_reward_itself():
    assert Ipd(rounds=7, reward=3.3).references == (3.3, 3.3)


def test_noise_turns_each_choice_by_itself():
    state = Ipd(noise=0.1).new_initial_state().child((0, 1))
    assert state.is_chance_node()
    assert state.current_player() == -1
    assert state.legal_actions(0) == []
    assert dict(state.chance_outcomes()) == pytest.approx({0: 0.81, 1: 0.09, 2: 0.09, 3: 0.01})
    assert [state.child(flip).played[0] for flip in range(4)] == [(0, 1), (1, 1), (0, 0), (1, 0)]


def test_noisy_tit_for_tat_earns_the_mean_of_all_four_outcomes_in_the_long_run():
    """Molander 1985: any noise makes two of them meet every outcome equally often."""
    game = Ipd(rounds=150, noise=0.05)
    players = (game.strategies["tit-for-tat"],) * 2
    n = 1000
    got = play_scripted(game, *players, np.zeros(n, int), np.arange(n), np.zeros(n, int), seed=1)
    means = got["payoffs"][:, 50:, 0].mean(axis=1)
    assert abs(means.mean() - 9 / 4) < 5 * means.std() / np.sqrt(n)
    assert means.std() / np.sqrt(n) < 0.02


@pytest.mark.parametrize("game", [Ipd(continuation=0.7), Ipd(noise=0.2), Ipd(noise=0.2, continuation=0.7)])
@pytest.mark.parametrize(("own", "other"), [("tit-for-two-tats", "mixed"), ("zd-extort-2", "win-stay-lose-shift")])
def test_play_of_many_at_once_is_the_same_play(game, own, other):
    n = 40
    seats, groups, rollouts = np.arange(n) % 2, np.arange(n) // 4, np.arange(n) % 3
    fast = play_scripted(game, game.strategies[own], game.strategies[other], seats, groups, rollouts, seed=6)
    match_ups = [
        MatchUp(game, int(s), other, game.strategies[other], "train", int(g), int(r))
        for s, g, r in zip(seats, groups, rollouts, strict=True)
    ]
    slow = to_arrays(play(match_ups, ScriptedPolicy(game, game.strategies[own]), seed=6))
    assert not slow["mask"].all() or game.continuation is None
    for name in ("payoffs", "expected_payoffs", "harmless_payoffs", "mask"):
        np.testing.assert_allclose(fast[name], slow[name], atol=1e-12)


def test_the_noisy_ledger_pays_what_came_out_and_judges_what_was_chosen():
    """Mean welfare with e = 0.1: 5.78 after (C, C), 4.82 after (D, C); both by hand from 6, 5, 5, 2."""
    game = Ipd(noise=0.1)
    accident = game.entry((0, 0), (1, 0))
    assert accident.payoffs == (5, 0)
    assert sum(accident.expected.players) == pytest.approx(0.81 * 6 + 0.18 * 5 + 0.01 * 2)
    assert accident.harmless == (accident.expected, accident.expected)
    attack = game.entry((1, 0), (0, 0))
    assert attack.payoffs == (3, 3)
    assert sum(attack.harmless[0].players) - sum(attack.expected.players) == pytest.approx(5.78 - 4.82)
    assert attack.harmless[1] == attack.expected
    defence = game.entry((1, 1), (1, 0))
    assert defence.harmless == (defence.expected, defence.expected)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_the_expected_ledger_is_the_mean_of_what_is_paid(noise):
    game = Ipd(noise=noise, rounds=1)
    for chosen in OUTCOMES:
        node = game.new_initial_state().child(chosen)
        ends = [(node.child(f), p) for f, p in node.chance_outcomes()] if noise else [(node, 1)]
        for seat in (0, 1):
            mean = sum(p * end.returns()[seat] for end, p in ends)
            assert mean == pytest.approx(ends[0][0].entries[0].expected.players[seat])


def test_a_player_always_knows_what_it_chose():
    """Perfect recall: an information state string goes with one sequence of own information states and choices."""
    stack = [(Ipd(rounds=3, noise=0.1, continuation=0.5).new_initial_state(), ((), ()))]
    seen = {}
    while stack:
        state, past = stack.pop()
        if state.is_chance_node():
            stack += [(state.child(outcome), past) for outcome, _ in state.chance_outcomes()]
        elif not state.is_terminal():
            names = [state.information_state_string(seat) for seat in (0, 1)]
            for seat in (0, 1):
                assert seen.setdefault((seat, names[seat]), past[seat]) == past[seat]
            for joint in OUTCOMES:
                stack.append((state.child(joint), tuple((*past[i], (names[i], joint[i])) for i in (0, 1))))
    assert len(seen) == 2 * (1 + 8 + 64)


@pytest.mark.parametrize(
    "game",
    [
        Ipd(rounds=4, continuation=0.6),
        Ipd(rounds=2, noise=0.1),
        Ipd(rounds=2, continuation=0.5, noise=0.1, labels=("A", "B"), phrasing=1),
        Ipd(rounds=3, continuation=0.5, history="full", phrasing=2),
        Ipd(labels=("LEFT", "RIGHT"), phrasing=2),
    ],
)
def test_the_dilemma_keeps_its_promises_with_every_option(game):
    check_game(game, episodes=100)


def test_only_an_announced_game_without_noise_has_a_repeated_form():
    assert Ipd().repeated_form()["rounds"] == 8
    for game in (Ipd(continuation=0.9), Ipd(noise=0.1)):
        assert game.repeated_form() is None


def said(game, past=()):
    """System and user text after outcomes, own action first."""
    own, other = ([joint[i] for joint in past] for i in (0, 1))
    return tuple(message["content"] for message in game.render(IpdView(0, tuple(own), tuple(other))))


NUMBER = r"(-?[\d.]*\d)"
FOUR = {
    0: {
        (0, 0): f"both C {NUMBER}, {NUMBER}",
        (1, 1): f"both D {NUMBER}, {NUMBER}",
        (1, 0): f"you D, they C {NUMBER}, {NUMBER}",
        (0, 1): f"you C, they D {NUMBER}, {NUMBER}",
    },
    1: {
        (0, 0): f"Both pick C: {NUMBER}() points each",
        (1, 1): f"Both pick D: {NUMBER}() each",
        (1, 0): f"Only you pick D: you get {NUMBER}, they {NUMBER}",
        (0, 1): f"Only they pick D: you get {NUMBER}, they {NUMBER}",
    },
    2: {joint: f"{'CD'[joint[0]]}-{'CD'[joint[1]]} {NUMBER}, {NUMBER}" for joint in OUTCOMES},
}


@pytest.mark.parametrize("phrasing", [0, 1, 2])
def test_every_phrasing_names_all_outcomes_with_the_games_own_points(phrasing):
    game = Ipd(reward=4.25, temptation=6.5, sucker=-1, punishment=0.125, labels=("C", "D"), phrasing=phrasing)
    for joint, pattern in FOUR[phrasing].items():
        (found,) = re.findall(pattern, said(game)[0])
        own, other = found[0], found[1] or found[0]
        assert (float(own), float(other)) == game.payoffs(joint)
    assert "points" in said(game)[0]
    assert "'ACTION: '" in said(game)[0]


def test_the_three_phrasings_are_these():
    table = "both A 3, 3; both B 1, 1; you B, they A 5, 0; you A, they B 0, 5. "
    assert said(Ipd(labels=("A", "B"), continuation=0.875, noise=0.05), ((0, 1),)) == (
        "Up to 8 rounds; the next comes with probability 0.875. Each round you and a partner both choose A or B at once. "
        f"Choices flip with probability 0.05. Points (you, they): {table}"
        "Score as many points in all rounds as you can. Reply with 'ACTION: ' and your choice.",
        "Last round: you A, they B. Now round 2.",
    )
    assert said(Ipd(phrasing=1))[0] == (
        "A game of 8 rounds. In each, you and another player secretly pick COOPERATE or DEFECT. Both pick COOPERATE: 3 points each. "
        "Both pick DEFECT: 1 each. Only you pick DEFECT: you get 5, they 0. Only they pick DEFECT: you get 0, they 5. "
        "Maximise the sum of your own points. Answer 'ACTION: ' and your pick."
    )
    assert said(Ipd(phrasing=2))[0] == (
        "A game of 8 rounds. You and another player choose at once, COOPERATE or DEFECT. Your choice against theirs pays you, them: "
        "DEFECT-DEFECT 1, 1; DEFECT-COOPERATE 5, 0; COOPERATE-DEFECT 0, 5; COOPERATE-COOPERATE 3, 3. "
        "Only the sum of your points counts. Write 'ACTION: ' and what you choose."
    )


@pytest.mark.parametrize("labels", WORDS)
@pytest.mark.parametrize("phrasing", [0, 1, 2])
def test_prompts_tell_of_an_open_end_and_of_noise_only_where_there_are_some(labels, phrasing):
    for continuation, noise in product(LENGTHS, NOISES):
        game = Ipd(labels=labels, phrasing=phrasing, continuation=continuation, noise=noise)
        rules, turn = said(game, ((0, 1),))
        assert ("probability 0.875" in rules) == (continuation is not None)
        assert ("A game of 8 rounds." in rules) == ("of 8" in turn) == (continuation is None)
        assert ("flip with probability 0.05" in rules) == (noise > 0)
        assert all(word in rules for word in labels)
        assert f"you {labels[0]}, they {labels[1]}" in turn


def test_no_prompt_is_longer_than_was_measured_to_be_under_160_tokens():
    """The most tokens of SmolLM2, chat template included, are 158, in a prompt of 426 characters; most are digits and COOPERATE."""
    options = product(LENGTHS, NOISES, WORDS, range(3))
    for continuation, noise, labels, phrasing in options:
        game = Ipd(continuation=continuation, noise=noise, labels=labels, phrasing=phrasing)
        assert max(sum(map(len, said(game, past))) for past in ((), ((0, 0),), ((1, 1),) * 7)) <= 427


def test_neutral_words_are_what_is_asked_for_read_and_shown():
    game = get_game("ipd-v1", labels=("A", "B"))
    view = IpdView(0, (), ())
    assert [game.reply(view, action) for action in (0, 1)] == ["ACTION: A", "ACTION: B"]
    assert game.parse("action: b", view) == Parsed(1)
    assert game.parse("A", view) == Parsed(0)
    for text in ("ACTION: COOPERATE", "ACTION: A or B", "ACTION: not A", "A game of 8 rounds", "<action>C</action>"):
        assert isinstance(game.parse(text, view), Rejected)
    assert "COOPERATE" not in "".join(said(game, ((0, 1),)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"continuation": 1.0}, "continuation = 1.0.*strictly between 0 and 1"),
        ({"continuation": 0}, "continuation = 0 "),
        ({"continuation": float("nan")}, "continuation = nan"),
        ({"continuation": 0.5, "rounds": 1}, "rounds = 1.*at least 2 rounds"),
        ({"noise": 0.5}, "noise = 0.5.*below 0.5"),
        ({"noise": -0.1}, "noise = -0.1"),
        ({"noise": float("nan")}, "noise = nan"),
        ({"phrasing": 3}, "phrasing = 3.*0 to 2"),
        ({"phrasing": 1.0}, "phrasing = 1.0"),
        ({"phrasing": True}, "phrasing = True"),
        ({"labels": ("A", "A")}, "two different words"),
        ({"labels": ("A",)}, "two different words"),
        ({"labels": ["A", "B"]}, r"labels = \['A', 'B'\].*a tuple"),
        ({"labels": ("A", "b")}, "letters A to Z"),
        ({"labels": ("A", "B C")}, "letters A to Z"),
        ({"labels": ("A", "Ä")}, "letters A to Z"),
        ({"labels": ("A", "")}, "letters A to Z"),
        ({"labels": ("YES", "NO")}, "negation"),
        ({"labels": ("AB")}, "a tuple"),
        ({"labels": (0, 1)}, "letters A to Z"),
    ],
)
def test_options_out_of_range_are_refused_with_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        Ipd(**options)


@pytest.mark.parametrize(
    ("past", "action"),
    [
        ([], 0),
        ([(0, 0)], (0, 0)),
        ([(0, 0)], 4),
        ([(0, 0), 3], 2),
        ([(0, 0), 0], (0, 0)),
        ([(0, 0), 0, 0], (0, 0)),
        ([(0, 0), 0, 0], 1),
    ],
)
def test_nothing_happens_out_of_turn(past, action):
    state = Ipd(noise=0.1, continuation=0.5).new_initial_state()
    for move in past:
        state = state.child(move)
    with pytest.raises(ValueError, match="not allowed"):
        state.child(action)
