"""The rules of the multi-issue negotiation in words. No prompt shows the other side's values."""

from collections.abc import Sequence

from sepo_games.multi_issue_values import Triple, rest

ITEMS = ("books", "hats", "balls")


def rules_text(alternating: bool, rounds: int, redraw: bool) -> str:
    """The system message.

    Args:
        alternating: Whether offers are made in turn.
        rounds: Rounds of demands, or the most offers of each side.
        redraw: Whether one side's values change every round.
    """
    hidden = "Each side knows only its own values" + (", and they may change from round to round." if redraw else ".")
    if alternating:
        return (
            f"A negotiation about books, hats and balls. You and a partner make offers in turn, at most {rounds} each. An offer is how many "
            "of each you take; the partner gets the rest. After an offer of the partner you may reply ACCEPT instead: the negotiation "
            f"ends with that split. Without an ACCEPT both get 0, and nobody can accept the very last offer. {hidden} You score "
            "what you get times its value. Score as much as you can. "
            "Reply with 'ACTION: ' and ACCEPT or three numbers: books, hats, balls."
        )
    return (
        f"A negotiation of {rounds} {'round' if rounds == 1 else 'rounds'} about books, hats and balls. Each round you and a partner both "
        "demand, at once, how many of each you want. If no item is demanded more often than there are, it is a DEAL: each gets its "
        f"demand, the rest is lost. Else it is a BREAKDOWN: both get 0. {hidden} You score what you get times its value. "
        "Score as much in all rounds as you can. Reply with 'ACTION: ' and three numbers: books, hats, balls."
    )


def turn_text(
    seat: int,
    pool: Triple,
    values: Triple,
    own: Sequence[Triple],
    other: Sequence[Triple],
    results: Sequence[str] | None,
    rounds: int,
) -> str:
    """The user's message: pool and values, what was said, and the round last.

    Args:
        seat: Of the player; seat 0 begins.
        pool: How many items there are.
        values: Of the player.
        own: Its demands or offers, oldest first.
        other: The other side's.
        results: DEAL or BREAKDOWN of each round; None with offers in turn.
        rounds: Announced rounds, or the most offers of each side.
    """
    there = ", ".join(f"{n} {item}" for n, item in zip(pool, ITEMS, strict=True))
    each = ", ".join(f"{item} {value}" for item, value in zip(ITEMS, values, strict=True))
    start = f"There are {there}; demand at most so many. Your value of one: {each}. The partner's values are hidden."
    now = len(own) + 1
    if results is None:
        told = [
            ("they want " if k % 2 != seat else "you want ") + _said(d)
            for k, d in enumerate(_in_turn(seat, own, other))
        ]
        said = f"Offers: {'; '.join(told)}." if told else "No offer yet."
        if other:
            said += f" ACCEPT gives you {_said(rest(pool, other[-1]))}."
        last = " Nobody can accept an offer of yours now." if seat == 1 and now == rounds else ""
        return f"{start} {said} Your turn {now} of {rounds}.{last}"
    lines = [
        f"Round {r}: you {_said(mine)}, they {_said(theirs)}, {result}."
        for r, (mine, theirs, result) in enumerate(zip(own, other, results, strict=True), 1)
    ]
    return " ".join([start, *(lines or ["No round played yet."]), f"Now round {now} of {rounds}."])


def _in_turn(seat: int, own: Sequence[Triple], other: Sequence[Triple]) -> list[Triple]:
    first, second = (own, other) if seat == 0 else (other, own)
    return [(first, second)[k % 2][k // 2] for k in range(len(own) + len(other))]


def _said(bundle: Triple) -> str:
    return " ".join(map(str, bundle))
