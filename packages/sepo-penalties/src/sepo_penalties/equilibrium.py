"""Values and equilibria of two-player zero-sum games, by linear programming.

The sequence-form program of Koller, Megiddo and von Stengel (1996):

    value = max_x min_y x' G y,  x and y realisation plans, G the chance-weighted payoffs of player 0.

For each player the plan that leaves its opponent the least best-response value is an equilibrium strategy.
"""

import numpy as np

from sepo_penalties.box import full_box, least_plan
from sepo_penalties.sequence_form import Array, SequenceForm

UNREACHED = 1e-12
"""Own reach below which a plan says nothing about the policy."""


def zero_sum_equilibrium(sf: SequenceForm) -> tuple[float, list[Array]]:
    """The value and a pair of equilibrium policies.

    Args:
        sf: A two-player zero-sum game.

    Returns:
        The expected payoff of player 0 in the game's units, and one policy `(n_infosets, max_actions)` for
        each player. Information sets that the player's own policy never reaches are uniform there.

    Raises:
        ValueError: If the game is not two-player zero-sum.
    """
    if sf.num_players != 2 or not sf.zero_sum:
        raise ValueError(
            f"the linear program solves two-player zero-sum games; this one has {sf.num_players} "
            "players and is "
            f"{'zero' if sf.zero_sum else 'general'}-sum: nash_conv tells how far a profile of it "
            "is from equilibrium"
        )
    solved = [least_plan(sf, full_box(sf, seat), seat) for seat in (0, 1)]
    return -solved[0][0], [policy_of_plan(sf, plan, seat) for seat, (_, plan) in enumerate(solved)]


def zero_sum_value(sf: SequenceForm) -> float:
    """Expected payoff of player 0 in equilibrium, in the game's units; that of player 1 is its negative.

    Raises:
        ValueError: If the game is not two-player zero-sum.
    """
    return zero_sum_equilibrium(sf)[0]


def policy_of_plan(sf: SequenceForm, plan: Array, player: int) -> Array:
    """`(n_infosets, max_actions)` x(sequence) / x(parent) of a plan, uniform where x(parent) is 0."""
    tree = sf.treeplexes[player]
    policy = sf.uniform_policy(player)
    for i, (offset, actions) in enumerate(zip(tree.offsets, tree.actions, strict=True)):
        block = np.maximum(plan[offset : offset + len(actions)], 0.0)
        if block.sum() > UNREACHED:
            policy[i, : len(actions)] = block / block.sum()
    return policy
