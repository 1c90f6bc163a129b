"""What a player forgoes: per decision and rollout in a tree, per round in a log of play.

With Q*(I, a) the responder's expected payoff after action a at information set I when it goes on with a best
response to the others,

    BR_i - u_i = E over on-policy rollouts of  sum over i's decisions of  max_b Q*(I, b) - Q*(I, a),

so the mean of the per-rollout regret is exactly the player's term of NashConv, and every rollout's is at least
0. It charges the player that fails to deviate; `gradient.blame` charges the one that lets itself be exploited.

In a log of T joint actions, the regret of the best fixed action and the swap regret are

    max_b (1/T) sum_t u_i(b, a_-i,t) - u_i(a_t),    (1/T) sum_a max_b sum_{t: a_i,t = a} u_i(b, a_-i,t) - u_i(a_t).

They are the distances of the empirical joint distribution from coarse and from full correlated equilibrium.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sepo_penalties.best_response import best_response, profile_plans, terminal_reach
from sepo_penalties.gradient import infoset_reach
from sepo_penalties.sequence_form import Array, SequenceForm


def decision_regret(sf: SequenceForm, policies: Sequence[npt.ArrayLike], player: int) -> Array:
    """What each action of a player forgoes against the others' policies.

    Args:
        sf: The game.
        policies: One behaviour policy for each player.
        player: Whose actions are judged.

    Returns:
        `(..., n_infosets, max_actions)` max_b Q*(I, b) - Q*(I, a) >= 0 in the game's units; 0 past the legal
        actions and where the others never lead. A rollout's regret is the sum over its (I, a).

    Raises:
        ValueError: If a policy is not one, or there is no such player.
    """
    values = best_response(sf, policies, player).action_values
    reach = terminal_reach(sf, profile_plans(sf, policies), without=player)
    seen = infoset_reach(sf, player, [sf.uniform_policy(p) for p in range(sf.num_players)], reach)[..., None]
    gap = values.max(axis=-1, keepdims=True) - values
    return np.asarray(np.where((seen > 0) & np.isfinite(gap), gap, 0.0) / np.where(seen > 0, seen, 1.0))


def per_rollout_regret(sf: SequenceForm, policies: Sequence[npt.ArrayLike], player: int) -> Array:
    """The regret of every rollout, one for each terminal.

    Args:
        sf: The game.
        policies: One behaviour policy for each player.
        player: Whose decisions are judged.

    Returns:
        `(..., n_terminals)` sum of `decision_regret` over the player's decisions on the way to each terminal; its
        mean over rollouts of the profile is best-response value - value.

    Raises:
        ValueError: If a policy is not one, or there is no such player.
    """
    table, tree = decision_regret(sf, policies, player), sf.treeplexes[player]
    total = np.zeros((*table.shape[:-2], tree.num_sequences))
    for i, (parent, offset, actions) in enumerate(zip(tree.parents, tree.offsets, tree.actions, strict=True)):
        total[..., offset : offset + len(actions)] = total[..., parent, None] + table[..., i, : len(actions)]
    return np.asarray(total[..., sf.last[player]])


def regret(payoffs: npt.ArrayLike, actions: npt.ArrayLike, player: int, swap: bool = False) -> Array:
    """The regret of logged play in a matrix game, per round.

    Args:
        payoffs: `(n_players, a_1, ..., a_n)` payoff of each player for each joint action.
        actions: `(..., T, n_players)` what everybody played in each round.
        player: Whose regret it is.
        swap: Whether each of the player's actions may be replaced by another one of its own (swap regret),
            instead of all of them by the same (regret of the best fixed action).

    Returns:
        `(...,)` in payoff units per round. Swap regret is >= 0 and at least the other; the regret of the best
        fixed action is negative where play beat every fixed action.

    Raises:
        ValueError: If a shape is wrong, an action or the player does not exist, there is no round, or a payoff is
            not finite.
    """
    table: Array = SequenceForm.from_matrix(payoffs).payoffs.reshape(np.asarray(payoffs).shape)
    n, sizes = table.shape[0], np.array(table.shape[1:])
    play = np.asarray(actions)
    if play.ndim < 2 or play.shape[-1] != n or play.shape[-2] == 0 or not np.issubdtype(play.dtype, np.integer):
        raise ValueError(f"actions are {play.dtype} of shape {play.shape}: whole numbers (..., T >= 1, {n}) are needed")
    if not 0 <= player < n:
        raise ValueError(f"player {player} does not exist: choose from 0 to {n - 1}")
    if ((play < 0) | (play >= sizes)).any():
        place = tuple(np.argwhere((play < 0) | (play >= sizes))[0].tolist())
        raise ValueError(f"action {play[place]} at {place} does not exist: player {place[-1]} has {sizes[place[-1]]}")
    own = play[..., player]
    others = tuple(np.delete(play, player, axis=-1)[..., k] for k in range(n - 1))
    # (..., T, own actions): what each action would have earned.
    earned = np.moveaxis(table[player], player, -1)[others]
    gains = earned - np.take_along_axis(earned, own[..., None], axis=-1)
    if not swap:
        return np.asarray(gains.mean(axis=-2).max(axis=-1))
    used = own[..., None] == np.arange(sizes[player])
    return np.asarray(np.einsum("...ta,...tb->...ab", used, gains).max(axis=-1).sum(axis=-1) / play.shape[-2])
