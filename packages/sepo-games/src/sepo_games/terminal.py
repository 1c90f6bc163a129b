"""A person at the terminal as a policy, and the score that the person reads at the end."""

from collections.abc import Sequence

from sepo_games.play import Episode, learner_first
from sepo_games.types import Game, Rejected, Reply, Request


class Quit(Exception):
    """The person ended the input."""


class Person:
    """Shows each prompt and reads a reply, which is judged like a model's; a bad one is asked for again with the reason."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.told = False

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request."""
        return [self._ask(request) for request in requests]

    def _ask(self, request: Request) -> Reply:
        if not self.told:
            print(f"\n{request.messages[0]['content']}")
            self.told = True
        print(f"\n{request.messages[-1]['content']}")
        print(f"({' | '.join(request.legal[:12])}{' | ...' if len(request.legal) > 12 else ''})")
        try:
            text = input("> ")
        except EOFError:
            raise Quit from None
        verdict = self.game.parse(text, request.view)
        if isinstance(verdict, Rejected):
            print(f"{verdict.kind}: {verdict.detail}")
        return Reply(text)


def score_lines(game: Game, episode: Episode) -> list[str]:
    """The ledger of a finished episode: who was paid what in each round or hand, and in all."""
    lines, totals = [], [0.0] * (game.num_players() + len(game.outsiders))
    names = ["you", *(["they"] if game.num_players() == 2 else [f"rival {i}" for i in range(1, game.num_players())])]
    names += game.outsiders
    number = 0
    for step in episode.steps:
        for entry in step.entries:
            number += 1
            paid = [*learner_first(entry.payoffs, step.seat), *entry.outsiders]
            totals = [total + one for total, one in zip(totals, paid, strict=True)]
            shown = ", ".join(f"{name} {one:g}" for name, one in zip(names, paid, strict=True))
            lines.append(f"{game.unit} {number}: {shown}")
    shown = ", ".join(f"{name} {total:g}" for name, total in zip(names, totals, strict=True))
    return ["", *lines, f"in all: {shown}"]
