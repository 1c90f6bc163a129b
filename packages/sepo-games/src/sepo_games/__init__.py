"""Strategic games in natural language: rules, prompts, strict parsers, scripted opponents and play."""

from importlib.metadata import version

from sepo_games.arrays import to_arrays
from sepo_games.auction import Auction
from sepo_games.callables import ChatPolicy, TextPolicy
from sepo_games.commons import Commons
from sepo_games.ipd import Ipd
from sepo_games.ipd_strategies import memory_one, zero_determinant
from sepo_games.kuhn import Kuhn
from sepo_games.leduc import Leduc
from sepo_games.matrix import Matrix
from sepo_games.multi_issue import MultiIssue
from sepo_games.play import Episode, MatchUp, Step, play
from sepo_games.policies import (
    ReadPolicy,
    ScriptedPolicy,
    project_policy,
    read_policy,
    strategy_policy,
    strategy_table,
    table_policy,
)
from sepo_games.pricing import Pricing
from sepo_games.registry import game_names, get_game
from sepo_games.sft import SftRow, held_out, sft_rows
from sepo_games.split import Split
from sepo_games.strategies import Scripted, SeatTables, TableStrategy
from sepo_games.types import (
    Alternative,
    Entry,
    Game,
    InfoSet,
    Message,
    Parsed,
    Policy,
    Rejected,
    Reply,
    Request,
    State,
    Strategy,
)
from sepo_games.vector import play_scripted

__all__ = [
    "Alternative",
    "Auction",
    "ChatPolicy",
    "Commons",
    "Entry",
    "Episode",
    "Game",
    "InfoSet",
    "Ipd",
    "Kuhn",
    "Leduc",
    "MatchUp",
    "Matrix",
    "Message",
    "MultiIssue",
    "Parsed",
    "Policy",
    "Pricing",
    "ReadPolicy",
    "Rejected",
    "Reply",
    "Request",
    "Scripted",
    "ScriptedPolicy",
    "SeatTables",
    "SftRow",
    "Split",
    "State",
    "Step",
    "Strategy",
    "TableStrategy",
    "TextPolicy",
    "game_names",
    "get_game",
    "held_out",
    "memory_one",
    "play",
    "play_scripted",
    "project_policy",
    "read_policy",
    "sft_rows",
    "strategy_policy",
    "strategy_table",
    "table_policy",
    "to_arrays",
    "zero_determinant",
]
__version__ = version("sepo-games")
