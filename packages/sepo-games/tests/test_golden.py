"""Prompts are compared with files, since a trained policy is tied to their exact words."""

from pathlib import Path

import pytest
from sepo_games import get_game

GOLDEN = Path(__file__).parent / "golden"
CASES = [("kuhn-v1", "sepo"), ("ipd-v1", "sepo"), ("auction-v1", "sepo"), ("auction-v1", "paper")]


def sheet(game):
    """The rules, then each seat's information sets with what the user says."""
    lines = [game.render(game.infosets(0)[0].view)[0]["content"], ""]
    for seat in (0, 1):
        for infoset in game.infosets(seat):
            view = infoset.view
            replies = " | ".join(game.reply(view, action) for action in infoset.legal)
            lines.append(f"{seat} | {infoset.key} | {game.render(view)[1]['content']} | {replies}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("name", "preset"), CASES)
def test_prompts_are_those_of_the_golden_file(name, preset):
    found = sheet(get_game(name, preset))
    assert found == (GOLDEN / f"{name}-{preset}.txt").read_text("utf-8")


@pytest.mark.parametrize("name", ["kuhn-v1", "ipd-v1"])
def test_the_presets_of_poker_and_of_the_dilemma_have_the_same_prompts(name):
    assert sheet(get_game(name, "paper")) == sheet(get_game(name, "sepo"))


@pytest.mark.parametrize("name", ["ipd-v1", "auction-v1"])
def test_both_seats_of_a_simultaneous_game_read_the_same_prompts(name):
    game = get_game(name)
    first, second = ([(i.key, game.render(i.view)) for i in game.infosets(seat)] for seat in (0, 1))
    assert first == second


@pytest.mark.parametrize("name", ["kuhn-v1", "ipd-v1", "auction-v1"])
def test_the_same_prompt_is_the_same_object(name):
    game = get_game(name)
    for infoset in game.infosets(1):
        assert game.render(infoset.view) is game.render(infoset.view)
