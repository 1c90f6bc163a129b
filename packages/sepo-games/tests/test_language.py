"""Prompts say what they must, and replies are read strictly."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sepo_games import Parsed, Rejected, get_game

GAMES = [get_game(name, preset) for name in ("kuhn-v1", "ipd-v1", "auction-v1") for preset in ("sepo", "paper")]
KUHN, IPD = GAMES[0], GAMES[2]
OPEN = next(i.view for i in KUHN.infosets(0) if i.key == "0")
FACING = next(i.view for i in KUHN.infosets(1) if i.key == "2b")


def every_infoset():
    return [(game, i) for game in GAMES for seat in (0, 1) for i in game.infosets(seat)]


def test_every_legal_reply_round_trips_in_any_dress():
    for game, infoset in every_infoset():
        for action in infoset.legal:
            word = game.label(infoset.view, action)
            for text in (
                game.reply(infoset.view, action),
                word,
                word.lower(),
                f"**{word}**.",
                f"I think so.\n\naction: {word.title()}!",
                f"**ACTION:** {word}",
                f"<action> {word} </action>",
                f"<think>ACTION: nonsense</think>\nACTION: {word}",
                f"ACTION: nonsense\n</think>\n\nACTION: {word}",
                f"<thinking>well</thinking> <THINK>hm</THINK>\nACTION: {word}",
                f"__ACTION: {word}__",
                f"_{word}_",
                f"> `ACTION: {word}`",
                f"ACTION: {word}\n<think>was that right",
            ):
                assert game.parse(text, infoset.view) == Parsed(action), text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("I would bet here.", "unparsed"),
        ("betting", "unparsed"),
        ("BET PASS", "unparsed"),
        ("ACTION: BETTER", "unparsed"),
        ("ACTION: BET the farm", "unparsed"),
        ("ACTION:", "unparsed"),
        ("ACTION: BET\nor maybe not", "unparsed"),
        ("<action>BET", "unparsed"),
        ("ACTION: BET or PASS", "ambiguous"),
        ("ACTION: PASS\nACTION: BET", "ambiguous"),
        ("<action>BET</action> <action>PASS</action>", "ambiguous"),
        ("<action>BET</action>\nACTION: PASS", "ambiguous"),
        ("<action>BET</action> <action>BET</action>", "ambiguous"),
        ("<action>not BET</action>", "negated"),
        ("ACTION: NEVER_BET", "unparsed"),
        ("ACTION: PASS\nI would rather BET", "unparsed"),
        ("ACTION: pa\u017f\u017f", "unparsed"),
        ("ACTION: BET\n</think>", "thinking_only"),
        ("ACTION: not BET", "negated"),
        ("ACTION: don't BET", "negated"),
        ("ACTION: don\u2019t BET", "negated"),
        ("ACTION: CALL", "illegal"),
        ("FOLD", "illegal"),
        ("<think>ACTION: BET</think>", "thinking_only"),
        ("<think>well, ACTION: BET", "thinking_only"),
        ("x" * 30_000 + "\nACTION: BET", "unparsed"),
    ],
)
def test_everything_else_is_rejected_with_a_kind(text, kind):
    verdict = KUHN.parse(text, OPEN)
    assert isinstance(verdict, Rejected)
    assert verdict.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "<action>" * 2_490,
        "</think>" + "<think>" * 2_800,
        "<think>" * 2_800,
        "<action>BET</action>\n" * 900,
        "ACTION:\n" * 2_400,
        "*" * 19_990,
        "_" * 19_990,
        "a_" * 9_990,
        "action" + ":" * 19_990,
        "BET" * 6_600,
        "\ud800" * 19_990,
        "\x00ACTION: BET\x00" * 1_000,
        "x" * 5_000_000,
    ],
)
def test_long_hostile_texts_are_rejected_in_linear_time(text):
    start = time.process_time()
    assert isinstance(KUHN.parse(text, OPEN), Rejected)
    assert time.process_time() - start < 0.5


def test_a_reply_cut_by_the_token_limit_counts_only_if_its_tag_was_closed():
    assert KUHN.parse("ACTION: BET", OPEN, truncated=True) == Rejected(
        "truncated", "cut by the token limit before the reply ended"
    )
    assert KUHN.parse("<action>BET</action> because", OPEN, truncated=True) == Parsed(1)


@settings(max_examples=1000, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=20),
            st.sampled_from(
                [
                    "ACTION:",
                    "action",
                    "\n",
                    "BET",
                    "call",
                    "FOLD",
                    "<action>",
                    "</action>",
                    "<think>",
                    "</think>",
                    "not",
                    "\ud800",
                    "\x00",
                    "**",
                ]
            ),
        ),
        max_size=12,
    ),
    st.booleans(),
)
def test_no_text_raises_and_no_accepted_text_names_two_actions(parts, truncated):
    text = "".join(parts)
    for view in (OPEN, FACING):
        verdict = KUHN.parse(text, view, truncated)
        if isinstance(verdict, Parsed):
            visible = text.upper()
            assert KUHN.label(view, verdict.action) in visible
        else:
            assert verdict.kind


def test_prompts_of_different_information_sets_differ_and_share_the_rules():
    for game in GAMES:
        prompts = {}
        for seat in (0, 1):
            for infoset in game.infosets(seat):
                system, user = game.render(infoset.view)
                prompts.setdefault(user["content"], set()).add(infoset.key)
                assert system == game.render(game.infosets(0)[0].view)[0]
        assert all(len(keys) == 1 for keys in prompts.values())


def test_information_sets_are_as_many_as_the_prompts_show():
    assert [len(game.infosets(0)) for game in GAMES] == [6, 6, 29, 29, 92, 92]


def test_the_dilemmas_rules_name_all_four_outcomes_and_the_goal():
    system = IPD.render(IPD.infosets(0)[0].view)[0]["content"]
    for cell in (
        "both COOPERATE 3, 3",
        "both DEFECT 1, 1",
        "you DEFECT, they COOPERATE 5, 0",
        "you COOPERATE, they DEFECT 0, 5",
    ):
        assert cell in system
    assert "as many points in all rounds as you can" in system


def test_the_legal_actions_in_a_poker_prompt_are_the_seats_own():
    assert "Choose FOLD or CALL." in KUHN.render(FACING)[1]["content"]
    assert "Choose PASS or BET." in KUHN.render(OPEN)[1]["content"]
    assert "Your card: K." in KUHN.render(FACING)[1]["content"]


def test_golden_prompts():
    assert [m["content"] for m in KUHN.render(FACING)] == [
        "Kuhn poker. Cards J, Q, K; K is highest; each player has one. Each has put 1 chip in the pot. PASS, or BET 1 chip; "
        "after a BET the other must CALL or FOLD. Higher card wins 1 chip after PASS PASS, 2 after a CALL; a FOLD loses 1. "
        "Win as many chips as you can. Reply with 'ACTION: ' and your choice.",
        "You act second. The other chose BET. Choose FOLD or CALL. Your card: K.",
    ]
    assert [m["content"] for m in IPD.render(IPD.infosets(0)[6].view)] == [
        "A game of 8 rounds. Each round you and a partner both choose COOPERATE or DEFECT at once. Points (you, they): both "
        "COOPERATE 3, 3; both DEFECT 1, 1; you DEFECT, they COOPERATE 5, 0; you COOPERATE, they DEFECT 0, 5. "
        "Score as many points in all rounds as you can. Reply with 'ACTION: ' and your choice.",
        "Last round: you COOPERATE, they DEFECT. Now round 3 of 8.",
    ]
