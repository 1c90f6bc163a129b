"""Scripted rounds per second with `play_scripted`, and the time of a decision's `render` and `parse`, on one core.

    python benchmarks/scripted_speed.py [EPISODES]

Every episode has deals and coins of its own. Targets: a million rounds a second, 50 microseconds a decision.
"""

import sys
import time

import numpy as np
from sepo_games import get_game, play_scripted

PAIRS = (
    ("ipd-v1", "tit-for-tat", "always-defect"),
    ("ipd-v1", "uniform", "generous-tit-for-tat"),
    ("auction-v1", "bayes-nash", "adaptive"),
    ("auction-v1", "uniform", "uniform"),
    ("split-v1", "fair", "concede"),
    ("split-v1", "uniform", "uniform"),
    ("kuhn-v1", "equilibrium", "tight-passive"),
    ("kuhn-v1", "uniform", "uniform"),
)
RUNS, READINGS = 3, 20_000


def scripted(episodes: int) -> None:
    """Prints rounds per second of each pair, the best of a few runs."""
    numbers = np.arange(episodes)
    for name, own, other in PAIRS:
        game = get_game(name)
        times = []
        for seed in range(RUNS):
            start = time.perf_counter()
            play_scripted(game, game.strategies[own], game.strategies[other], numbers % 2, numbers, numbers * 0, seed)
            times.append(time.perf_counter() - start)
        print(
            f"{name:12} {own} v {other}: {episodes * game.rounds / min(times) / 1e6:.2f} million {game.unit}s a second"
        )


def decisions() -> None:
    """Prints microseconds of `render` and `parse` together, over a game's information sets in turn."""
    for name in dict.fromkeys(name for name, _, _ in PAIRS):
        game = get_game(name)
        asked = [(i.view, game.reply(i.view, i.legal[-1])) for i in game.infosets(0)]
        start = time.perf_counter()
        for n in range(READINGS):
            view, reply = asked[n % len(asked)]
            game.render(view)
            game.parse(reply, view)
        print(
            f"{name:12} render and parse: {(time.perf_counter() - start) / READINGS * 1e6:.1f} microseconds a decision"
        )


if __name__ == "__main__":
    scripted(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
    decisions()
