"""Which match-ups one training step plays.

train pool: every scripted partner of the preset, and with self-play a frozen copy of the current policy. exploiter pool: the exact best
response to the current policy (arm `best_response`) or the preset's scripted exploiters (the other arms, and games without exact best
responses). collusive pool: only in games with outsiders.
Every group is one match-up and seat played `group_size` times under common random numbers; seats alternate over groups.
A rollout of pool p carries the weight B / (n_pools n_p), so every pool's mean counts alike however many match-ups it has.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np
import numpy.typing as npt
from sepo_games import Game, MatchUp, Strategy

from sepo_grpo.config import Arm

BEST_RESPONSE, COPY = "best-response", "frozen-copy"


def pools(
    game: Game, preset: str, arm: Arm, best_response: Strategy | None, copy: Strategy | None = None
) -> dict[str, dict[str, Strategy]]:
    """The opponents of each pool of a game, pools without opponents left out.

    Args:
        game: The game.
        preset: Whose scripted opponents.
        arm: The credit arm.
        best_response: The best responder to the current policy, if there is one.
        copy: The current policy as an opponent, for self-play.
    """
    named = game.pools(preset)
    chosen = {pool: {name: game.strategies[name] for name in named[pool]} for pool in named}
    if copy is not None:
        chosen["train"][COPY] = copy
    if arm == "best_response" and best_response is not None:
        chosen["exploiter"] = {BEST_RESPONSE: best_response}
    if not game.outsiders:
        chosen.pop("collusive", None)
    return {pool: opponents for pool, opponents in chosen.items() if opponents}


def plan_step(
    game: Game, opponents: Mapping[str, Mapping[str, Strategy]], groups: int, group_size: int
) -> list[MatchUp]:
    """The match-ups of one step.

    Args:
        game: The game.
        opponents: Pool to name to opponent.
        groups: Least number of groups a pool; rounded up so that each opponent meets both seats equally often.
        group_size: Rollouts a group.
    """
    match_ups: list[MatchUp] = []
    group = 0
    for pool, named in opponents.items():
        pairs = ceil(groups / (2 * len(named)))
        for name, strategy in named.items():
            for index in range(2 * pairs):
                match_ups += [
                    MatchUp(game, index % 2, name, strategy, pool, group, rollout) for rollout in range(group_size)
                ]
                group += 1
    return match_ups


def pool_weights(pool: Sequence[str]) -> npt.NDArray[np.float64]:
    """`(B,)` weight B / (n_pools n_p) of each rollout; the weights sum to B."""
    sizes = Counter(pool)
    return np.array([len(pool) / (len(sizes) * sizes[name]) for name in pool])
