"""Policies and policy tables: reading a policy off a scorer, and scripted strategies in the learner's chair."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sepo_games.coins import coins, draw
from sepo_games.play import MatchUp, play
from sepo_games.strategies import Rows, TableStrategy, check_distribution
from sepo_games.types import Game, Message, Policy, Reply, Request, Strategy

Array = npt.NDArray[np.float64]
Scorer = Callable[[list[tuple[tuple[Message, ...], tuple[str, ...]]]], Sequence[Array]]
"""Log-probabilities of complete replies to prompts, one array for each (messages, replies) pair."""


@dataclass(frozen=True)
class ReadPolicy:
    """A policy known at every information set of a seat.

    Attributes:
        keys: The information sets, in the game's order.
        probs: `(n_infosets, num_actions)` probability that an action is played; rows sum to 1.
        mass: `(n_infosets,)` probability that one sampled reply is a canonical one.
    """

    keys: tuple[str, ...]
    probs: Array
    mass: Array

    def as_dict(self) -> dict[str, Array]:
        """Information set to action probabilities."""
        return dict(zip(self.keys, self.probs, strict=True))


def read_policy(game: Game, seat: int, scorer: Scorer, retries: int = 1) -> ReadPolicy:
    """Reads the policy that is actually played, by scoring the canonical reply of every legal action.

    With s(a) the probability of the canonical reply of a and q = 1 - sum_a s(a) counted as rejected,

        p(a) = s(a) (1 + q + ... + q^retries) + q^(retries + 1) [a is the fallback].

    It is exact up to the probability of replies that mean an action in other words; compare it with sampled actions.

    Args:
        game: The game.
        seat: A seat of its tree.
        scorer: Scores replies.
        retries: How often a rejected reply is asked for again in play.

    Raises:
        ValueError: If a score is NaN, scores are too few or too many, the canonical replies of an information set have more than
            probability 1, or `retries` is negative.
    """
    if retries < 0:
        raise ValueError(f"retries = {retries}: it must be 0 or more")
    infosets = game.infosets(seat)
    pairs = [
        (game.render(infoset.view), tuple(game.reply(infoset.view, action) for action in infoset.legal))
        for infoset in infosets
    ]
    probs = np.zeros((len(infosets), game.num_actions))
    mass = np.zeros(len(infosets))
    scored = scorer(pairs)
    if len(scored) != len(pairs):
        raise ValueError(f"the scorer gave {len(scored)} arrays for {len(pairs)} prompts: one for each is needed")
    for i, (infoset, scores) in enumerate(zip(infosets, scored, strict=True)):
        said = np.exp(np.asarray(scores, dtype=np.float64))
        if said.shape != (len(infoset.legal),):
            raise ValueError(
                f"information set {infoset.key!r}: scores of shape {said.shape} for {len(infoset.legal)} replies: "
                "one number for each is needed"
            )
        mass[i] = said.sum()
        if not mass[i] <= 1 + 1e-4:
            raise ValueError(
                f"information set {infoset.key!r}: the replies' probabilities add up to {mass[i]}, which is not at most 1"
            )
        rejected = max(0.0, 1 - mass[i])
        said *= min(1.0, 1 / mass[i]) if mass[i] > 1 else 1.0
        probs[i, list(infoset.legal)] = said * sum(rejected**k for k in range(retries + 1))
        probs[i, game.fallback(infoset.view)] += rejected ** (retries + 1)
    return ReadPolicy(tuple(infoset.key for infoset in infosets), probs, mass)


def project_policy(game: Game, policy: Policy, episodes: int, seed: int, retries: int = 1) -> list[ReadPolicy]:
    """The projection of a policy with a longer memory onto the game's information sets, one for each seat.

    The policy plays the scripted train and exploiter pools and a uniformly random partner; p(a | I) is the frequency of a among its
    decisions that belong to I, one half added to each legal action. The best response to it is a strategy like any other:
    what it wins in play bounds the exact best response from below.

    Args:
        game: The game.
        policy: The policy.
        episodes: Episodes for each opponent and seat.
        seed: Of play.
        retries: How often a rejected reply is asked for again.
    """
    pools = game.pools("sepo")
    names = dict.fromkeys([*pools["train"], *pools["exploiter"], "uniform"])
    match_ups = [
        MatchUp(game, seat, name, game.strategies[name], "train", episode, number)
        for number, name in enumerate(names)
        for episode in range(episodes)
        for seat in range(game.num_players())
    ]
    played = [step for one in play(match_ups, policy, seed, retries) for step in one.steps]
    result = []
    for seat in range(game.num_players()):
        infosets = game.infosets(seat)
        place = {infoset.key: i for i, infoset in enumerate(infosets)}
        counts = np.zeros((len(infosets), game.num_actions))
        for i, infoset in enumerate(infosets):
            counts[i, list(infoset.legal)] = 0.5
        for step in played:
            if step.seat == seat:
                counts[place[step.key], step.action] += 1
        accepted = 1 - sum(len(step.rejections) for step in played) / sum(len(step.replies) for step in played)
        probs = counts / counts.sum(axis=1, keepdims=True)
        result.append(ReadPolicy(tuple(place), probs, np.full(len(infosets), accepted)))
    return result


def strategy_policy(game: Game, seat: int, strategy: Strategy) -> ReadPolicy:
    """The table of a scripted strategy.

    Raises:
        ValueError: If the strategy looks at more of the history than the prompt's information sets show.
    """
    if not strategy.markov:
        raise ValueError(
            f"the strategy depends on more of the history than an information set of {game.name} shows: it has no table"
        )
    infosets = game.infosets(seat)
    rows = [strategy.probs(infoset.view) for infoset in infosets]
    for infoset, row in zip(infosets, rows, strict=True):
        check_distribution(f"{game.name}, information set {infoset.key!r}", row, game.num_actions, infoset.legal)
    return ReadPolicy(
        tuple(infoset.key for infoset in infosets), np.array(rows, dtype=np.float64), np.ones(len(infosets))
    )


def strategy_table(game: Game, seat: int, strategy: Strategy) -> Array:
    """The table of a scripted strategy, `(n_infosets, num_actions)`, in the game's order of information sets.

    Raises:
        ValueError: If the strategy looks at more of the history than the prompt's information sets show.
    """
    return strategy_policy(game, seat, strategy).probs


@dataclass(frozen=True)
class ScriptedPolicy:
    """A scripted strategy as a policy: it answers requests with canonical replies."""

    game: Game
    strategy: Strategy

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request; the action depends on the request's view and key alone."""
        result = []
        for request, uniform in zip(requests, coins([request.key for request in requests]), strict=True):
            action = draw(self.strategy.probs(request.view), uniform)
            result.append(Reply(self.game.reply(request.view, action)))
        return result


def table_policy(game: Game, table: Rows) -> ScriptedPolicy:
    """A table, information set to action probabilities, as a policy for the learner's chair.

    Raises:
        ValueError: If an information set is not the game's, or a row is no distribution over its legal actions.
    """
    return ScriptedPolicy(game, TableStrategy(game, table))
