"""Supervised traces: decisions of scripted strategies as chat rows.

One strategy is drawn from the preset's mixture for each episode and plays an opponent of the pools from either seat. Every
decision becomes a row with the prompt and the canonical reply, and no rationale: the replies say nothing that is not true.
"""

from dataclasses import dataclass

from sepo_games.coins import coins, draw
from sepo_games.play import Episode, MatchUp, play
from sepo_games.policies import ScriptedPolicy
from sepo_games.types import Game, Message

BATCH = 256
"""Episodes played at a time."""
HELD_OUT = 10
"""Every tenth episode is held out for validation."""
MIXTURE = 7
"""Ends the key of the coin that draws an episode's strategy; no other key is as short."""


@dataclass(frozen=True)
class SftRow:
    """One decision: the prompt, the reply to learn, and where it comes from.

    Attributes:
        messages: System and user message.
        reply: The assistant's reply; the loss is on it alone.
        key: Information set.
        action: The action that the reply names.
        strategy: Who played it.
        episode: Number of the episode; split by it, never by row.
    """

    messages: tuple[Message, ...]
    reply: str
    key: str
    action: int
    strategy: str
    episode: int


def held_out(episode: int) -> bool:
    """Whether an episode's rows are for validation."""
    return episode % HELD_OUT == HELD_OUT - 1


def sft_rows(game: Game, preset: str, n: int, seed: int) -> list[SftRow]:
    """Makes `n` rows, in the order of episodes; the same arguments give the same rows.

    Args:
        game: The game.
        preset: Whose mixture and pools to use.
        n: Number of decisions, at least 1.
        seed: Non-negative.

    Raises:
        ValueError: If `n` is below 1 or `seed` is negative.
    """
    if n < 1:
        raise ValueError(f"n = {n}: at least one row must be asked for")
    if seed < 0:
        raise ValueError(f"seed = {seed}: it must be 0 or more")
    names, weights = zip(*game.sft_mixture(preset), strict=True)
    opponents = sorted({name for pool in game.pools(preset).values() for name in pool})
    rows: list[SftRow] = []
    episode = 0
    while len(rows) < n:
        uniforms = coins([(seed, number, MIXTURE) for number in range(episode, episode + BATCH)])
        drawn = [draw(weights, uniform) for uniform in uniforms]
        finished: dict[int, tuple[str, Episode]] = {}
        for index, name in enumerate(names):
            numbers = [episode + i for i, d in enumerate(drawn) if d == index]
            match_ups = []
            for number in numbers:
                opponent = opponents[number // game.num_players() % len(opponents)]
                seat = number % game.num_players()
                match_ups.append(MatchUp(game, seat, opponent, game.strategies[opponent], "train", number, 0))
            played = play(match_ups, ScriptedPolicy(game, game.strategies[name]), seed)
            finished |= {number: (name, one) for number, one in zip(numbers, played, strict=True)}
        for number, (name, one) in sorted(finished.items()):
            rows += [SftRow(s.messages, s.replies[-1].text, s.key, s.action, name, number) for s in one.steps]
        episode += BATCH
    return rows[:n]
