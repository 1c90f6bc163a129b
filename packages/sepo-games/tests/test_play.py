"""Play: common random numbers, retries and fallbacks, reading policies, traces."""

import sys

import numpy as np
import pytest
from sepo_games import (
    MatchUp,
    Reply,
    ScriptedPolicy,
    SeatTables,
    get_game,
    play,
    project_policy,
    read_policy,
    sft_rows,
    strategy_policy,
    to_arrays,
)

NAMES = ["kuhn-v1", "ipd-v1", "auction-v1"]


class Says:
    """Gives the same texts in turn to every question."""

    def __init__(self, *texts):
        self.texts, self.asked = texts, 0

    def replies(self, requests):
        text = self.texts[min(self.asked, len(self.texts) - 1)]
        self.asked += 1
        return [Reply(text) for _ in requests]


def match_up(game, opponent="uniform", group=0, rollout=0, seat=0):
    return MatchUp(game, seat, opponent, game.strategies[opponent], "train", group, rollout)


@pytest.mark.parametrize("name", NAMES)
def test_every_rollout_of_a_group_meets_the_same_deals_ties_and_opponent_coins(name):
    game = get_game(name)
    episodes = play([match_up(game, rollout=r) for r in range(20)], ScriptedPolicy(game, game.strategies["uniform"]), 3)
    seen = {}
    for episode in episodes:
        for step in episode.steps:
            if name == "kuhn-v1":
                seen.setdefault((step.segment, step.seat), set()).add(step.key[0])
            elif name == "auction-v1":
                seen.setdefault(step.round, set()).add(step.key[-2:])
            else:
                theirs = "C" if step.payoffs in ((3, 3), (5, 0)) else "D"
                seen.setdefault(step.round, set()).add(theirs)
    assert all(len(values) == 1 for values in seen.values())
    assert len({v for values in seen.values() for v in values}) > 1


def test_other_groups_meet_other_deals():
    game = get_game("kuhn-v1")
    policy = ScriptedPolicy(game, game.strategies["uniform"])
    cards = {tuple(s.key[0] for s in e.steps) for e in play([match_up(game, group=g) for g in range(10)], policy, 0)}
    assert len(cards) > 5


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_episodes_in_any_company(name):
    game = get_game(name)
    policy = ScriptedPolicy(game, game.strategies["uniform"])
    together = play([match_up(game, group=g, rollout=g) for g in range(6)], policy, 5)
    alone = [play([match_up(game, group=g, rollout=g)], policy, 5)[0] for g in range(6)]
    assert [e.steps for e in together] == [e.steps for e in alone]
    assert [e.steps for e in play([match_up(game)], policy, 6)] != [alone[0].steps]


def test_a_player_that_is_always_rejected_plays_the_fallback_and_every_step_is_invalid():
    game = get_game("kuhn-v1")
    (episode,) = play([match_up(game)], Says("hm"), 0, retries=2)
    for step in episode.steps:
        assert not step.valid
        assert step.action == 0
        assert [r.kind for r in step.rejections] == ["unparsed"] * 3
        assert len(step.replies) == 3


def test_a_reply_that_is_right_at_the_second_time_is_played_and_both_are_kept():
    game = get_game("ipd-v1", "paper")
    (episode,) = play([match_up(game)], Says("no idea", "ACTION: DEFECT"), 0)
    first = episode.steps[0]
    assert first.valid
    assert first.action == 1
    assert [r.text for r in first.replies] == ["no idea", "ACTION: DEFECT"]
    assert len(first.rejections) == 1


def test_an_invalid_first_reply_still_gives_a_whole_result_for_both_players():
    game = get_game("auction-v1")
    arrays = to_arrays(play([match_up(game)], Says(""), 0))
    assert arrays["invalid"].all()
    assert arrays["payoffs"].shape == (1, 6, 2)
    assert (arrays["outsiders"].sum(axis=1) > 0).all()


def test_a_policy_that_answers_too_few_questions_is_refused():
    class Short:
        def replies(self, requests):
            return []

    with pytest.raises(ValueError, match="0 replies to 1 requests"):
        play([match_up(get_game("ipd-v1"))], Short(), 0)


def test_seats_alternate_between_hands_and_the_arrays_put_the_learner_first():
    game = get_game("kuhn-v1")
    episodes = play(
        [match_up(game, "always-pass", seat=s) for s in (0, 1)], ScriptedPolicy(game, game.strategies["always-bet"]), 0
    )
    assert [[step.seat for step in e.steps] for e in episodes] == [[0, 1] * 3, [1, 0] * 3]
    assert (to_arrays(episodes)["payoffs"].sum(axis=1)[:, 0] == 6).all()


def test_reading_a_policy_counts_retries_and_the_fallback():
    game = get_game("kuhn-v1")
    said = {"PASS": 0.3, "BET": 0.5, "FOLD": 0.1, "CALL": 0.9}
    read = read_policy(
        game, 0, lambda pairs: [np.log([said[r.split()[-1]] for r in replies]) for _, replies in pairs], 1
    )
    first = read.probs[read.keys.index("0")]
    assert first == pytest.approx([0.3 * 1.2 + 0.2**2, 0.5 * 1.2])
    assert read.mass[0] == pytest.approx(0.8)
    assert read.probs.sum(axis=1) == pytest.approx(1)


def test_replies_that_are_likelier_than_certain_are_refused():
    with pytest.raises(ValueError, match=r"information set '0'.*not at most 1"):
        read_policy(get_game("kuhn-v1"), 0, lambda pairs: [np.log([0.9, 0.9]) for _ in pairs])
    with pytest.raises(ValueError, match="not at most 1"):
        read_policy(get_game("kuhn-v1"), 0, lambda pairs: [np.array([np.nan, 0.0]) for _ in pairs])


@pytest.mark.parametrize("name", NAMES)
def test_a_table_of_a_strategy_plays_like_the_strategy(name):
    game = get_game(name)
    strategy = game.strategies["uniform" if name != "kuhn-v1" else "nash"]
    table = SeatTables(game, {seat: strategy_policy(game, seat, strategy).as_dict() for seat in (0, 1)})
    match_ups = [match_up(game, group=g) for g in range(10)]
    played = [play(match_ups, ScriptedPolicy(game, s), 0) for s in (strategy, table)]
    assert [e.steps for e in played[0]] == [e.steps for e in played[1]]


def test_a_strategy_with_a_longer_memory_has_no_table():
    game = get_game("ipd-v1")
    with pytest.raises(ValueError, match="depends on more of the history"):
        strategy_policy(game, 0, game.strategies["grim-trigger"])


@pytest.mark.parametrize("name", NAMES)
def test_traces_are_legal_repeatable_and_of_the_asked_number(name):
    game = get_game(name)
    rows = list(sft_rows(game, "sepo", 500, seed=4))
    assert rows == list(sft_rows(game, "sepo", 500, seed=4))
    assert rows != list(sft_rows(game, "sepo", 500, seed=5))
    assert len(rows) == 500
    views = {i.key: i.view for seat in (0, 1) for i in game.infosets(seat)}
    assert all(game.parse(row.reply, views[row.key]).action == row.action for row in rows)
    assert {row.strategy for row in rows} == {n for n, _ in game.sft_mixture("sepo")}


def test_a_full_history_prompt_shows_every_round_and_is_projected_onto_the_last():
    game = get_game("ipd-v1", history="full")
    policy = ScriptedPolicy(game, game.strategies["tit-for-tat"])
    (episode,) = play([match_up(game, "alternating-defect")], policy, 0)
    assert episode.steps[2].messages[1]["content"] == (
        "Rounds so far: you COOPERATE, they DEFECT; you DEFECT, they COOPERATE. Now round 3 of 8."
    )
    assert episode.steps[2].key == "3:DC"
    assert not game.enumerable
    for table in project_policy(game, policy, 20, 0):
        rows = table.as_dict()
        assert rows["3:CC"][0] > 0.95
        assert rows["3:CD"][0] < 0.1
        assert rows["1:"][0] > 0.95


def test_an_option_that_a_game_does_not_have_is_refused():
    with pytest.raises(ValueError, match="kuhn-v1 does not take the options history"):
        get_game("kuhn-v1", history="full")
    with pytest.raises(ValueError, match=r"unknown history 'ful'.*'full'"):
        get_game("ipd-v1", history="ful")


@pytest.mark.parametrize("name", NAMES)
def test_no_question_is_answered_with_the_coin_of_a_deal_or_an_opponent(name, monkeypatch):
    module, coins, asked = sys.modules["sepo_games.play"], set(), set()
    real = module.coin

    def recorded(*key):
        coins.add(key)
        return real(*key)

    class Recorded(ScriptedPolicy):
        def replies(self, requests):
            asked.update(request.key for request in requests)
            return super().replies(requests)

    monkeypatch.setattr(module, "coin", recorded)
    game = get_game(name)
    plan = [match_up(game, group=g, rollout=r) for g in range(4) for r in range(8)]
    play(plan, Recorded(game, game.strategies["uniform"]), 0)
    assert len(asked) >= 32
    assert len(coins) >= 4
    assert not coins & asked
