"""Scripted eight-round prisoner's dilemmas per second on one core: ours beside Axelrod's `Match`, in one run.

    python benchmarks/ipd_speed.py

`play` goes through prompts, replies and the ledger, as with a language model; `play_scripted` gives the same episodes as arrays. Of Axelrod
a match is built and played, without scoring; a match object that is played again would only repeat its cache. Needs `sepo-games[axelrod]`
for the comparison, and says so without it.
"""

import os
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from sepo_games import Ipd, MatchUp, ScriptedPolicy, play
from sepo_games.vector import play_scripted

GAME = Ipd()
PAIRS = (("tit-for-tat", "always-defect"), ("mixed", "tit-for-tat"), ("zd-extort-2", "win-stay-lose-shift"))
THEIRS = {
    "tit-for-tat": "TitForTat",
    "always-defect": "Defector",
    "mixed": "Random",
    "zd-extort-2": "ZDExtort2",
    "win-stay-lose-shift": "WinStayLoseShift",
}
RUNS = 3
EPISODES, MANY, MATCHES = 2_000, 200_000, 1_000


def rate(episodes: int, run: Callable[[int], object]) -> float:
    """Episodes per second: the best of `RUNS` runs, each with a seed of its own."""
    times = []
    for seed in range(RUNS):
        start = time.perf_counter()
        run(seed)
        times.append(time.perf_counter() - start)
    return episodes / min(times)


def one_by_one(own: str, other: str) -> float:
    """`play` with a scripted learner."""
    match_ups = [MatchUp(GAME, i % 2, other, GAME.strategies[other], "train", i, 0) for i in range(EPISODES)]
    learner = ScriptedPolicy(GAME, GAME.strategies[own])
    return rate(EPISODES, lambda seed: play(match_ups, learner, seed))


def all_at_once(own: str, other: str) -> float:
    """`play_scripted`."""
    numbers, zeros = np.arange(MANY), np.zeros(MANY, dtype=np.int64)
    players = (GAME.strategies[own], GAME.strategies[other])
    return rate(MANY, lambda seed: play_scripted(GAME, *players, numbers % 2, numbers, zeros, seed))


def axelrods(own: str, other: str) -> float:
    """Axelrod's match, a new one for each episode."""
    axl = import_module("axelrod")
    classes = [getattr(axl, THEIRS[name]) for name in (own, other)]

    def run(seed: int) -> None:
        for number in range(MATCHES):
            axl.Match([cls() for cls in classes], turns=GAME.rounds, seed=seed * MATCHES + number).play()

    return rate(MATCHES, run)


def main() -> None:
    """Prints a row for each pair."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    there = find_spec("axelrod") is not None
    if not there:
        print("Axelrod is not installed, so there is nothing to compare with: pip install 'sepo-games[axelrod]'")
    print(f"{'8-round episodes per second':36}{'play':>10}{'play_scripted':>16}{'Axelrod':>10}{'ratios':>16}")
    for pair in PAIRS:
        slow, fast = one_by_one(*pair), all_at_once(*pair)
        row = f"{' v '.join(pair):36}{slow:10,.0f}{fast:16,.0f}"
        if there:
            match = axelrods(*pair)
            row += f"{match:10,.0f}{slow / match:8.2f}{fast / match:8,.0f}"
        print(row)


if __name__ == "__main__":
    main()
