"""Scripted against scripted, all episodes at once with numpy; the same episodes as `play` for the same seeds.

Each hand of an episode (or the whole episode, where it has one segment) is a row of integers that walks through the classes of
states of the match-up, its coins computed in blocks:

    event = draw(probabilities[class], coin(key)),    class' = next[class, event]
"""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sepo_games.arrays import LEDGERS, ledger_line, named_ledgers
from sepo_games.coins import BLOCK, CHANCE, OPPONENT, WORD, coin_array
from sepo_games.state_classes import ALL_MOVE, CHANCE_MOVES, OVER, Floats, Ints, StateClasses
from sepo_games.types import Game, Strategy


def play_scripted(
    game: Game, learner: Strategy, opponent: Strategy, seats: Ints, groups: Ints, rollouts: Ints, seed: int
) -> dict[str, Any]:
    """Plays `B` episodes of a scripted learner against one scripted opponent.

    Args:
        game: The game.
        learner: Sits in the learner's seat.
        opponent: Sits in every other seat.
        seats: `(B,)` the learner's seat in the first segment.
        groups: `(B,)` episodes of one group share deals and coins.
        rollouts: `(B,)` tells the episodes of a group apart.
        seed: Of all coins.

    Returns:
        The ledger arrays, `mask` and `segment` as `to_arrays` gives them, and `actions (B, T)`, the learner's, -1 where it does
        not decide.

    Raises:
        ValueError: If the arrays differ in length or are empty, or a seat, group, rollout or the seed is out of range.
    """
    seats, groups, rollouts = (np.asarray(array, dtype=np.int64) for array in (seats, groups, rollouts))
    _check(game, seats, groups, rollouts, seed)
    size, steps, players = len(seats), game.segments * game.decisions, game.num_players()
    ledgers = np.zeros((size * steps, len(LEDGERS), players + len(game.outsiders)))
    actions = np.full(size * steps, -1, dtype=np.int64)
    episode, segment = np.divmod(np.arange(size * game.segments), game.segments)
    table = [[game.seat_of_segment(seat, part) for seat in range(players)] for part in range(game.segments)]
    sits = np.array(table)[segment, seats[episode]]
    for seat in range(players):
        of_seat = np.flatnonzero(sits == seat)
        strategies = [learner if other == seat else opponent for other in range(players)]
        classes = StateClasses(game, strategies, partial(ledger_line, seat=seat))
        for start in range(0, of_seat.size, BLOCK):
            lives = of_seat[start : start + BLOCK]
            number = episode[lives]
            walk = _Walk(classes, seat, seed, groups[number], rollouts[number], segment[lives])
            walk.run(number * steps + segment[lives] * game.decisions, ledgers, actions)
    taken = actions.reshape(size, steps)
    return named_ledgers(ledgers.reshape(size, steps, len(LEDGERS), -1), players) | {
        "mask": taken >= 0,
        "segment": np.broadcast_to(np.arange(steps) // game.decisions, (size, steps)).copy(),
        "actions": taken,
    }


def _check(game: Game, seats: Ints, groups: Ints, rollouts: Ints, seed: int) -> None:
    if not len(seats) == len(groups) == len(rollouts) > 0:
        raise ValueError(
            f"{len(seats)} seats, {len(groups)} groups, {len(rollouts)} rollouts: give one of each for every episode, and at least one"
        )
    if seats.min() < 0 or seats.max() >= game.num_players():
        raise ValueError(
            f"{game.name} has seats 0 to {game.num_players() - 1}, but seats go from {seats.min()} to {seats.max()}"
        )
    for name, numbers in (("groups", groups), ("rollouts", rollouts), ("seed", np.array([seed]))):
        if numbers.min() < 0 or numbers.max() >= WORD:
            raise ValueError(
                f"{name}: {numbers.min()} to {numbers.max()} is not allowed: whole numbers from 0 to {WORD - 1}"
            )


class _Walk:
    """Many lives, one for each segment of each episode, on their way through the classes."""

    def __init__(
        self, classes: StateClasses, seat: int, seed: int, groups: Ints, rollouts: Ints, segments: Ints
    ) -> None:
        self.classes, self.seat, self.seed = classes, seat, seed
        self.groups, self.rollouts, self.segments = groups, rollouts, segments
        # Where each life is, and how many decisions, booked lines, chance moves and opponents' moves it has seen.
        self.at, self.steps, self.booked, self.chances, self.moves = np.zeros((5, len(groups)), dtype=np.int64)

    def run(self, first_slots: Ints, ledgers: Floats, actions: Ints) -> None:
        """Plays to the end and fills the rows of `ledgers` and `actions` that begin at each life's first slot."""
        active = np.arange(len(self.at))
        while active.size:
            kinds = self.classes.kinds.array()[self.at[active]]
            for kind in np.unique(kinds[kinds != OVER]).tolist():
                lives = active[kinds == kind]
                events = self.events(kind, lives, first_slots, actions)
                self.at[lives], lines, entries = self.classes.follow(self.at[lives], events)
                paid = np.flatnonzero(entries)
                if paid.size:
                    self.booked[lives] += entries
                    self.book(lives[paid], first_slots, lines[paid], ledgers)
            active = active[kinds != OVER]

    def events(self, kind: int, lives: Ints, first_slots: Ints, actions: Ints) -> Ints:
        """What happens to lives at classes of one kind; the learner's actions are noted on the way."""
        if kind == CHANCE_MOVES:
            return self.drawn(lives, 0, CHANCE, self.chances)
        if kind == ALL_MOVE:
            game, events = self.classes.game, np.zeros(len(lives), dtype=np.int64)
            for seat in range(game.num_players()):
                events *= game.num_actions
                events += (
                    self.decided(lives, seat, first_slots, actions)
                    if seat == self.seat
                    else self.drawn(lives, seat, OPPONENT, self.moves)
                )
            return events
        own = self.classes.actors.array()[self.at[lives]] == self.seat
        events = np.empty(len(lives), dtype=np.int64)
        if own.any():
            events[own] = self.decided(lives[own], 0, first_slots, actions)
        if not own.all():
            events[~own] = self.drawn(lives[~own], 0, OPPONENT, self.moves)
        return events

    def drawn(self, lives: Ints, row: int, kind: int, order: Ints) -> Ints:
        """A move of chance or of an opponent; `order` counts them within the round."""

        def coins_of(places: Ints) -> Floats:
            some = lives[places]
            return self.coins(self.groups[some], self.segments[some], self.booked[some], kind, order[some])

        events = self.classes.draw(self.at[lives], row, coins_of)
        order[lives] += 1
        return events

    def decided(self, lives: Ints, row: int, first_slots: Ints, actions: Ints) -> Ints:
        """A move of the learner."""

        def coins_of(places: Ints) -> Floats:
            some = lives[places]
            return self.coins(self.groups[some], self.rollouts[some], self.segments[some], self.steps[some], 0)

        events = self.classes.draw(self.at[lives], row, coins_of)
        actions[first_slots[lives] + self.steps[lives]] = events
        self.steps[lives] += 1
        return events

    def coins(self, *words: Ints | int) -> npt.NDArray[np.float64]:
        """Coins whose keys are the seed and then these words."""
        return coin_array(np.stack(np.broadcast_arrays(self.seed, *words), axis=1))

    def book(self, lives: Ints, first_slots: Ints, lines: Ints, ledgers: Floats) -> None:
        """Adds ledger lines to each life's last decision."""
        if not self.steps[lives].all():
            raise ValueError(f"{self.classes.game.name}: a ledger line was booked before the learner's first decision")
        ledgers[first_slots[lives] + self.steps[lives] - 1] += self.classes.lines.array()[lines]
        self.chances[lives] = self.moves[lives] = 0
