"""Exact best responses, collusion and externality accounting, and rewards from them."""

from importlib.metadata import version

from sepo_penalties.advantages import group_advantages, returns
from sepo_penalties.auction import first_price_auction, known_value_auction, sale
from sepo_penalties.batch_ledger import (
    BatchLedger,
    batch_ledger,
    collusion_index,
    profit_gain,
    signed_ledger,
    welfare_shortfall,
)
from sepo_penalties.benchmarks import Benchmark, Outcome, grid_benchmark
from sepo_penalties.bertrand import logit_bertrand, logit_market, logit_prices
from sepo_penalties.best_response import (
    BestResponse,
    best_response,
    exploitability,
    nash_conv,
    policy_value,
    realisation_plan,
)
from sepo_penalties.cfr import CfrResult, cfr_plus
from sepo_penalties.correlated import CorrelatedEquilibrium, correlated_equilibrium
from sepo_penalties.dependence import Information, information_test, mutual_information, transfer_entropy, transfer_test
from sepo_penalties.episodes import EpisodeBatch
from sepo_penalties.equilibrium import zero_sum_equilibrium, zero_sum_value
from sepo_penalties.exact import BestReply, best_replies, solvable
from sepo_penalties.gradient import blame, exploitability_gradient, exploitation_loss
from sepo_penalties.impulse import ImpulseResponse, impulse_response
from sepo_penalties.interval import (
    Interval,
    clopper_pearson,
    exploitability_interval,
    repeated_surplus_interval,
    surplus_intervals,
)
from sepo_penalties.kernels import Kernel, batch_nash_conv, batch_response_value, kernel_of
from sepo_penalties.lagrangian import PidLagrangian, break_even_lambda, weight_sweep
from sepo_penalties.ledger import Collusion, collusion, externality, gross_harm
from sepo_penalties.legs import (
    CoalitionSearch,
    OutcomeLeg,
    deviation_gain,
    equilibrium_gaps,
    find_coalition,
    outcome_leg,
    paired_ledger,
)
from sepo_penalties.memory_estimate import MemoryEstimate, estimate_memory
from sepo_penalties.memory_one import MemoryOne, memory_one_best_response, memory_one_value
from sepo_penalties.oligopoly import commons, cournot, public_goods
from sepo_penalties.presets import PUBLISHED, PublishedGame, paper, pigou
from sepo_penalties.regret import decision_regret, per_rollout_regret, regret
from sepo_penalties.repeated import RepeatedGame, repeated_best_response, repeated_value
from sepo_penalties.report import PartReport, Report, group_report
from sepo_penalties.reward import Parts, SepoReward, Weights
from sepo_penalties.screens import Screens, bid_screens, conditional_independence
from sepo_penalties.sequence_form import SequenceForm, Treeplex
from sepo_penalties.stochastic import StochasticGame, stochastic_best_response
from sepo_penalties.surplus import Surplus, opponent_surplus, pool_advantage
from sepo_penalties.terminals import Terminal

__all__ = [
    "PUBLISHED",
    "BatchLedger",
    "Benchmark",
    "BestReply",
    "BestResponse",
    "CfrResult",
    "CoalitionSearch",
    "Collusion",
    "CorrelatedEquilibrium",
    "EpisodeBatch",
    "ImpulseResponse",
    "Information",
    "Interval",
    "Kernel",
    "MemoryEstimate",
    "MemoryOne",
    "Outcome",
    "OutcomeLeg",
    "PartReport",
    "Parts",
    "PidLagrangian",
    "PublishedGame",
    "RepeatedGame",
    "Report",
    "Screens",
    "SepoReward",
    "SequenceForm",
    "StochasticGame",
    "Surplus",
    "Terminal",
    "Treeplex",
    "Weights",
    "batch_ledger",
    "batch_nash_conv",
    "batch_response_value",
    "best_replies",
    "best_response",
    "bid_screens",
    "blame",
    "break_even_lambda",
    "cfr_plus",
    "clopper_pearson",
    "collusion",
    "collusion_index",
    "commons",
    "conditional_independence",
    "correlated_equilibrium",
    "cournot",
    "decision_regret",
    "deviation_gain",
    "equilibrium_gaps",
    "estimate_memory",
    "exploitability",
    "exploitability_gradient",
    "exploitability_interval",
    "exploitation_loss",
    "externality",
    "find_coalition",
    "first_price_auction",
    "grid_benchmark",
    "gross_harm",
    "group_advantages",
    "group_report",
    "impulse_response",
    "information_test",
    "kernel_of",
    "known_value_auction",
    "logit_bertrand",
    "logit_market",
    "logit_prices",
    "memory_one_best_response",
    "memory_one_value",
    "mutual_information",
    "nash_conv",
    "opponent_surplus",
    "outcome_leg",
    "paired_ledger",
    "paper",
    "per_rollout_regret",
    "pigou",
    "policy_value",
    "pool_advantage",
    "profit_gain",
    "public_goods",
    "realisation_plan",
    "regret",
    "repeated_best_response",
    "repeated_surplus_interval",
    "repeated_value",
    "returns",
    "sale",
    "signed_ledger",
    "solvable",
    "stochastic_best_response",
    "surplus_intervals",
    "transfer_entropy",
    "transfer_test",
    "weight_sweep",
    "welfare_shortfall",
    "zero_sum_equilibrium",
    "zero_sum_value",
]
__version__ = version("sepo-penalties")
