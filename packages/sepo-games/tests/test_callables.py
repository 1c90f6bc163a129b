"""Functions play as policies."""

import asyncio

import pytest
from sepo_games import ChatPolicy, MatchUp, TextPolicy, get_game, play

GAME = get_game("ipd-v1", rounds=3)
MATCH_UPS = [MatchUp(GAME, seat, "tit-for-tat", GAME.strategies["tit-for-tat"], "train", 0, seat) for seat in (0, 1)]


def paid(policy):
    return [[step.payoffs for step in episode.steps] for episode in play(MATCH_UPS, policy, 0)]


def test_a_function_of_a_text_sees_rules_and_history():
    seen = []

    def answer(prompt):
        seen.append(prompt)
        return "ACTION: DEFECT" if "they COOPERATE" in prompt else "ACTION: COOPERATE"

    assert paid(TextPolicy(answer)) == [[(3, 3), (5, 0), (1, 1)]] * 2 or len(seen) == 6
    assert all("A game of 3 rounds" in prompt and "\n\n" in prompt for prompt in seen)


def test_an_async_function_plays_the_same_also_inside_a_running_loop():
    async def answer(prompt):
        await asyncio.sleep(0)
        return "ACTION: DEFECT"

    class Answers:
        async def __call__(self, prompt):
            return await answer(prompt)

    expected = paid(TextPolicy(lambda _: "ACTION: DEFECT"))
    assert expected == [[(5, 0), (1, 1), (1, 1)]] * 2
    assert paid(TextPolicy(answer, concurrency=1)) == expected
    assert paid(TextPolicy(Answers())) == expected

    async def in_a_notebook():
        return paid(TextPolicy(answer))

    assert asyncio.run(in_a_notebook()) == expected


def test_a_function_of_chats_answers_a_whole_batch_at_once():
    sizes = []

    def answer(chats):
        sizes.append(len(chats))
        assert all([message["role"] for message in chat] == ["system", "user"] for chat in chats)
        return ["ACTION: COOPERATE"] * len(chats)

    assert paid(ChatPolicy(answer)) == [[(3, 3)] * 3] * 2
    assert sizes == [2, 2, 2]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (ChatPolicy(lambda chats: ["ACTION: DEFECT"]), "one text for each is needed"),
        (ChatPolicy(lambda chats: "ACTION: DEFECT"), "one text for each is needed"),
        (ChatPolicy(lambda chats: [None, None]), "answered None: a text is needed"),
        (TextPolicy(lambda prompt: 1), "answered 1: a text is needed"),
    ],
)
def test_anything_but_one_text_for_each_question_is_refused(policy, message):
    with pytest.raises(ValueError, match=message):
        play(MATCH_UPS, policy, 0)


def test_an_error_of_the_function_is_the_callers():
    async def answer(prompt):
        raise TimeoutError("the server is silent")

    with pytest.raises(TimeoutError, match="silent"):
        play(MATCH_UPS, TextPolicy(answer), 0)
    with pytest.raises(ValueError, match="concurrency = 0"):
        TextPolicy(answer, concurrency=0)
