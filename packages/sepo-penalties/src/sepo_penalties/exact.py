"""Best responses to a policy that is a table over a game's information sets, whatever the game.

Games with `repeated_form()` are solved by dynamic programming over rounds (`repeated`), all others by their
tree (`best_response`); both are exact. Values are per round or hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sepo_penalties.best_response import best_response
from sepo_penalties.protocols import Table, TableGame
from sepo_penalties.repeated import RepeatedGame, repeated_best_response
from sepo_penalties.sequence_form import SequenceForm


@dataclass(frozen=True)
class BestReply:
    """The opponent's best response to the learner in one seat.

    Attributes:
        value: The opponent's expected payoff per round or hand.
        policy: The opponent's table: information set to a probability for each action.
    """

    value: float
    policy: dict[str, tuple[float, ...]]


def best_replies(game: TableGame, tables: Sequence[Table]) -> list[BestReply]:
    """For each seat of the learner, the best response of the opponent in the other seat.

    Args:
        game: A two-player game.
        tables: The learner's policy in each seat: information set to probabilities of all the game's actions.

    Raises:
        ValueError: If the game has not two players, or a table is no policy.
    """
    if game.num_players() != 2 or len(tables) != 2:
        raise ValueError(
            "best replies need two players and a table for each; the game has "
            f"{game.num_players()}, {len(tables)} tables were given"
        )
    solve = _by_rounds if hasattr(game, "repeated_form") else _by_tree
    return [solve(game, tables[seat], seat) for seat in (0, 1)]


@lru_cache(maxsize=64)
def compiled(game: Any) -> SequenceForm:
    """The sequence form of one segment of a game, compiled once."""
    return SequenceForm.from_game(game)


@lru_cache(maxsize=64)
def repeated(game: Any) -> RepeatedGame:
    """The repeated form of a game, built once."""
    return RepeatedGame.of(**game.repeated_form())


def _by_tree(game: Any, table: Table, seat: int) -> BestReply:
    sf, responder = compiled(game), 1 - seat
    legal = dict(zip(sf.infosets(seat), sf.treeplexes[seat].actions, strict=True))
    rows = {key: {a: float(table[key][a]) for a in legal[key]} for key in table if key in legal}
    policies = [sf.uniform_policy(p) for p in (0, 1)]
    policies[seat] = sf.policy_from_dict(seat, rows)
    answer = best_response(sf, policies, responder)
    tree = sf.treeplexes[responder]
    policy = {}
    for key, actions, row in zip(tree.infosets, tree.actions, answer.policy, strict=True):
        wide = np.zeros(game.num_actions)
        wide[list(actions)] = row[: len(actions)]
        policy[key] = tuple(wide.tolist())
    return BestReply(float(answer.value), policy)


def _by_rounds(game: Any, table: Table, seat: int) -> BestReply:
    form, responder = repeated(game), 1 - seat
    policy = np.array([table[infoset.key] for infoset in game.infosets(seat)], dtype=np.float64)
    answer = repeated_best_response(form, policy, responder)
    keys = [infoset.key for infoset in game.infosets(responder)]
    rows = {key: tuple(row.tolist()) for key, row in zip(keys, answer.policy, strict=True)}
    return BestReply(float(answer.value) / form.rounds, rows)
