"""Plays match-ups: all episodes, and the independent segments (hands) of each, advance together, one batch of questions at a time.

A simultaneous round collects both moves before it is resolved. A rejected reply is asked for again with the same prompt, up to
`retries` times; then the game's declared fallback is played and the step is marked invalid. Chance and opponents draw from
counter-based coins keyed by (seed, group, segment, round, kind, order), so all rollouts of a group share them. They are computed
ahead, for all groups, segments and rounds together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sepo_games.coins import CHANCE, OPPONENT, coin, coins, draw
from sepo_games.types import Entry, Game, Message, Parsed, Policy, Rejected, Reply, Request, Strategy


@dataclass(frozen=True)
class MatchUp:
    """One episode to play.

    Attributes:
        game: The game.
        seat: The learner's seat in the first segment.
        opponent_name: What the opponent is called.
        opponent: The opponent; it sits in every seat that is not the learner's.
        pool: `train`, `exploiter` or `collusive`.
        group: Episodes of one group share deals and coins.
        rollout: Tells the episodes of a group apart; the learner's own randomness depends on it.

    Raises:
        ValueError: If the game has no such seat, or the group or rollout is negative.
    """

    game: Game
    seat: int
    opponent_name: str
    opponent: Strategy
    pool: str
    group: int
    rollout: int

    def __post_init__(self) -> None:
        """Checks the numbers."""
        if not 0 <= self.seat < self.game.num_players():
            raise ValueError(f"{self.game.name} has no seat {self.seat}: seats are 0 to {self.game.num_players() - 1}")
        if self.group < 0 or self.rollout < 0:
            raise ValueError(f"group = {self.group}, rollout = {self.rollout}: both must be 0 or more")


@dataclass(frozen=True)
class Step:
    """One decision of the learner.

    Attributes:
        segment: The hand, from 0.
        round: The round within the segment, from 0.
        slot: Column of the step in arrays.
        seat: The learner's seat in this segment's tree.
        players: Number of seats.
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
    players: int
    key: str
    view: Any
    messages: tuple[Message, ...]
    replies: tuple[Reply, ...]
    rejections: tuple[Rejected, ...]
    action: int
    valid: bool
    entries: tuple[Entry, ...] = ()

    @property
    def payoffs(self) -> tuple[float, ...]:
        """Payoffs booked here: the learner's, then the others' by seat."""
        paid = [learner_first(entry.payoffs, self.seat) for entry in self.entries]
        return tuple(sum(column) for column in zip(*paid, strict=True)) or (0.0,) * self.players

    @property
    def outsiders(self) -> tuple[float, ...]:
        """Payoffs of the outsiders booked here."""
        return tuple(map(sum, zip(*(entry.outsiders for entry in self.entries), strict=True)))


def learner_first(by_seat: Sequence[float], seat: int) -> tuple[float, ...]:
    """Numbers by seat, the learner's seat first and the others after it in their order."""
    return (by_seat[seat], *by_seat[:seat], *by_seat[seat + 1 :])


@dataclass(frozen=True)
class Episode:
    """A finished episode.

    Attributes:
        match_up: Who played whom.
        steps: The learner's decisions, oldest first.
    """

    match_up: MatchUp
    steps: tuple[Step, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The whole ledger, one line a round or hand."""
        return tuple(entry for step in self.steps for entry in step.entries)


CHANCES, MOVES = 4, 2
"""Coins a round that are computed ahead: for chance and for opponents. A game that needs more takes them one by one."""


@dataclass(frozen=True)
class _Answer:
    """The learner's decision."""

    key: str
    view: Any
    messages: tuple[Message, ...]
    replies: tuple[Reply, ...]
    rejections: tuple[Rejected, ...]
    action: int
    valid: bool


class _Live:
    """One segment of an episode in play."""

    __slots__ = (
        "ahead",
        "booked",
        "chances",
        "game",
        "match_up",
        "moves",
        "open",
        "seat",
        "seed",
        "segment",
        "state",
        "steps",
    )

    def __init__(self, match_up: MatchUp, seed: int, segment: int, ahead: Sequence[Sequence[float]]) -> None:
        self.match_up, self.seed, self.segment, self.ahead = match_up, seed, segment, ahead
        self.game = match_up.game
        self.seat = self.game.seat_of_segment(match_up.seat, segment)
        self.state: Any = self.game.new_initial_state()
        self.steps: list[Step] = []
        self.open: _Answer | None = None
        self.booked = self.chances = self.moves = 0

    def chance_coin(self) -> float:
        """The next coin of chance in the current round."""
        order = self.chances
        self.chances += 1
        if self.booked < len(self.ahead) and order < CHANCES:
            return self.ahead[self.booked][order]
        return coin(self.seed, self.match_up.group, self.segment, self.booked, CHANCE, order)

    def opponent_move(self, seat: int) -> int:
        """What the opponent in a seat does with the next coin of the current round."""
        order = self.moves
        self.moves += 1
        if self.booked < len(self.ahead) and order < MOVES:
            uniform = self.ahead[self.booked][CHANCES + order]
        else:
            uniform = coin(self.seed, self.match_up.group, self.segment, self.booked, OPPONENT, order)
        return draw(self.match_up.opponent.probs(self.game.view(self.state, seat)), uniform)

    def advance(self) -> bool:
        """Plays chance and the opponent up to the learner's next decision, and books the ledger lines on the way.

        Returns:
            Whether there is another decision; if not, the segment is over.
        """
        state, before = self.state, self.booked
        while True:
            entries = state.entries
            if len(entries) > self.booked:
                self.booked, self.chances, self.moves = len(entries), 0, 0
            over = state.is_terminal()
            if over:
                break
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                self.state = state = state.child(outcomes[draw([p for _, p in outcomes], self.chance_coin())][0])
            elif state.is_simultaneous_node() or state.current_player() == self.seat:
                break
            else:
                self.state = state = state.child(self.opponent_move(state.current_player()))
        self.close(entries[before:], before)
        return not over

    def close(self, entries: tuple[Entry, ...], current: int) -> None:
        """Completes the learner's last decision with the ledger lines booked since."""
        answer = self.open
        if answer is None:
            if entries:
                raise ValueError(
                    f"{self.game.name}: a ledger line was booked before the learner's first decision in segment {self.segment}: "
                    "it belongs to no step; let every seat decide before anything is paid"
                )
            return
        slot = self.segment * self.game.decisions + len(self.steps)
        if len(self.steps) == self.game.decisions:
            raise ValueError(
                f"{self.game.name}: a seat decides more than {self.game.decisions} times in a segment, its `decisions`"
            )
        self.steps.append(
            Step(
                self.segment,
                current,
                slot,
                self.seat,
                self.game.num_players(),
                answer.key,
                answer.view,
                answer.messages,
                answer.replies,
                answer.rejections,
                answer.action,
                answer.valid,
                entries,
            )
        )
        self.open = None

    def act(self, answer: _Answer) -> bool:
        """Plays the learner's action and goes on; returns whether there is another decision."""
        self.open = answer
        if self.state.is_simultaneous_node():
            seats = range(self.game.num_players())
            moves = [answer.action if seat == self.seat else self.opponent_move(seat) for seat in seats]
            self.state = self.state.child(tuple(moves))
        else:
            self.state = self.state.child(answer.action)
        return self.advance()


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
        ValueError: If `seed` or `retries` is negative, the policy does not give one reply for each request, or a game breaks its
            own declarations.
    """
    if seed < 0 or retries < 0:
        raise ValueError(f"seed = {seed}, retries = {retries}: both must be 0 or more")
    ahead = _coins_ahead(match_ups, seed)
    lives = [
        [_Live(match_up, seed, segment, ahead[match_up.group, segment]) for segment in range(match_up.game.segments)]
        for match_up in match_ups
    ]
    waiting = [live for segments in lives for live in segments if live.advance()]
    verdicts: Verdicts = {}
    while waiting:
        answers = _ask(waiting, learner, retries, verdicts)
        waiting = [live for live, answer in zip(waiting, answers, strict=True) if live.act(answer)]
    return [
        Episode(match_up, tuple(step for live in segments for step in live.steps))
        for match_up, segments in zip(match_ups, lives, strict=True)
    ]


def _coins_ahead(match_ups: Sequence[MatchUp], seed: int) -> dict[tuple[int, int], list[list[float]]]:
    """The coins of every group and segment: for each round those of chance, then those of the opponent."""
    rounds: dict[tuple[int, int], int] = {}
    for match_up in match_ups:
        game = match_up.game
        for segment in range(game.segments):
            place = (match_up.group, segment)
            rounds[place] = max(rounds.get(place, 0), -(-game.rounds // game.segments))
    kinds = [(CHANCE, order) for order in range(CHANCES)] + [(OPPONENT, order) for order in range(MOVES)]
    keys = [(seed, *place, r, *kind) for place, n in rounds.items() for r in range(n) for kind in kinds]
    uniforms = coins(keys)
    result, start = {}, 0
    for place, n in rounds.items():
        result[place] = [uniforms[start + r * len(kinds) : start + (r + 1) * len(kinds)] for r in range(n)]
        start += n * len(kinds)
    return result


Verdicts = dict[tuple[int, int, str, str, bool], Parsed | Rejected]


def _ask(waiting: Sequence[_Live], learner: Policy, retries: int, verdicts: Verdicts) -> list[_Answer]:
    """The learner's decision in every waiting segment; `verdicts` remembers how replies were read."""
    games = [live.game for live in waiting]
    views = [game.view(live.state, live.seat) for game, live in zip(games, waiting, strict=True)]
    keys = [game.key(view) for game, view in zip(games, views, strict=True)]
    prompts = [game.render(view) for game, view in zip(games, views, strict=True)]
    words = [
        tuple([game.label(view, action) for action in view.legal]) for game, view in zip(games, views, strict=True)
    ]
    replies: list[tuple[Reply, ...]] = [()] * len(waiting)
    rejections: list[tuple[Rejected, ...]] = [()] * len(waiting)
    actions: list[int | None] = [None] * len(waiting)
    asked = list(range(len(waiting)))
    for attempt in range(retries + 1):
        requests = [Request(prompts[i], _request_key(waiting[i], attempt), views[i], words[i]) for i in asked]
        given = learner.replies(requests) if requests else []
        if len(given) != len(requests):
            raise ValueError(
                f"the policy gave {len(given)} replies to {len(requests)} requests: one for each is needed"
            )
        rejected = []
        for i, reply in zip(asked, given, strict=True):
            place = (id(games[i]), views[i].seat, keys[i], reply.text, reply.truncated)
            verdict = verdicts.get(place)
            if verdict is None:
                verdict = verdicts[place] = games[i].parse(reply.text, views[i], reply.truncated)
            replies[i] += (reply,)
            if isinstance(verdict, Parsed):
                actions[i] = verdict.action
            else:
                rejections[i] += (verdict,)
                rejected.append(i)
        asked = rejected
    return [
        _Answer(
            keys[i],
            views[i],
            prompts[i],
            replies[i],
            rejections[i],
            games[i].fallback(views[i]) if (action := actions[i]) is None else action,
            actions[i] is not None,
        )
        for i in range(len(waiting))
    ]


def _request_key(live: _Live, attempt: int) -> tuple[int, ...]:
    match_up = live.match_up
    return (live.seed, match_up.group, match_up.rollout, live.segment, len(live.steps), attempt)
