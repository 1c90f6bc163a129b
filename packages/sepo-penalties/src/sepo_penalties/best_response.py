"""Values, exact best responses and NashConv, for any batch of behaviour policies at once.

A policy is an array `(..., n_infosets, max_actions)`; leading axes are a batch and broadcast between players.
With r_j the realisation plan of player j (the product of its own action probabilities along a sequence),

    value_i = sum_z chance(z) payoff_i(z) prod_j r_j(last_j(z)),

and a best response maximises Q(I, a) = (payoff of terminals under the sequence) + (values of the information
sets behind it) from the last information sets to the first. NashConv = sum_i (best response value_i -
value_i); exploitability = NashConv / 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sepo_penalties.sequence_form import Array, SequenceForm


@dataclass(frozen=True)
class BestResponse:
    """A best response.

    Attributes:
        value: `(...,)` the responder's expected payoff, in the game's units.
        policy: `(..., n_infosets, max_actions)` a pure best response; the first action among equals.
        action_values: Same shape: expected payoff counted from the root of taking an action at an information
            set, reached with the others' and chance's probability, and playing best afterwards; -inf past the
            legal actions.
    """

    value: Array
    policy: Array
    action_values: Array


def realisation_plan(sf: SequenceForm, policy: Array, player: int) -> Array:
    """`(..., n_sequences)` product of a player's own probabilities along each sequence; 1 for the empty."""
    tree = sf.treeplexes[player]
    plan = np.ones((*policy.shape[:-2], tree.num_sequences))
    for i, (parent, offset, actions) in enumerate(zip(tree.parents, tree.offsets, tree.actions, strict=True)):
        plan[..., offset : offset + len(actions)] = plan[..., parent, None] * policy[..., i, : len(actions)]
    return plan


def profile_plans(sf: SequenceForm, policies: Sequence[npt.ArrayLike]) -> list[Array]:
    """Every player's realisation plan.

    Raises:
        ValueError: If a policy is not one; the message names the information set.
    """
    if len(policies) != sf.num_players:
        raise ValueError(f"{len(policies)} policies were given: one for each of the {sf.num_players} players is needed")
    return [realisation_plan(sf, sf.check_policy(p, policy), p) for p, policy in enumerate(policies)]


def terminal_reach(sf: SequenceForm, plans: Sequence[Array], without: int | None = None) -> Array:
    """`(..., n_terminals)` reach probability of each terminal, optionally without one player's share."""
    reach = sf.chance
    for player, plan in enumerate(plans):
        if player != without:
            reach = reach * plan[..., sf.last[player]]
    return reach


def sequence_sums(sf: SequenceForm, weighted: Array, player: int) -> Array:
    """`(..., n_sequences)` sum of `weighted (..., n_terminals)` over the terminals behind a player's last sequences."""
    size = sf.treeplexes[player].num_sequences
    # Sparse, so that a batch is one product.
    gather = sparse.csr_array(
        (np.ones(len(sf.chance)), (sf.last[player], np.arange(len(sf.chance)))), shape=(size, len(sf.chance))
    )
    sums = (gather @ weighted.reshape(-1, len(sf.chance)).T).T
    return np.asarray(sums.reshape(*weighted.shape[:-1], size))


def policy_value(sf: SequenceForm, policies: Sequence[npt.ArrayLike]) -> Array:
    """Expected payoffs `(..., n_players)` of a profile.

    Args:
        sf: The game.
        policies: One behaviour policy for each player.

    Raises:
        ValueError: If a policy is not one; the message names the information set.
    """
    return terminal_reach(sf, profile_plans(sf, policies)) @ sf.payoffs.T


def best_response(sf: SequenceForm, policies: Sequence[npt.ArrayLike], player: int) -> BestResponse:
    """The exact best response of `player` to the other players' policies.

    Args:
        sf: The game.
        policies: One behaviour policy for each player; the responder's own is not used.
        player: The responder.

    Raises:
        ValueError: If a policy is not one, or there is no such player.
    """
    if not 0 <= player < sf.num_players:
        raise ValueError(f"player {player} does not exist: the game has players 0 to {sf.num_players - 1}")
    given = [sf.uniform_policy(p) if p == player else policy for p, policy in enumerate(policies)]
    tree = sf.treeplexes[player]
    values = sequence_sums(
        sf, terminal_reach(sf, profile_plans(sf, given), without=player) * sf.payoffs[player], player
    )
    shape = (*values.shape[:-1], len(tree.infosets), tree.max_actions)
    action_values, policy = np.full(shape, -np.inf), np.zeros(shape)
    for i in reversed(range(len(tree.infosets))):
        offset, n = tree.offsets[i], len(tree.actions[i])
        block = values[..., offset : offset + n]
        action_values[..., i, :n] = block
        np.put_along_axis(policy[..., i, :], block.argmax(axis=-1)[..., None], 1.0, axis=-1)
        values[..., tree.parents[i]] += block.max(axis=-1)
    return BestResponse(values[..., 0], policy, action_values)


def nash_conv(sf: SequenceForm, policies: Sequence[npt.ArrayLike]) -> Array:
    """`(...,)` sum over players of what each could gain by its best response; 0 exactly at Nash equilibria.

    Works for any number of players and general-sum games.
    """
    own = policy_value(sf, policies)
    gains = [best_response(sf, policies, player).value - own[..., player] for player in range(sf.num_players)]
    return np.asarray(np.sum(gains, axis=0))


def exploitability(sf: SequenceForm, policies: Sequence[npt.ArrayLike]) -> Array:
    """`(...,)` NashConv / 2 of a two-player zero-sum profile, OpenSpiel's convention.

    Raises:
        ValueError: If the game is not two-player zero-sum, where this number has no such meaning.
    """
    if sf.num_players != 2 or not sf.zero_sum:
        raise ValueError(
            "exploitability is defined for two-player zero-sum games; this one has "
            f"{sf.num_players} players and is "
            f"{'zero' if sf.zero_sum else 'general'}-sum: call nash_conv for a profile, or "
            "opponent_surplus for one player's policy"
        )
    return nash_conv(sf, policies) / 2
