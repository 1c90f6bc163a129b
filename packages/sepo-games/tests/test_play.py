"""Play: common random numbers, retries and fallbacks, reading policies, traces."""

import sys
import time

import numpy as np
import pytest
from sepo_games import (
    MatchUp,
    Reply,
    ScriptedPolicy,
    SeatTables,
    TableStrategy,
    get_game,
    play,
    project_policy,
    read_policy,
    sft_rows,
    strategy_policy,
    strategy_table,
    table_policy,
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
    rows = sft_rows(game, "sepo", 500, seed=4)
    assert rows == sft_rows(game, "sepo", 500, seed=4)
    assert rows[:100] == sft_rows(game, "sepo", 100, seed=4)
    assert rows != sft_rows(game, "sepo", 500, seed=5)
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
    module, tossed, asked = sys.modules["sepo_games.play"], set(), set()
    one, many = module.coin, module.coins

    def recorded(*key):
        tossed.add(key)
        return one(*key)

    def all_recorded(keys):
        tossed.update(keys)
        return many(keys)

    class Recorded(ScriptedPolicy):
        def replies(self, requests):
            asked.update(request.key for request in requests)
            return super().replies(requests)

    monkeypatch.setattr(module, "coin", recorded)
    monkeypatch.setattr(module, "coins", all_recorded)
    game = get_game(name)
    plan = [match_up(game, group=g, rollout=r) for g in range(4) for r in range(8)]
    play(plan, Recorded(game, game.strategies["uniform"]), 0)
    assert len(asked) >= 32
    assert len(tossed) >= 4
    assert not tossed & asked
    assert len({len(key) for key in tossed | asked}) == 1


def test_a_game_that_needs_more_coins_a_round_than_are_computed_ahead_plays_the_same(monkeypatch):
    game = get_game("auction-v1")
    plan = [match_up(game, group=g) for g in range(6)]
    policy = ScriptedPolicy(game, game.strategies["uniform"])
    expected = play(plan, policy, 2)
    module = sys.modules["sepo_games.play"]
    monkeypatch.setattr(module, "CHANCES", 1)
    monkeypatch.setattr(module, "MOVES", 0)
    assert play(plan, policy, 2) == expected


def test_requests_carry_the_view_and_the_words_of_the_legal_actions_and_new_keys_when_asked_again():
    class Asked(Says):
        requests = ()

        def replies(self, requests):
            self.requests += tuple(requests)
            return super().replies(requests)

    game, policy = get_game("kuhn-v1"), Asked("hm")
    (episode,) = play([match_up(game, "always-bet", seat=1, group=3, rollout=4)], policy, 9, retries=1)
    facing = [r for r in policy.requests if r.view.facing_bet]
    assert facing
    assert all(r.legal == (("FOLD", "CALL") if r.view.facing_bet else ("PASS", "BET")) for r in policy.requests)
    assert len({r.key for r in policy.requests}) == len(policy.requests) == 2 * len(episode.steps)
    assert {r.key[:3] for r in policy.requests} == {(9, 3, 4)}


def test_an_episodes_ledger_is_that_of_its_steps_and_holds_a_line_for_every_round():
    for name in NAMES:
        game = get_game(name)
        (episode,) = play([match_up(game)], ScriptedPolicy(game, game.strategies["uniform"]), 1)
        assert len(episode.entries) == game.rounds
        assert sum(step.payoffs[0] for step in episode.steps) == to_arrays([episode])["payoffs"][0, :, 0].sum()


def test_a_hand_is_booked_at_the_learners_last_decision_in_it():
    game = get_game("kuhn-v1")
    episodes = play([match_up(game, group=g) for g in range(20)], ScriptedPolicy(game, game.strategies["uniform"]), 1)
    hands = [[s for s in e.steps if s.segment == h] for e in episodes for h in range(6)]
    assert {len(steps) for steps in hands} == {1, 2}
    for steps in hands:
        assert [len(s.entries) for s in steps] == [0] * (len(steps) - 1) + [1]
        assert [s.slot for s in steps] == [2 * steps[0].segment + i for i in range(len(steps))]


@pytest.mark.parametrize(
    ("numbers", "message"), [({"seat": 2}, "has no seat 2"), ({"group": -1}, "group = -1"), ({"rollout": -1}, "-1")]
)
def test_an_impossible_match_up_is_refused(numbers, message):
    with pytest.raises(ValueError, match=message):
        match_up(get_game("ipd-v1"), **numbers)


def test_arrays_have_the_fields_of_an_episode_batch_with_learner_first():
    game = get_game("auction-v1")
    arrays = to_arrays(play([match_up(game, seat=s, group=s) for s in (0, 1)], Says("ACTION: LOW"), 0))
    ledgers = [f"{a}{b}" for a in ("", "benchmark_", "harmless_", "expected_") for b in ("payoffs", "outsiders")]
    rest = ["mask", "learner", "pool", "opponent", "group", "segment", "invalid", "rounds", "outsiders_declared"]
    assert sorted(arrays) == sorted(ledgers + rest)
    assert (arrays["learner"] == 0).all()
    assert arrays["outsiders"].shape == (2, 6, 1)
    equal = play([match_up(get_game("auction-v1"))], Says("ACTION: LOW"), 0)
    assert to_arrays(equal + play([match_up(game)], Says("ACTION: LOW"), 0))["mask"].all()


def test_tables_are_checked_row_by_row():
    game = get_game("kuhn-v1")
    for row, message in [
        ((0.5, 0.6), "information set '0'.*no distribution"),
        ((float("nan"), 1.0), "no distribution"),
        ((-0.5, 1.5), "no distribution"),
        ((1.0,), "shape"),
    ]:
        with pytest.raises(ValueError, match=message):
            TableStrategy(game, {"0": row})
        with pytest.raises(ValueError, match=message):
            SeatTables(game, {0: {"0": row}})
    with pytest.raises(ValueError, match=r"'0p'.*none of that name"):
        SeatTables(game, {0: {"0p": (1, 0)}})
    with pytest.raises(ValueError, match="has no seat 2"):
        SeatTables(game, {2: {}})


def test_a_strategys_move_is_the_action_whose_interval_holds_the_coin():
    game = get_game("kuhn-v1")
    table = {
        key: row for s in (0, 1) for key, row in strategy_policy(game, s, game.strategies["nash"]).as_dict().items()
    }
    view = next(i.view for i in game.infosets(0) if i.key == "0")
    for strategy in (game.strategies["nash"], TableStrategy(game, table), SeatTables(game, {0: {"0": table["0"]}})):
        assert strategy.probs(view) == pytest.approx((2 / 3, 1 / 3))
        assert [strategy(view, coin) for coin in (0.0, 0.66, 0.67, 0.999)] == [0, 0, 1, 1]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_in_the_learners_chair_plays_like_the_strategy_it_was_read_from(name):
    game = get_game(name)
    strategy = game.strategies["nash" if name == "kuhn-v1" else "uniform"]
    rows = {}
    for seat in (0, 1):
        table = strategy_table(game, seat, strategy)
        assert table.shape == (len(game.infosets(seat)), game.num_actions)
        rows |= {infoset.key: row for infoset, row in zip(game.infosets(seat), table, strict=True)}
    plan = [match_up(game, group=g) for g in range(10)]
    played = [play(plan, policy, 0) for policy in (ScriptedPolicy(game, strategy), table_policy(game, rows))]
    assert [e.steps for e in played[0]] == [e.steps for e in played[1]]


def test_scores_of_the_wrong_number_are_refused():
    game = get_game("kuhn-v1")
    with pytest.raises(ValueError, match="5 arrays for 6 prompts"):
        read_policy(game, 0, lambda pairs: [np.log([0.5, 0.5])] * (len(pairs) - 1))
    with pytest.raises(ValueError, match=r"shape \(1,\) for 2 replies"):
        read_policy(game, 0, lambda pairs: [np.log([0.5])] * len(pairs))


def test_play_of_five_thousand_hands_is_quick():
    game = get_game("kuhn-v1")
    plan = [match_up(game, seat=e % 2, group=e) for e in range(834)]
    policy = Says("ACTION: PASS")
    times = []
    for _ in range(3):
        start = time.process_time()
        play(plan, policy, 0)
        times.append(time.process_time() - start)
    assert min(times) < 2.0  # half a second on an idle machine; the bound only catches a return to one coin at a time
