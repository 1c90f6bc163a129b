"""Reads the action out of a reply, strictly.

An answer is the last line `ACTION: X`, one `<action>X</action>` tag, or a reply that is nothing but the action; any case, with
punctuation or markdown around it. Nothing is searched for in prose, nothing is corrected, and nothing is guessed: every other
reply is rejected with a kind. What stands inside `<think>...</think>` does not count, nor does what stands before a `</think>`
whose beginning was in the prompt. Every step takes time linear in the length of the reply.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from sepo_games.types import Parsed, Rejected

LONGEST = 20_000
"""Characters; a longer reply is not an answer to any prompt here."""
MOST_LISTED = 12
"""Labels named in a rejection."""

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_OPENING = re.compile(r"<action>", re.IGNORECASE)
_TAG = re.compile(r"<action>([^<>]*)</action>", re.IGNORECASE)
_LINE = re.compile(r"^\W*action\W*:(.*)$", re.IGNORECASE)
_UNDERSCORES = re.compile(r"(?<![^\W_])_+|_++(?![^\W_])")
# A number keeps its sign, decimals and percent sign, so that "-1" and "1.5" are words of their own and not the action 1.
_WORD = re.compile(r"[-+\u2212]?\d+(?:[./:]\d+)+%?|[-+\u2212]\d+%?|\d+%|\w+(?:['\u2019]\w+)?")
_NEGATIONS = frozenset(
    ["not", "no", "never", "dont", "don't", "cannot", "can't", "wont", "won't", "neither", "nor", "without", "avoid"]
)


def parse(text: str, legal: Mapping[str, int], words: Collection[str], truncated: bool = False) -> Parsed | Rejected:
    """Reads a reply.

    Args:
        text: The reply, any text.
        legal: Label of each legal action to the action: one or more upper-case words with single spaces between, such as `BET` or
            `2 1 0`.
        words: Every label of the game, so that a known but illegal one is told from an unknown one.
        truncated: Whether the token limit cut the reply; a cut reply is accepted only in its tag form, which says itself
            where it ends: the line `ACTION: BET` may have been cut in the middle of a word or before a second thought.

    Returns:
        The one action that the reply names, or why it was rejected. Never raises for any `text`.
    """
    if len(text) > LONGEST:
        return Rejected("unparsed", f"too long: {len(text)} characters; at most {LONGEST} are read")
    if not text.strip():
        return Rejected("truncated" if truncated else "empty", "no text")
    visible = _visible(text)
    if not visible:
        return Rejected("truncated" if truncated else "thinking_only", "nothing after the thinking")
    tags = _TAG.findall(visible)
    if truncated and not tags:
        return Rejected("truncated", "cut by the token limit before the reply ended")
    answers = _answers(visible, tags, words)
    if not answers:
        return Rejected("unparsed", "no line 'ACTION: X' at the end, no <action> tag, and more than the action alone")
    readings = [_read(answer, legal, words) for answer in answers]
    for reading in readings:
        if isinstance(reading, Rejected):
            return reading
    if len(set(readings)) > 1:
        return Rejected("ambiguous", "two different answers")
    openings = len(_OPENING.findall(visible))
    if tags and openings > 1:
        return Rejected("ambiguous", f"{openings} <action> tags; an answer has one")
    return readings[0]


def _visible(text: str) -> str:
    """What is left without the thinking. Underscores around words are markdown but count as letters, so they become spaces."""
    spoken = _THINKING.sub("", text)
    return _UNDERSCORES.sub(" ", _THOUGHT.split(spoken)[-1]).strip()


def _answers(visible: str, tags: Sequence[str], words: Collection[str]) -> list[str]:
    """The places that claim to hold the answer."""
    lines = [line for line in visible.splitlines() if line.strip()]
    claims = [match[1] for line in lines if (match := _LINE.match(_TAG.sub("", line)))]
    if tags or claims:
        # Earlier claims count as well, so that a reply cannot say two things; without a claim at the end there is no answer.
        ends_well = bool(tags) or (bool(lines) and _LINE.match(lines[-1]) is not None)
        return [*tags, *claims] if ends_well else []
    return [visible] if _label(_WORD.findall(visible)) in words else []


def _read(answer: str, legal: Mapping[str, int], words: Collection[str]) -> Parsed | Rejected:
    """Reads one answer: exactly one label and nothing else."""
    found = _WORD.findall(answer)
    if any(word.lower().replace("\u2019", "'") in _NEGATIONS for word in found):
        return Rejected("negated", f"{_shown(answer)} negates")
    label = _label(found)
    if label in legal:
        return Parsed(legal[label])
    if label in words:
        return Rejected("illegal", f"{label} is not allowed here; allowed: {_listed(legal)}")
    named = {word.upper() for word in found if word.isascii() and word.upper() in words}
    if len(named) > 1:
        return Rejected("ambiguous", f"{_shown(answer)} names {' and '.join(sorted(named))}")
    return Rejected("unparsed", f"{_shown(answer)} is not one of {_listed(legal)}")


def _label(found: Sequence[str]) -> str:
    # Other alphabets have letters whose upper case is a Latin one; they are not the words that were asked for.
    return " ".join(word.upper() if word.isascii() else word for word in found)


def _shown(answer: str) -> str:
    return repr(answer.strip()[:60])


def _listed(labels: Mapping[str, int]) -> str:
    listed = list(labels)
    return ", ".join(listed if len(listed) <= MOST_LISTED else [*listed[:MOST_LISTED], f"... ({len(listed)} in all)"])
