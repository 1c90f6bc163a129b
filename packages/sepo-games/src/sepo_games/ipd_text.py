"""The rules of the iterated prisoner's dilemma in words, three times.

Every phrasing tells how long the game is, names both players' points in all four outcomes, tells of noise where there is some, states
the goal that the score rewards (own points, all rounds), and ends with the form of a reply. Unless numbers have more digits than 0.875,
every prompt that shows the last outcome has fewer than 160 tokens of SmolLM2. Trained policies are tied to phrasing 0.
"""

from collections.abc import Sequence

PHRASINGS = (
    "{length} Each round you and a partner both choose {c} or {d} at once.{noise} Points (you, they): "
    "both {c} {r}, {r}; both {d} {p}, {p}; you {d}, they {c} {t}, {s}; you {c}, they {d} {s}, {t}. "
    "Score as many points in all rounds as you can. Reply with 'ACTION: ' and your choice.",
    "{length} In each, you and another player secretly pick {c} or {d}.{noise} Both pick {c}: {r} points each. Both pick {d}: {p} each. "
    "Only you pick {d}: you get {t}, they {s}. Only they pick {d}: you get {s}, they {t}. "
    "Maximise the sum of your own points. Answer 'ACTION: ' and your pick.",
    "{length} You and another player choose at once, {c} or {d}.{noise} Your choice against theirs pays you, them: "
    "{d}-{d} {p}, {p}; {d}-{c} {t}, {s}; {c}-{d} {s}, {t}; {c}-{c} {r}, {r}. "
    "Only the sum of your points counts. Write 'ACTION: ' and what you choose.",
)


def rules_text(
    phrasing: int,
    labels: Sequence[str],
    payoffs: Sequence[float],
    rounds: int,
    continuation: float | None,
    noise: float,
) -> str:
    """The system message.

    Args:
        phrasing: Which of `PHRASINGS`.
        labels: Words for cooperation and defection.
        payoffs: T, R, P, S in points.
        rounds: Announced number of rounds, or the most there can be.
        continuation: Probability that another round follows, if it is not sure.
        noise: Probability that a choice comes out as the other one.
    """
    t, r, p, s = (f"{x:g}" for x in payoffs)
    length = f"A game of {rounds} rounds."
    if continuation is not None:
        length = f"Up to {rounds} rounds; the next comes with probability {continuation:g}."
    flips = f" Choices flip with probability {noise:g}." if noise else ""
    c, d = labels
    return PHRASINGS[phrasing].format(length=length, noise=flips, c=c, d=d, t=t, r=r, p=p, s=s)


def turn_text(
    shown: Sequence[tuple[int, int]], labels: Sequence[str], full: bool, current: int, rounds: int | None
) -> str:
    """The user's message: outcomes, then the round last so that prompts share as long a beginning as they can.

    Args:
        shown: Outcomes that are shown, own action first.
        labels: Words for cooperation and defection.
        full: Whether they are all there were.
        current: Number of the round to be played, from 1.
        rounds: Announced number of rounds, if there is one.
    """
    said = "; ".join(f"you {labels[own]}, they {labels[other]}" for own, other in shown)
    past = f"{'Rounds so far' if full else 'Last round'}: {said}." if shown else "No round played yet."
    return f"{past} Now round {current}." if rounds is None else f"{past} Now round {current} of {rounds}."
