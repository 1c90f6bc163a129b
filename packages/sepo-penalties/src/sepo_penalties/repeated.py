"""Finitely repeated two-player games with private types, against policies that remember the last round.

Each round both players draw independent private types, act at once, and see both actions. A policy is a table
`(..., n_infosets, n_actions)` over (round, last joint outcome, own type): first the types of round 1, then
for each later round, for each last outcome (own action first), the types; K + (rounds - 1) A_own A_other K
rows. Against such a policy

    V_t(o) = sum_k' p(k') max_b [ sum_k p(k) sum_a pi(a | t, o, k) ( u(k, k', a, b) + V_{t+1}(a, b) ) ],

from the last round back. A responder that remembers everything cannot do better: the policy's future play
depends on the round and the last outcome only, so nothing earlier says more about it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sepo_penalties.best_response import BestResponse
from sepo_penalties.sequence_form import Array


@dataclass(frozen=True)
class RepeatedGame:
    """A repeated stage game.

    Attributes:
        payoffs: `(2, K0, K1, A0, A1)` payoff of each player by types and actions, expected over the stage's
            coin flips.
        type_probs: Distribution of each player's type, `(K0,)` and `(K1,)`.
        rounds: Number of rounds.
    """

    payoffs: Array
    type_probs: tuple[Array, Array]
    rounds: int

    @classmethod
    def of(cls, payoffs: npt.ArrayLike, type_probs: tuple[npt.ArrayLike, npt.ArrayLike], rounds: int) -> "RepeatedGame":
        """Checks and converts.

        Raises:
            ValueError: If a shape is wrong, a number is not finite, types are no distribution, or there is no
                round.
        """
        table = np.asarray(payoffs, dtype=np.float64)
        types = (np.asarray(type_probs[0], dtype=np.float64), np.asarray(type_probs[1], dtype=np.float64))
        if table.ndim != 5 or table.shape[0] != 2 or table.shape[1:3] != (types[0].size, types[1].size):
            raise ValueError(
                f"payoffs have shape {table.shape}: (2, {types[0].size}, {types[1].size}, actions, actions) is needed"
            )
        if not np.isfinite(table).all():
            raise ValueError("a payoff is not finite")
        for player, probs in enumerate(types):
            if not (probs >= 0).all() or abs(probs.sum() - 1) > 1e-9:
                raise ValueError(f"type probabilities {probs.tolist()} of player {player} are no distribution")
        if rounds < 1:
            raise ValueError(f"rounds = {rounds}: at least one is needed")
        return cls(table, types, rounds)

    def sizes(self, player: int) -> tuple[int, int, int]:
        """Types, own actions and other's actions of a player."""
        return self.payoffs.shape[1 + player], self.payoffs.shape[3 + player], self.payoffs.shape[4 - player]

    def num_infosets(self, player: int) -> int:
        """Rows of a player's table."""
        types, own, other = self.sizes(player)
        return types * (1 + (self.rounds - 1) * own * other)

    def unpack(self, policy: npt.ArrayLike, player: int) -> list[Array]:
        """A table as one array a round: `(..., outcomes, types, actions)`, one outcome in the first round.

        Raises:
            ValueError: If the table has a wrong shape or a row is no distribution.
        """
        table = np.asarray(policy, dtype=np.float64)
        types, own, other = self.sizes(player)
        shape = (self.num_infosets(player), own)
        if table.shape[-2:] != shape:
            raise ValueError(
                f"policy of player {player} has shape {table.shape}: (..., {shape[0]}, {shape[1]}) is needed"
            )
        rows = (np.isfinite(table) & (table >= 0)).all(axis=-1) & (
            np.abs(np.nan_to_num(table).sum(axis=-1) - 1) <= 1e-6
        )
        if not rows.all():
            place = tuple(np.argwhere(~rows)[0].tolist())
            raise ValueError(f"policy of player {player}, row {place[-1]}: {table[place].tolist()} is no distribution")
        first, rest = table[..., :types, :], table[..., types:, :]
        rest = rest.reshape(*table.shape[:-2], self.rounds - 1, own * other, types, own)
        return [first[..., None, :, :], *(rest[..., t, :, :, :] for t in range(self.rounds - 1))]

    def pack(self, rounds: list[Array]) -> Array:
        """The inverse of `unpack`."""
        return np.concatenate([r.reshape(*r.shape[:-3], -1, r.shape[-1]) for r in rounds], axis=-2)

    def stage(self, player: int) -> Array:
        """`(K_own, K_other, A_own, A_other)` payoff of a player, its own type and action first."""
        table = self.payoffs[player]
        return np.asarray(table if player == 0 else table.transpose(1, 0, 3, 2))


def repeated_value(game: RepeatedGame, policies: Sequence[npt.ArrayLike]) -> Array:
    """Expected payoffs of both players over all rounds.

    Args:
        game: The game.
        policies: One table `(..., n_infosets, n_actions)` for each player; leading axes broadcast.

    Returns:
        `(..., 2)` in the game's units.

    Raises:
        ValueError: If there are not two policies, or one is not a policy.
    """
    if len(policies) != 2:
        raise ValueError(f"{len(policies)} policies were given: one for each of the 2 players is needed")
    _, actions, others = game.sizes(0)
    # Outcomes as player 0 counts them; player 1 counts its own action first.
    swap = np.arange(actions * others).reshape(others, actions).T.ravel()
    ahead = np.zeros((2, actions, others))
    for t, (first, second) in reversed(
        list(enumerate(zip(game.unpack(policies[0], 0), game.unpack(policies[1], 1), strict=True)))
    ):
        play = second[..., swap, :, :] if t > 0 else second
        now = np.einsum("i,j,...oia,...ojb,pijab->...op", *game.type_probs, first, play, game.payoffs, optimize=True)
        later = np.einsum("i,j,...oia,...ojb,...pab->...op", *game.type_probs, first, play, ahead, optimize=True)
        total = np.moveaxis(now + later, -1, -2)
        ahead = total.reshape(*total.shape[:-1], actions, others) if t > 0 else total
    return ahead[..., 0]


def repeated_best_response(game: RepeatedGame, policy: npt.ArrayLike, player: int) -> BestResponse:
    """The exact best response of `player` to the other player's policy.

    Args:
        game: The game.
        policy: The *other* player's table `(..., n_infosets, n_actions)`.
        player: The responder.

    Returns:
        Value over all rounds `(...,)`, and policy and action values in the order of the responder's own
        table; action values are the expected payoffs from that round on.

    Raises:
        ValueError: If the policy is not one, or there is no such player.
    """
    if player not in {0, 1}:
        raise ValueError(f"player {player} does not exist: choose 0 or 1")
    other = 1 - player
    plays = game.unpack(policy, other)
    own_types, other_types = game.type_probs[player], game.type_probs[other]
    _, own_actions, other_actions = game.sizes(player)
    stage = np.einsum("j,ijab->ijab", other_types, game.stage(player))  # own type, other type, own action, other action
    ahead = np.zeros((own_actions, other_actions))  # value after each outcome, own action first
    policies, values = [], []
    for t, play in reversed(list(enumerate(plays))):
        # (..., outcome as the other player counts it, own type, own action)
        q = np.einsum("...ojb,ijab->...oia", play, stage)
        q = q + np.einsum("j,...ojb,...ab->...oa", other_types, play, ahead)[..., None, :]
        best = np.eye(own_actions)[q.argmax(axis=-1)]
        ahead = np.einsum("i,...oi->...o", own_types, q.max(axis=-1))
        if t > 0:
            # The other player's outcomes are (its action, ours); ours are (our action, its).
            swap = np.arange(play.shape[-3]).reshape(other_actions, own_actions).T.ravel()
            q, best = q[..., swap, :, :], best[..., swap, :, :]
            ahead = ahead[..., swap].reshape(*ahead.shape[:-1], own_actions, other_actions)
        policies.append(best)
        values.append(q)
    return BestResponse(ahead[..., 0], game.pack(policies[::-1]), game.pack(values[::-1]))
