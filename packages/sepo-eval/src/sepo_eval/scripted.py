"""Rows of scripted strategies: the yardsticks beside which a model's numbers are read."""

from sepo_games import Game, ScriptedPolicy, strategy_policy

from sepo_eval.measure import measure
from sepo_eval.row import Row


def scripted_rows(game: Game, preset: str, episodes: int, seed: int) -> list[Row]:
    """Measures the game's own yardstick strategies exactly as a model is measured."""
    rows = []
    for name in game.yardsticks:
        strategy = game.strategies[name]
        read = [strategy_policy(game, seat, strategy) for seat in range(game.num_players())]
        policy = ScriptedPolicy(game, strategy)
        rows.append(measure(game, name, policy, read, preset=preset, episodes=episodes, seed=seed).row)
    return rows
