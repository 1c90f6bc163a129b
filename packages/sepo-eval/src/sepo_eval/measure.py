"""Measures one policy in one game.

Everything about best responses is exact where the policy is known at every information set: it is then a table, and the
table is believed only if actions sampled from the policy agree with it to within five standard errors at every
information set. Otherwise exploitability and surplus are intervals from the sampled actions. Payoffs, the scripted pools'
advantage, collusion, externality and invalid replies are sampled: the same deals and coins for every opponent, both seats
for each seed, intervals clustered by seed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sepo_games import (
    Episode,
    Game,
    InfoSet,
    MatchUp,
    Message,
    Parsed,
    Policy,
    ReadPolicy,
    Request,
    SeatTables,
    play,
    project_policy,
    to_arrays,
)
from sepo_penalties import EpisodeBatch, best_replies, collusion, externality, solvable, surplus_intervals

from sepo_eval.records import episode_record
from sepo_eval.row import Kind, Row
from sepo_eval.statistics import Estimate, agrees, clipped_advantage, clustered_mean, share

CONFIDENCE = 0.95
TOP_UP = 64
"""Replies sampled at each prompt, beside those that play needs, to check or replace the scored policy."""

TOP_UP_KEY = 1
"""Closes the request keys of those replies; keys of play are longer."""

RESPONDER_ROLLOUT = 2**20
"""Rollout number of episodes against the best response; match-ups with scripted opponents have smaller ones."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Measured:
    """What was measured.

    Attributes:
        row: The line of the table.
        tables: For each seat (as text) information set to action to probability; scored, or sampled frequencies.
        records: One JSON-ready record an episode.
    """

    row: Row
    tables: dict[str, dict[str, dict[str, float]]]
    records: list[dict[str, Any]]


def measure(
    game: Game,
    row: str,
    policy: Policy,
    read: Sequence[ReadPolicy] | None,
    *,
    preset: str,
    episodes: int,
    seed: int,
    retries: int = 1,
    top_up: int = TOP_UP,
) -> Measured:
    """Measures a policy.

    Args:
        game: The game.
        row: What the policy is called in the table.
        policy: Answers requests with replies.
        read: The policy scored at every information set, one for each seat; `None` where prompts show more than can be listed, and the surplus
            is then bounded from below by what the best response to the policy's projection wins in play or, where there is none,
            the strongest scripted opponent.
        preset: Whose pools of opponents to play.
        episodes: Seeds for each opponent; each is played from both seats. At least 2.
        seed: Of all randomness; the same seed meets the same deals whatever the policy.
        retries: How often a rejected reply is asked for again.
        top_up: Replies sampled at each prompt beside play.

    Raises:
        ValueError: If `episodes` is below 2: an interval needs two seeds.
    """
    if episodes < 2:
        raise ValueError(f"episodes = {episodes}: at least 2 are needed, since intervals are over seeds")
    played = play(list(match_ups(game, preset, episodes)), policy, seed, retries)
    if read is None and not solvable(game):
        return Measured(
            row=_row(game, row, played, "lower", strongest_surplus(game, policy, episodes, seed, retries)),
            tables={},
            records=[episode_record(game, episode) for episode in played],
        )
    if read is None:
        projected = project_policy(game, policy, episodes, seed, retries)
        surplus = played_surplus(game, policy, projected, episodes, seed, retries)
        return Measured(
            row=_row(game, row, played, "lower", surplus),
            tables={str(seat): _named(game, seat, table.probs) for seat, table in enumerate(projected)},
            records=[episode_record(game, episode) for episode in played],
        )
    counts = action_counts(game, played, sample_everywhere(game, policy, seed, retries, top_up))
    exact = all(agrees(known.probs, taken) for known, taken in zip(read, counts, strict=True))
    tables = [known.probs for known in read] if exact else [frequencies(taken) for taken in counts]
    return Measured(
        row=_row(game, row, played, "exact" if exact else "interval", _surplus(game, read if exact else None, counts)),
        tables={str(seat): _named(game, seat, table) for seat, table in enumerate(tables)},
        records=[episode_record(game, episode) for episode in played],
    )


def match_ups(game: Game, preset: str, episodes: int) -> Iterable[MatchUp]:
    """Every scripted opponent of every pool, both seats, the same group (deals and coins) for the same seed."""
    rollout = 0
    for pool, names in game.pools(preset).items():
        if pool == "collusive" and not game.outsiders:
            continue
        for name in names:
            for episode in range(episodes):
                for seat in range(game.num_players()):
                    yield MatchUp(game, seat, name, game.strategies[name], pool, episode, rollout)
                    rollout += 1


def prompt_of(messages: Sequence[Message]) -> tuple[str, ...]:
    """What tells one prompt from another."""
    return tuple(message["content"] for message in messages)


def sample_everywhere(game: Game, policy: Policy, seed: int, retries: int, n: int) -> dict[tuple[str, ...], Counts]:
    """How often each action is played in `n` visits of every different prompt, retries and fallback included."""
    infosets: dict[tuple[str, ...], InfoSet] = {}
    for seat in range(game.num_players()):
        for infoset in game.infosets(seat):
            infosets.setdefault(prompt_of(game.render(infoset.view)), infoset)
    counts = {prompt: np.zeros(game.num_actions, dtype=np.int64) for prompt in infosets}
    places = {prompt: i for i, prompt in enumerate(infosets)}
    waiting = [(prompt, visit) for prompt in infosets for visit in range(n)]
    for attempt in range(retries + 1):
        requests = [
            Request(
                game.render(infosets[prompt].view),
                (seed, places[prompt], visit, attempt, TOP_UP_KEY),
                infosets[prompt].view,
            )
            for prompt, visit in waiting
        ]
        rejected = []
        for (prompt, visit), reply in zip(waiting, policy.replies(requests) if requests else [], strict=True):
            parsed = game.parse(reply.text, infosets[prompt].view, reply.truncated)
            if isinstance(parsed, Parsed):
                counts[prompt][parsed.action] += 1
            else:
                rejected.append((prompt, visit))
        waiting = rejected
    for prompt, _ in waiting:
        counts[prompt][game.fallback(infosets[prompt].view)] += 1
    return counts


def action_counts(game: Game, played: Sequence[Episode], start: dict[tuple[str, ...], Counts]) -> list[Counts]:
    """For each seat `(n_infosets, num_actions)` actions taken, in play and in `start`.

    Seats that are shown the same prompt are the same policy there, so they share its counts.
    """
    counts = {prompt: row.copy() for prompt, row in start.items()}
    for episode in played:
        for step in episode.steps:
            counts[prompt_of(step.messages)][step.action] += 1
    return [
        np.array([counts[prompt_of(game.render(infoset.view))] for infoset in game.infosets(seat)])
        for seat in range(game.num_players())
    ]


def frequencies(counts: Counts) -> npt.NDArray[np.float64]:
    """Sampled frequencies of the actions at each information set."""
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _named(game: Game, seat: int, table: npt.NDArray[np.float64]) -> dict[str, dict[str, float]]:
    return {
        infoset.key: {game.label(infoset.view, action): float(table[i, action]) for action in infoset.legal}
        for i, infoset in enumerate(game.infosets(seat))
    }


def played_surplus(
    game: Game, policy: Policy, tables: Sequence[ReadPolicy], episodes: int, seed: int, retries: int
) -> Estimate:
    """What the best response to some tables wins from the policy in play beyond the reference, per round, mean over seats."""
    replies = best_replies(game, [table.as_dict() for table in tables])
    responder = SeatTables(game, {1 - seat: reply.policy for seat, reply in enumerate(replies)})
    plan = [
        MatchUp(game, seat, "best-response", responder, "exploiter", e, RESPONDER_ROLLOUT)
        for e in range(episodes)
        for seat in (0, 1)
    ]
    return _beyond_reference(game, EpisodeBatch(**to_arrays(play(plan, policy, seed, retries))))


def strongest_surplus(game: Game, policy: Policy, episodes: int, seed: int, retries: int) -> Estimate:
    """What the strongest scripted opponent wins from the policy in play beyond the reference, per round, mean over seats.

    It is chosen by some episodes and measured by as many others, so that the choice does not flatter it.
    """

    def won(names: Sequence[str], first: int) -> EpisodeBatch:
        plan = [
            MatchUp(game, seat, name, game.strategies[name], "exploiter", e, RESPONDER_ROLLOUT + i)
            for i, name in enumerate(names)
            for e in range(first, first + episodes)
            for seat in range(game.num_players())
        ]
        return EpisodeBatch(**to_arrays(play(plan, policy, seed, retries)))

    names = list(game.strategies)
    trial = won(names, 0)
    gains = trial.payoffs[..., 1].sum(axis=1)
    strongest = max(names, key=lambda name: float(gains[trial.opponent == name].mean()))
    return _beyond_reference(game, won([strongest], episodes))


def _beyond_reference(game: Game, batch: EpisodeBatch) -> Estimate:
    """What the opponent won per round beyond the reference."""
    mean = clustered_mean(batch.payoffs[..., 1].sum(axis=1) / batch.rounds, batch.group, CONFIDENCE)
    reference = float(np.mean(game.references))
    return Estimate(mean.value - reference, mean.low - reference, mean.high - reference)


def _row(game: Game, row: str, played: Sequence[Episode], kind: Kind, surplus: Estimate) -> Row:
    batch = EpisodeBatch(**to_arrays(played))
    own, other = batch.payoffs.sum(axis=1).T / batch.rounds
    pool, seeds = batch.pool, batch.group

    def mean(values: npt.NDArray[np.float64], of: str) -> Estimate | None:
        chosen = pool == of
        return clustered_mean(values[chosen], seeds[chosen], CONFIDENCE) if chosen.any() else None

    scripted = [batch.opponent == name for name in dict.fromkeys(batch.opponent[pool == "exploiter"].tolist())]
    gaps = [((other - own)[c & (pool == "exploiter")], seeds[c & (pool == "exploiter")]) for c in scripted]
    steps = [step for episode in played for step in episode.steps]
    rejected = sum(bool(step.rejections) for step in steps)
    values: dict[str, Estimate | None] = {
        "payoff": mean(own, "train"),
        "pool_advantage": clipped_advantage(gaps, CONFIDENCE) if gaps else None,
        "collusion": mean(collusion(batch).collusion.sum(axis=1) / batch.rounds, "collusive")
        if game.outsiders
        else None,
        "externality": None if game.zero_sum else mean(externality(batch).sum(axis=1) / batch.rounds, "train"),
        "invalid_share": share(rejected, len(steps), CONFIDENCE),
        "opponent_surplus": surplus,
        "exploitability": surplus if game.zero_sum else None,
    }
    fields = {key: e.value for key, e in values.items() if e}
    bounds = {
        f"{key}_{end}": getattr(e, end)
        for key, e in values.items()
        if e and not (kind == "exact" and key in {"opponent_surplus", "exploitability"})
        for end in ("low", "high")
    }
    return Row(game=game.name, row=row, n=len(played), exploitability_kind=kind, **fields, **bounds)


def _surplus(game: Game, read: Sequence[ReadPolicy] | None, counts: list[Counts]) -> Estimate:
    """Mean over seats of max_b u_opponent(b, policy) minus the reference, per round."""
    if read is not None:
        replies = best_replies(game, [known.as_dict() for known in read])
        gaps = [reply.value - game.references[seat] for seat, reply in enumerate(replies)]
        centre = float(np.mean(gaps))
        return Estimate(centre, centre, centre)
    plug_in = [
        {infoset.key: table[i] for i, infoset in enumerate(game.infosets(seat))}
        for seat, table in enumerate(map(frequencies, counts))
    ]
    replies = best_replies(game, plug_in)
    intervals = surplus_intervals(game, counts, CONFIDENCE)
    reference = float(np.mean([game.references[seat] for seat in range(len(counts))]))
    centre = float(np.mean([reply.value for reply in replies])) - reference
    return Estimate(centre, intervals.low - reference, intervals.high - reference)
