"""One JSON-ready record an episode: everything that is needed to score it again."""

from typing import Any

from sepo_games import Episode, Game


def episode_record(game: Game, episode: Episode) -> dict[str, Any]:
    """The record of an episode: who played whom, and every decision with replies, verdicts and payoffs."""
    match_up = episode.match_up
    return {
        "game": game.name,
        "pool": match_up.pool,
        "opponent": match_up.opponent_name,
        "seat": match_up.seat,
        "group": match_up.group,
        "steps": [
            {
                "segment": step.segment,
                "round": step.round,
                "infoset": step.key,
                "replies": [reply.text for reply in step.replies],
                "rejected": [rejection.kind for rejection in step.rejections],
                "action": step.action,
                "valid": step.valid,
                "payoffs": list(step.payoffs),
                "outsiders": list(step.outsiders),
            }
            for step in episode.steps
        ],
    }
