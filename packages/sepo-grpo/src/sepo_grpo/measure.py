"""The one place where training calls measurement: through `sepo_eval.measure`, if sepo-eval is installed."""

from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sepo_games import Game, read_policy

from sepo_grpo.choose import policy_of
from sepo_grpo.config import RunConfig
from sepo_grpo.files import read_lines, to_json, write_lines, write_text
from sepo_grpo.language_model import LanguageModel

if TYPE_CHECKING:
    from rich.table import Table


BASE_SHARE, BASE_TOP_UP = 8, 2
"""The base model gets this many times fewer episodes, and few replies beside play: its long, all different replies cost a hundred
times a trained policy's."""


def can_measure() -> bool:
    """Whether sepo-eval is installed."""
    return util.find_spec("sepo_eval") is not None


def measure_model(lm: LanguageModel, row: str, games: list[Game], config: RunConfig, folder: Path) -> None:
    """Measures a model in every game and keeps row, policy tables and episodes; does nothing where that is already done."""
    import sepo_eval  # noqa: PLC0415

    done = folder / "rows" / f"{row}.json"
    if done.exists():
        return
    untrained = row == "base"
    policy = policy_of(lm, config.temperature, config.max_tokens, config.actions == "choose")
    rows, tables, episodes = [], {}, []
    for game in games:
        read = None
        if game.enumerable:
            read = [read_policy(game, seat, policy.score, config.retries) for seat in range(game.num_players())]
        measured = sepo_eval.measure(
            game,
            row,
            policy,
            read,
            preset=config.preset,
            episodes=max(2, config.eval_episodes // BASE_SHARE) if untrained else config.eval_episodes,
            seed=config.seed,
            top_up=BASE_TOP_UP if untrained else sepo_eval.TOP_UP,
            retries=config.retries,
        )
        rows.append(measured.row.model_dump())
        tables[game.name] = measured.tables
        episodes += [{"row": row, **record} for record in measured.records]
    path = folder / "episodes.jsonl"
    write_lines(path, [e for e in read_lines(path) if e["row"] != row] + episodes)
    write_text(done, to_json({"rows": rows, "policies": tables}))


def measure_scripted(games: list[Game], config: RunConfig) -> list[dict[str, Any]]:
    """The rows of the scripted strategies beside which a model's numbers are read."""
    import sepo_eval  # noqa: PLC0415

    return [
        row.model_dump()
        for game in games
        for row in sepo_eval.scripted_rows(game, config.preset, config.eval_episodes, config.seed)
    ]


def result_tables(rows: list[dict[str, Any]]) -> "list[Table]":
    """The rows as terminal tables, one a game."""
    import sepo_eval  # noqa: PLC0415

    return sepo_eval.result_tables([sepo_eval.Row.model_validate(row) for row in rows])
