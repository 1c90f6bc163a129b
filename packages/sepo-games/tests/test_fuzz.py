"""No text makes a parser raise, and no accepted text names two actions."""

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sepo_games import Parsed, game_names, get_game

MUTANTS = 100_000
PIECES = (
    "ACTION:", "action", "<action>", "</action>", "<think>", "</think>", "\n", " ", " or ", "not ", "**", "_", "`", "- ", "-", ".", "%",
    "/", "'", "[", "]", ",", "\u2212", "\u017f", "\ud800", "\x00", "0", "1", "10", "I would say ", "never", "\n\nACTION: ",
)  # fmt: skip


@cache
def choices(name):
    """A game, a view for each different set of its legal labels with those labels, and all words in them."""
    game, found = get_game(name), {}
    for seat in range(game.num_players()):
        for infoset in game.infosets(seat):
            labels = tuple(game.label(infoset.view, action) for action in infoset.legal)
            found.setdefault(labels, infoset)
    vocabulary = frozenset(word.lower() for labels in found for label in labels for word in label.split())
    return game, list(found.items()), vocabulary


def assert_one_action(game, labels, infoset, text, truncated, vocabulary):
    """What was accepted is named where answers stand, and nothing else is: found by other means than the parser's."""
    verdict = game.parse(text, infoset.view, truncated)
    if not isinstance(verdict, Parsed):
        assert verdict.kind
        return 0
    label = dict(zip(infoset.legal, labels, strict=True))[verdict.action]
    visible = re.sub(r"(?is)<think(ing)?>.*?(</think(ing)?>|\Z)", "", text)
    visible = re.split(r"(?i)</think(?:ing)?>", visible)[-1]
    tags = re.findall(r"(?i)<action>([^<>]*)</action>", visible)
    said = [line for line in visible.splitlines() if re.search(r"[^\W_]", line)]
    places = tags or [said[-1] if "action" in visible.lower() else visible]
    for place in places:
        words = [word for word in re.findall(r"[a-z0-9]+(?:\.[0-9]+)?", place.lower()) if word in vocabulary]
        assert words == label.lower().split(), (text, label)
    return 1


@pytest.mark.parametrize("name", game_names())
def test_a_hundred_thousand_mutants_of_replies_never_say_two_things(name):
    game, options, vocabulary = choices(name)
    rng = np.random.default_rng(0)
    accepted = 0
    picks = rng.integers(0, 1 << 30, (MUTANTS, 10)).tolist()
    for pick in picks:
        labels, infoset = options[pick[0] % len(options)]
        text = game.reply(infoset.view, infoset.legal[pick[1] % len(labels)])
        for what, where, piece in zip(pick[2:5], pick[5:8], (pick[1], pick[8], pick[9]), strict=True):
            at = where % (len(text) + 1)
            new = labels[piece // 64 % len(labels)] if piece % 3 == 0 else PIECES[piece // 64 % len(PIECES)]
            match what % 5:
                case 0:
                    text = text[:at] + new + text[at:]
                case 1:
                    text = text[:at] + text[at + 1 :]
                case 2:
                    text = text + new
                case 3:
                    text = new + text
        accepted += assert_one_action(game, labels, infoset, text, pick[9] % 7 == 0, vocabulary)
    assert MUTANTS / 50 < accepted < MUTANTS / 2


@pytest.mark.parametrize("name", game_names())
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_text_raises_and_no_accepted_text_names_two_actions(name, data):
    game, options, vocabulary = choices(name)
    labels, infoset = data.draw(st.sampled_from(options))
    pieces = st.one_of(st.text(max_size=8), st.sampled_from(PIECES), st.sampled_from(labels))
    text = "".join(data.draw(st.lists(pieces, max_size=10)))
    assert_one_action(game, labels, infoset, text, data.draw(st.booleans()), vocabulary)
