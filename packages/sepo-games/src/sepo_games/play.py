"""Plays match-ups: all episodes, and the independent segments (hands) of each, advance together, one batch of questions at a time.

A simultaneous round collects both moves before it is resolved. A rejected reply is asked for again with the same prompt, up to
`retries` times; then the game's declared fallback is played and the step is marked invalid. Chance and opponents draw from
counter-based coins keyed by (seed, group, segment, round), so all rollouts of a group share them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sepo_games.coins import CHANCE, OPPONENT, coin, draw
from sepo_games.types import Entry, Game, Message, Parsed, Policy, Rejected, Reply, Request, Strategy


@dataclass(frozen=True)
class MatchUp:
    """One episode to play.

    Attributes:
        game: The game.
        seat: The learner's seat in the first segment.
        opponent_name: What the opponent is called.
        opponent: The opponent.
        pool: `train`, `exploiter` or `collusive`.
        group: Episodes of one group share deals and coins.
        rollout: Tells the episodes of a group apart; the learner's own randomness depends on it.
    """

    game: Game
    seat: int
    opponent_name: str
    opponent: Strategy
    pool: str
    group: int
    rollout: int


@dataclass(frozen=True)
class Step:
    """One decision of the learner.

    Attributes:
        segment: The hand, from 0.
        round: The round within the segment, from 0.
        slot: Column of the step in arrays.
        seat: The learner's seat in this segment's tree.
        key: Its information set.
        view: What it saw.
        messages: The prompt.
        replies: Every reply, the rejected ones first.
        rejections: Why each rejected one was.
        action: The action played.
        valid: Whether the last reply named it; otherwise it is the fallback.
        entries: Ledger lines booked here: those that finished before the learner's next decision.
    """

    segment: int
    round: int
    slot: int
    seat: int
    key: str
    view: Any
    messages: tuple[Message, ...]
    replies: tuple[Reply, ...]
    rejections: tuple[Rejected, ...]
    action: int
    valid: bool
    entries: tuple[Entry, ...] = ()

    @property
    def payoffs(self) -> tuple[float, float]:
        """Payoffs (learner, opponent) booked here."""
        return (
            sum(entry.payoffs[self.seat] for entry in self.entries),
            sum(entry.payoffs[1 - self.seat] for entry in self.entries),
        )

    @property
    def outsiders(self) -> tuple[float, ...]:
        """Payoffs of the outsiders booked here."""
        return tuple(map(sum, zip(*(entry.outsiders for entry in self.entries), strict=True)))


@dataclass(frozen=True)
class Episode:
    """A finished episode."""

    match_up: MatchUp
    steps: tuple[Step, ...]


@dataclass
class _Live:
    """One segment of an episode in play."""

    match_up: MatchUp
    seed: int
    segment: int
    state: Any
    steps: list[dict[str, Any]] = field(default_factory=list)
    decisions: int = 0
    booked: int = 0
    coins: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        return bool(self.state.is_terminal())

    @property
    def seat(self) -> int:
        return self.match_up.game.seat_of_segment(self.match_up.seat, self.segment)

    def coin(self, kind: int) -> float:
        """The next coin of a kind in the current round."""
        place = (self.booked, kind)
        order = self.coins[place] = self.coins.get(place, -1) + 1
        return coin(self.seed, self.match_up.group, self.segment, self.booked, kind, order)

    def opponent_move(self) -> int:
        view = self.match_up.game.view(self.state, 1 - self.seat)
        return draw(self.match_up.opponent.probs(view), self.coin(OPPONENT))

    def advance(self) -> None:
        """Plays chance and the opponent up to the learner's next decision or the end of the segment."""
        while True:
            self.book()
            state = self.state
            if state.is_terminal():
                return
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                self.state = state.child(outcomes[draw([p for _, p in outcomes], self.coin(CHANCE))][0])
            elif state.is_simultaneous_node() or state.current_player() == self.seat:
                return
            else:
                self.state = state.child(self.opponent_move())

    def book(self) -> None:
        """Books new ledger lines at the learner's last decision."""
        entries = self.state.entries
        if len(entries) > self.booked:
            self.steps[-1]["entries"] += entries[self.booked :]
            self.booked = len(entries)

    def act(self, step: dict[str, Any]) -> None:
        """Plays the learner's action and goes on."""
        game, seat = self.match_up.game, self.seat
        slot = self.segment * game.decisions + self.decisions
        place = {"segment": self.segment, "round": self.booked, "slot": slot, "seat": seat, "entries": ()}
        self.steps.append(step | place)
        self.decisions += 1
        if self.state.is_simultaneous_node():
            moves = [0, 0]
            moves[seat], moves[1 - seat] = step["action"], self.opponent_move()
            self.state = self.state.child(tuple(moves))
        else:
            self.state = self.state.child(step["action"])
        self.advance()


def play(match_ups: Sequence[MatchUp], learner: Policy, seed: int, retries: int = 1) -> list[Episode]:
    """Plays every match-up once.

    Args:
        match_ups: What to play.
        learner: Sits in the learner's seat of each.
        seed: Non-negative; of chance, opponents and request keys.
        retries: How often a rejected reply is asked for again.

    Returns:
        The episodes in the order of the match-ups.

    Raises:
        ValueError: If `seed` or `retries` is negative.
    """
    if seed < 0 or retries < 0:
        raise ValueError(f"seed = {seed}, retries = {retries}: both must be 0 or more")
    lives = [
        [_Live(match_up, seed, segment, match_up.game.new_initial_state()) for segment in range(match_up.game.segments)]
        for match_up in match_ups
    ]
    everything = [live for segments in lives for live in segments]
    for live in everything:
        live.advance()
    while waiting := [live for live in everything if not live.done]:
        for live, step in zip(waiting, _ask(waiting, learner, retries), strict=True):
            live.act(step)
    return [
        Episode(match_up, tuple(Step(**step) for live in segments for step in live.steps))
        for match_up, segments in zip(match_ups, lives, strict=True)
    ]


def _ask(waiting: Sequence[_Live], learner: Policy, retries: int) -> list[dict[str, Any]]:
    """The learner's decision in every waiting segment."""
    views = [live.match_up.game.view(live.state, live.seat) for live in waiting]
    steps: list[dict[str, Any]] = [
        {
            "key": live.match_up.game.key(view),
            "view": view,
            "messages": live.match_up.game.render(view),
            "replies": (),
            "rejections": (),
            "action": live.match_up.game.fallback(view),
            "valid": False,
        }
        for live, view in zip(waiting, views, strict=True)
    ]
    open_steps = list(range(len(waiting)))
    for attempt in range(retries + 1):
        requests = [Request(steps[i]["messages"], _request_key(waiting[i], attempt), views[i]) for i in open_steps]
        replies = learner.replies(requests) if requests else []
        if len(replies) != len(requests):
            raise ValueError(
                f"the policy gave {len(replies)} replies to {len(requests)} requests: one for each is needed"
            )
        rejected = []
        for i, reply in zip(open_steps, replies, strict=True):
            verdict = waiting[i].match_up.game.parse(reply.text, views[i], reply.truncated)
            steps[i]["replies"] += (reply,)
            if isinstance(verdict, Parsed):
                steps[i] |= {"action": verdict.action, "valid": True}
            else:
                steps[i]["rejections"] += (verdict,)
                rejected.append(i)
        open_steps = rejected
    return steps


def _request_key(live: _Live, attempt: int) -> tuple[int, ...]:
    match_up = live.match_up
    return (live.seed, match_up.group, match_up.rollout, live.segment, live.decisions, attempt)
