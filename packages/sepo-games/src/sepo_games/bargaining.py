"""How demands fall: the concession rules that both bargaining games share.

Time-dependent players (Faratin, Sierra and Jennings 1998) have given up the share

    (t / T) ^ (1 / beta)

of the way from their first to their last demand after t of the T rounds between them. Below 1, beta makes Boulware players, who hold
out until the end; above 1, Conceders. Tit-for-tat concession gives way by as much as the other just did, and takes back as much.
"""

BOULWARE, CONCEDER = 0.2, 5.0
"""The exponents beta of the two time-dependent players."""


def conceded(past: int, rounds: int, beta: float) -> float:
    """The share of its way that a time-dependent player has given up: 0 in the first round, 1 in the last.

    Args:
        past: Rounds played, below `rounds`.
        rounds: Rounds of the game; in the only round of a game of one everything is given up.
        beta: Below 1 late, above 1 early.
    """
    return float((past / (rounds - 1)) ** (1 / beta)) if rounds > 1 else 1.0


def answered(last: int, before: int, now: int, least: int, most: int) -> int:
    """The next demand of tit-for-tat concession: its last one less what the other gave up, between `least` and `most`.

    Args:
        last: Its own last demand.
        before: What the other demanded the round before the last.
        now: What the other demanded last.
        least: Where it stops to concede.
        most: Its first demand.
    """
    return min(most, max(least, last - (before - now)))
