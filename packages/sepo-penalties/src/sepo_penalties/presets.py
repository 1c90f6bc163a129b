"""Two ready rewards beside our own: the published one, and the one that charges an agent for all it does to others.

The published objective of a game with scale s = 3 / (largest payoff) is, per round,

    S = s u - lambda_e s e - lambda_c c - lambda_x x.

Divided by s it is in payoff units, which is what `SepoReward` computes: weights lambda_e, lambda_c / s, lambda_x / s. A step is credited
with its own round's payoff, and exploitability is what an exploiter wins beyond the learner (opponent's payoff minus own). Two sets of lambdas
are published: the `declared` ones of the text, and the ones with which the reported numbers were made (`reported`). The published "largest payoff"
is not always one: 3 in the dilemma is the reward for mutual cooperation, and 10 in the three-item negotiation a quarter of what can be had.
The published statistics c and x are shares of actions that differ from game to game; here both are the penalties of `ledger`.

`pigou()` charges the learner, at weight 1, for what its action takes from other players and outsiders against its do-no-harm action, so
that its reward is the welfare it causes, up to what it cannot change:

    total = u_i(a) - sum_{j != i} [u_j(a0_i, a_-i) - u_j(a)] = W(a) - W_others(a0_i, a_-i).
"""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from sepo_penalties.reward import SepoReward, Weights

Lambdas = Literal["declared", "reported"]


@dataclass(frozen=True)
class PublishedGame:
    """Largest payoff of a round, and (lambda_e, lambda_c, lambda_x) as declared and as reported."""

    largest_payoff: float
    declared: tuple[float, float, float]
    reported: tuple[float, float, float]

    @property
    def scale(self) -> float:
        """The published s."""
        return 3 / self.largest_payoff


PUBLISHED = {
    "ipd-v1": PublishedGame(3.0, (2.4, 1.0, 1.8), (2.4, 1.0, 1.8)),
    "auction-v1": PublishedGame(3.0, (1.2, 1.0, 1.8), (2.4, 2.4, 2.4)),
    "split-v1": PublishedGame(5.0, (3.0, 2.0, 1.8), (3.0, 1.0, 1.8)),
    "multi-issue-v1": PublishedGame(10.0, (3.0, 2.0, 1.8), (2.4, 2.4, 2.4)),
    "kuhn-v1": PublishedGame(2.0, (1.5, 2.4, 0.0), (1.5, 2.4, 0.0)),
}
"""By game name; sources: arXiv 2605.30854, and the commands and stored results of its authors' code."""


def paper(game: str, lambdas: Lambdas = "declared") -> SepoReward:
    """The published reward of a game, in payoff units.

    Args:
        game: `ipd-v1`, `auction-v1`, `split-v1`, `multi-issue-v1` or `kuhn-v1`.
        lambdas: The weights of the text, or those behind the reported numbers.

    Raises:
        ValueError: If the game or the set of weights is not published.
    """
    if game not in PUBLISHED:
        near = get_close_matches(game, PUBLISHED, n=1, cutoff=0.4)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"no weights are published for the game {game!r}: choose from {', '.join(PUBLISHED)}.{hint}")
    if lambdas not in {"declared", "reported"}:
        raise ValueError(f"lambdas = {lambdas!r} is not allowed: choose declared or reported")
    published = PUBLISHED[game]
    exploitability, collusion, externality = published.declared if lambdas == "declared" else published.reported
    weights = Weights(exploitability, collusion / published.scale, externality / published.scale)
    return SepoReward(weights, 0.0, credit="immediate", against="own")


def pigou(invalid: float = 1.0) -> SepoReward:
    """Payoff minus all harm to other players and outsiders, signed, at weight 1; no other penalty.

    Args:
        invalid: Cost of a step without a valid reply, in payoff units.

    Returns:
        A reward that refuses batches of zero-sum games, where the harm is the payoff itself.
    """
    return SepoReward(Weights(0.0, 0.0, 1.0, invalid), 0.0, harm="gross")
