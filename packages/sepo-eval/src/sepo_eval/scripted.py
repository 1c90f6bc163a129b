"""Rows of scripted strategies: the yardsticks beside which a model's numbers are read."""

from collections.abc import Sequence

from sepo_games import Game, ScriptedPolicy, strategy_policy

from sepo_eval.measure import measure
from sepo_eval.row import Row


def scripted_rows(game: Game, preset: str, episodes: int, seed: int, names: Sequence[str] | None = None) -> list[Row]:
    """Measures scripted strategies exactly as a model is measured.

    Args:
        game: The game.
        preset: Whose pools of opponents to play.
        episodes: Seeds for each opponent.
        seed: Of deals and coins.
        names: Strategies by name; by default the game's yardsticks.

    Raises:
        ValueError: If a strategy looks at more of the history than the prompt shows, so that it has no table.
    """
    rows = []
    for name in names or game.yardsticks:
        strategy = game.strategies[name]
        listed = (
            [strategy_policy(game, seat, strategy) for seat in range(game.num_players())] if game.enumerable else None
        )
        policy = ScriptedPolicy(game, strategy)
        rows.append(measure(game, name, policy, listed, preset=preset, episodes=episodes, seed=seed).row)
    return rows
