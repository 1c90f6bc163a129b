"""Exact best responses, collusion and externality accounting, and rewards from them."""

from importlib.metadata import version

from sepo_penalties.advantages import group_advantages, returns
from sepo_penalties.best_response import (
    BestResponse,
    best_response,
    exploitability,
    nash_conv,
    policy_value,
    realisation_plan,
)
from sepo_penalties.episodes import EpisodeBatch
from sepo_penalties.equilibrium import zero_sum_equilibrium, zero_sum_value
from sepo_penalties.exact import BestReply, best_replies
from sepo_penalties.interval import (
    Interval,
    clopper_pearson,
    exploitability_interval,
    repeated_surplus_interval,
    surplus_intervals,
)
from sepo_penalties.ledger import Collusion, collusion, externality
from sepo_penalties.repeated import RepeatedGame, repeated_best_response, repeated_value
from sepo_penalties.reward import Parts, SepoReward, Weights
from sepo_penalties.sequence_form import SequenceForm, Treeplex
from sepo_penalties.stochastic import StochasticGame, stochastic_best_response
from sepo_penalties.surplus import Surplus, opponent_surplus, pool_advantage

__all__ = [
    "BestReply",
    "BestResponse",
    "Collusion",
    "EpisodeBatch",
    "Interval",
    "Parts",
    "RepeatedGame",
    "SepoReward",
    "SequenceForm",
    "StochasticGame",
    "Surplus",
    "Treeplex",
    "Weights",
    "best_replies",
    "best_response",
    "clopper_pearson",
    "collusion",
    "exploitability",
    "exploitability_interval",
    "externality",
    "group_advantages",
    "nash_conv",
    "opponent_surplus",
    "policy_value",
    "pool_advantage",
    "realisation_plan",
    "repeated_best_response",
    "repeated_surplus_interval",
    "repeated_value",
    "returns",
    "stochastic_best_response",
    "surplus_intervals",
    "zero_sum_equilibrium",
    "zero_sum_value",
]
__version__ = version("sepo-penalties")
