"""Who lets itself be exploited, and where: gradients of the best-response value.

By the envelope theorem (Danskin; exploitability descent, Lockhart et al. 2019) the derivative of
max_b u_by(b, pi) is that of u_by(b*, pi) with the best response b* held fixed:

    d / d pi(a | I) = x(parent of I) V(I, a),

with x the player's own realisation plan and V(I, a) the payoff of `by` behind the action, weighted by chance,
by everybody else's reach (b* included) and by the player's own play afterwards. Divided by the same sum with
all payoffs 1, which is the probability R(I) that the others lead to I, it is an expectation:

    Q(I, a) = V(I, a) / R(I),    blame(I, a) = Q(I, a) - sum_a' pi(a' | I) Q(I, a').

Blame has mean 0 under (pi, b*), and E[sum over decisions of blame x grad log pi] = grad max_b u_by(b, pi). At
ties of the best response it belongs to one subgradient: the first best action.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sepo_penalties.best_response import (
    best_response,
    policy_value,
    profile_plans,
    sequence_sums,
    terminal_reach,
)
from sepo_penalties.sequence_form import Array, SequenceForm
from sepo_penalties.terminals import TOLERANCE


def exploitability_gradient(
    sf: SequenceForm, policies: Sequence[npt.ArrayLike], player: int, by: int | None = None
) -> Array:
    """Derivative of max_b u_by(b, policies) with respect to one player's action probabilities.

    In a two-player zero-sum game this is the gradient of NashConv with respect to the policy, because the
    players' own values cancel.

    Args:
        sf: The game.
        policies: One behaviour policy for each player; that of `by` is not used.
        player: Whose policy is differentiated.
        by: Who responds; the other player if there are two.

    Returns:
        `(..., n_infosets, max_actions)`, payoff per unit of probability, in the game's units; rows are free, not
        tied to sum to 0; 0 past the legal actions.

    Raises:
        ValueError: If a policy is not one, or `player` and `by` are not two players of the game.
    """
    plans, values, _ = _against_response(sf, policies, player, by)
    return _by_action(sf, player, _behind(sf, player, policies, values), plans)


def blame(sf: SequenceForm, policies: Sequence[npt.ArrayLike], player: int, by: int | None = None) -> Array:
    """How much more the best responder gets after an action than on average at that information set.

    Args:
        sf: The game.
        policies: One behaviour policy for each player; that of `by` is not used.
        player: Whose actions are judged.
        by: Who responds; the other player if there are two.

    Returns:
        `(..., n_infosets, max_actions)` in the game's units, positive for actions that let themselves be
        exploited; 0 past the legal actions and where the others' play against the policy never leads.

    Raises:
        ValueError: If a policy is not one, or `player` and `by` are not two players of the game.
    """
    _, values, reach = _against_response(sf, policies, player, by)
    q = _by_action(sf, player, _behind(sf, player, policies, values))
    policy = sf.check_policy(player, policies[player])
    centred = q - (policy * q).sum(axis=-1, keepdims=True)
    seen = infoset_reach(sf, player, policies, reach)[..., None]
    legal = sf.num_actions(player)[:, None] > np.arange(sf.max_actions(player))
    return np.asarray(np.where(legal & (seen > 0), centred, 0.0) / np.where(seen > 0, seen, 1.0))


def exploitation_loss(
    sf: SequenceForm,
    policies: Sequence[npt.ArrayLike],
    player: int,
    reference_policy: npt.ArrayLike,
    by: int | None = None,
) -> tuple[Array, Array]:
    """What a player loses when another switches from a reference policy to a best response.

    loss = u_player(reference) - u_player(b*). Best responses that are equally good for `by` may differ for the
    player, so the least and the most over all of them are returned; in zero-sum games they are the same.

    Args:
        sf: The game.
        policies: One behaviour policy for each player; that of `by` is not used.
        player: Whose loss it is.
        reference_policy: What `by` plays otherwise, `(..., n_infosets, max_actions)`.
        by: Who responds; the other player if there are two.

    Returns:
        Least and most, `(...,)` each, in the game's units; positive is a loss.

    Raises:
        ValueError: If a policy is not one, or `player` and `by` are not two players of the game.
    """
    rival = exploiter(sf, player, by)
    before = policy_value(sf, [reference_policy if p == rival else q for p, q in enumerate(policies)])[..., player]
    answer = best_response(sf, policies, rival)
    others = profile_plans(sf, [sf.uniform_policy(p) if p == rival else q for p, q in enumerate(policies)])
    payoff = sequence_sums(sf, terminal_reach(sf, others, without=rival) * sf.payoffs[player], rival)
    slack = TOLERANCE * max(1.0, float(np.abs(sf.payoffs).max()))
    tree = sf.treeplexes[rival]
    least, most = payoff.copy(), payoff.copy()
    for i in reversed(range(len(tree.infosets))):
        block = slice(tree.offsets[i], tree.offsets[i] + len(tree.actions[i]))
        value = answer.action_values[..., i, : len(tree.actions[i])]
        best = value >= value.max(axis=-1, keepdims=True) - slack
        most[..., tree.parents[i]] += np.where(best, most[..., block], -np.inf).max(axis=-1)
        least[..., tree.parents[i]] += np.where(best, least[..., block], np.inf).min(axis=-1)
    return before - most[..., 0], before - least[..., 0]


def exploiter(sf: SequenceForm, player: int, by: int | None) -> int:
    """Who responds to `player`.

    Raises:
        ValueError: If `player` and `by` are not two players, or there are more than two and `by` is not given.
    """
    if by is None and sf.num_players != 2:
        raise ValueError(f"the game has {sf.num_players} players: name the one that responds, by=")
    rival = 1 - player if by is None else by
    if player == rival or not 0 <= player < sf.num_players or not 0 <= rival < sf.num_players:
        raise ValueError(
            f"player {player} and by {rival}: two different players from 0 to {sf.num_players - 1} are needed"
        )
    return rival


def infoset_reach(sf: SequenceForm, player: int, policies: Sequence[npt.ArrayLike], reach: Array) -> Array:
    """`(..., n_infosets)` probability that the others and chance lead to each information set of a player.

    Args:
        sf: The game.
        player: Whose information sets they are.
        policies: Only the player's own is used; what it plays does not matter, but it must be a policy.
        reach: `(..., n_terminals)` reach probability without the player's share.
    """
    totals = _behind(sf, player, policies, sequence_sums(sf, reach, player))
    # Behind every action of an information set lies the same probability.
    return np.asarray(totals[..., sf.treeplexes[player].offsets])


def _against_response(
    sf: SequenceForm, policies: Sequence[npt.ArrayLike], player: int, by: int | None
) -> tuple[Array, Array, Array]:
    """The player's plan, payoffs of the responder at the player's last sequences, and reach without the player."""
    rival = exploiter(sf, player, by)
    answer = best_response(sf, policies, rival).policy
    plans = profile_plans(sf, [answer if p == rival else policy for p, policy in enumerate(policies)])
    reach = terminal_reach(sf, plans, without=player)
    return plans[player], sequence_sums(sf, reach * sf.payoffs[rival], player), reach


def _behind(sf: SequenceForm, player: int, policies: Sequence[npt.ArrayLike], values: Array) -> Array:
    """Adds to each sequence what lies behind it when the player goes on with its policy."""
    tree, policy = sf.treeplexes[player], sf.check_policy(player, policies[player])
    total = np.broadcast_to(values, (*np.broadcast_shapes(values.shape[:-1], policy.shape[:-2]), values.shape[-1]))
    total = total.copy()
    for i in reversed(range(len(tree.infosets))):
        offset, n = tree.offsets[i], len(tree.actions[i])
        total[..., tree.parents[i]] += (policy[..., i, :n] * total[..., offset : offset + n]).sum(axis=-1)
    return total


def _by_action(sf: SequenceForm, player: int, values: Array, plan: Array | None = None) -> Array:
    """`(..., n_infosets, max_actions)` of numbers on sequences, times the plan at the parent if one is given."""
    tree = sf.treeplexes[player]
    weight = None if plan is None else np.broadcast_to(plan, values.shape)
    table = np.zeros((*values.shape[:-1], len(tree.infosets), tree.max_actions))
    for i, (parent, offset, actions) in enumerate(zip(tree.parents, tree.offsets, tree.actions, strict=True)):
        block = values[..., offset : offset + len(actions)]
        table[..., i, : len(actions)] = block if weight is None else block * weight[..., parent, None]
    return table
