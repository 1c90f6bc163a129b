"""Episodes as plain padded arrays, the player axis ordered (learner, other seats).

The keys are the fields of an episode batch as sepo-penalties takes it; nothing here knows that package.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sepo_games.play import Episode, learner_first
from sepo_games.types import Alternative, Entry

LEDGERS = ("", "expected_", "benchmark_", "harmless_")


def to_arrays(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Turns `B` episodes of one game into arrays.

    Args:
        episodes: At least one, all of the same game.

    Returns:
        `payoffs (B, T, N)` and `outsiders (B, T, K)`, the same with the prefixes `expected_`, `benchmark_` and `harmless_`
        (the learner's alternatives), `mask`, `invalid` and `segment (B, T)`, `learner`, `pool`, `opponent`, `group` and
        `rounds (B,)`, and `outsiders_declared`. T is segments x decisions; padding is 0.

    Raises:
        ValueError: If there is no episode or there are several games.
    """
    if not episodes:
        raise ValueError("there are no episodes to turn into arrays")
    game = episodes[0].match_up.game
    if any(episode.match_up.game is not game and episode.match_up.game != game for episode in episodes):
        raise ValueError("the episodes are of several games: turn each game's episodes into arrays of their own")
    size, steps, outsiders = len(episodes), game.segments * game.decisions, len(game.outsiders)
    players = game.num_players()
    ledgers = np.zeros((size, steps, len(LEDGERS), players + outsiders))
    mask = np.zeros((size, steps), dtype=bool)
    invalid = np.zeros((size, steps), dtype=bool)
    lines: dict[tuple[int, int], npt.NDArray[np.float64]] = {}
    for b, episode in enumerate(episodes):
        for step in episode.steps:
            mask[b, step.slot] = True
            invalid[b, step.slot] = not step.valid
            for entry in step.entries:
                # Games hand out the same entry object for the same outcome, so few lines are ever computed.
                line = lines.get((id(entry), step.seat))
                if line is None:
                    line = lines[id(entry), step.seat] = ledger_line(entry, step.seat)
                ledgers[b, step.slot] += line
    match_ups = [episode.match_up for episode in episodes]
    return named_ledgers(ledgers, players) | {
        "mask": mask,
        "invalid": invalid,
        "segment": np.broadcast_to(np.arange(steps) // game.decisions, (size, steps)).copy(),
        "learner": np.zeros(size, dtype=np.int64),
        "pool": np.array([m.pool for m in match_ups]),
        "opponent": np.array([m.opponent_name for m in match_ups]),
        "group": np.array([m.group for m in match_ups], dtype=np.int64),
        "rounds": np.full(size, game.rounds, dtype=np.int64),
        "outsiders_declared": True,
    }


def named_ledgers(ledgers: npt.NDArray[np.float64], players: int) -> dict[str, Any]:
    """`(B, T, 4, N + K)` ledgers as the named arrays of `to_arrays`."""
    return {
        f"{prefix}{name}": ledgers[:, :, i, columns]
        for i, prefix in enumerate(LEDGERS)
        for name, columns in (("payoffs", slice(0, players)), ("outsiders", slice(players, None)))
    }


def ledger_line(entry: Entry, seat: int) -> npt.NDArray[np.float64]:
    """The four ledgers of an entry from the learner's seat, shape `(4, N + K)`."""

    def row(ledger: Alternative) -> list[float]:
        return [*learner_first(ledger.players, seat), *ledger.outsiders]

    realised = Alternative(entry.payoffs, entry.outsiders)
    return np.array([row(part) for part in (realised, entry.expected, entry.benchmark[seat], entry.harmless[seat])])
