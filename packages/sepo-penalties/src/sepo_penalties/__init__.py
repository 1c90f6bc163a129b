"""Exact best responses, collusion and externality accounting, and rewards from them."""

from importlib.metadata import version

from sepo_penalties.advantages import group_advantages, returns
from sepo_penalties.best_response import BestResponse, best_response, exploitability, nash_conv, policy_value, realisation_plan
from sepo_penalties.episodes import EpisodeBatch
from sepo_penalties.exact import BestReply, best_replies
from sepo_penalties.interval import Interval, clopper_pearson, surplus_intervals
from sepo_penalties.ledger import Collusion, collusion, externality
from sepo_penalties.repeated import RepeatedGame, repeated_best_response
from sepo_penalties.reward import Parts, SepoReward, Weights
from sepo_penalties.sequence_form import SequenceForm, Treeplex

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
    "Treeplex",
    "Weights",
    "best_replies",
    "best_response",
    "clopper_pearson",
    "collusion",
    "exploitability",
    "externality",
    "group_advantages",
    "nash_conv",
    "policy_value",
    "realisation_plan",
    "repeated_best_response",
    "returns",
    "surplus_intervals",
]
__version__ = version("sepo-penalties")
