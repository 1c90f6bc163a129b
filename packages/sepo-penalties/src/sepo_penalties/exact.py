"""Best responses to a policy that is a table over a game's information sets, whatever the game.

Repeated games (`repeated_form()` gives one) are solved by dynamic programming over rounds (`repeated`), games whose state everybody
sees (`public`) by dynamic programming over states (`stochastic`), all others by their tree (`best_response`). All are exact.
Values are per round or hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from sepo_penalties.best_response import best_response
from sepo_penalties.protocols import Table, TableGame
from sepo_penalties.repeated import RepeatedGame, repeated_best_response
from sepo_penalties.sequence_form import SequenceForm
from sepo_penalties.stochastic import StochasticGame, stochastic_best_response


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
        ValueError: If the game has not two players, it is not `solvable`, or a table is no policy.
    """
    if game.num_players() != 2 or len(tables) != 2:
        raise ValueError(
            "best replies need two players and a table for each; the game has "
            f"{game.num_players()}, {len(tables)} tables were given"
        )
    if not solvable(game):
        raise ValueError(
            f"{getattr(game, 'name', 'the game')} has no exact best response: its prompts show more than can be listed and its tree is "
            "too large; let scripted opponents play against the policy for a lower bound"
        )
    solve = {"repeated": _by_rounds, "stochastic": _by_states, "tree": _by_tree}[method(game)]
    return [solve(game, tables[seat], seat) for seat in (0, 1)]


def solvable(game: Any) -> bool:
    """Whether best responses are found: the game's prompts can be listed, or its rounds or states can be solved one by one."""
    return method(game) != "tree" or bool(getattr(game, "enumerable", True))


@lru_cache(maxsize=64)
def method(game: Any) -> Literal["repeated", "stochastic", "tree"]:
    """How best responses of a game are found."""
    if hasattr(game, "repeated_form") and game.repeated_form() is not None:
        return "repeated"
    return "stochastic" if getattr(game, "public", False) else "tree"


@lru_cache(maxsize=64)
def compiled(game: Any) -> SequenceForm:
    """The sequence form of one segment of a game, compiled once."""
    return SequenceForm.from_game(game)


@lru_cache(maxsize=64)
def repeated(game: Any) -> RepeatedGame:
    """The repeated form of a game, built once."""
    return RepeatedGame.of(**game.repeated_form())


@lru_cache(maxsize=64)
def stochastic(game: Any) -> StochasticGame:
    """The public states of a game, found once."""
    return StochasticGame.from_game(game)


def _by_states(game: Any, table: Table, seat: int) -> BestReply:
    value, policy = stochastic_best_response(stochastic(game), table, seat, game.num_actions)
    return BestReply(value / game.rounds, policy)


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
    wide = np.array([table[infoset.key] for infoset in game.infosets(seat)], dtype=np.float64)
    own = form.sizes(seat)[1]
    if wide[:, own:].any():
        raise ValueError(f"the policy of player {seat} plays actions beyond its {own} legal ones")
    answer = repeated_best_response(form, wide[:, :own], responder)
    padding = (0.0,) * (game.num_actions - answer.policy.shape[1])
    keys = [infoset.key for infoset in game.infosets(responder)]
    rows = {key: (*row.tolist(), *padding) for key, row in zip(keys, answer.policy, strict=True)}
    return BestReply(float(answer.value) / form.rounds, rows)
