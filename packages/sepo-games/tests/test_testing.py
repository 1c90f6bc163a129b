"""Our games keep every promise that `check_game` tries, and it catches games that do not."""

from dataclasses import dataclass, replace

import pytest
from sepo_games import Auction, Ipd, Kuhn, Parsed, Scripted, game_names, get_game
from sepo_games.testing import BrokenPromise, check_game


@pytest.mark.parametrize("preset", ["sepo", "paper"])
@pytest.mark.parametrize("name", game_names())
def test_our_games_keep_their_promises(name, preset):
    check_game(get_game(name, preset))


@pytest.mark.parametrize(
    "game", [Ipd(history="full", rounds=4), Ipd(rounds=1), Auction(rounds=2, clip=True), Kuhn(hands=2, ante=2, bet=2)]
)
def test_other_rules_of_our_games_keep_their_promises(game):
    check_game(game, episodes=100)


class Searching(Ipd):
    """Finds an action word anywhere."""

    def parse(self, text, view, truncated=False):
        for action, word in enumerate(("COOPERATE", "DEFECT")):
            if word in text.upper():
                return Parsed(action)
        return super().parse(text, view, truncated)


class Raising(Ipd):
    """Trips over text that cannot be encoded."""

    def parse(self, text, view, truncated=False):
        text.encode()
        return super().parse(text, view, truncated)


class Vague(Ipd):
    """Does not tell the round."""

    def render(self, view):
        system, user = super().render(view)
        return (system, {**user, "content": user["content"].split(" Now round")[0]})


class Forgetful(Ipd):
    """Leaves out an information set."""

    def infosets(self, seat):
        return super().infosets(seat)[:-1]


class Unlisted(Ipd):
    """Names a partner that it does not have."""

    def pools(self, preset):
        return {**super().pools(preset), "train": ("tit-for-tit",)}


class Pretending(Ipd):
    """Says that a strategy with a long memory is Markov."""

    @property
    def strategies(self):
        return {**super().strategies, "grim-trigger": replace(super().strategies["grim-trigger"], markov=True)}


class Unnormalised(Ipd):
    """Has a strategy whose probabilities are no distribution."""

    @property
    def strategies(self):
        return {**super().strategies, "odd": Scripted(lambda view: (0.6, 0.6))}


class Crooked(Kuhn):
    """Pays out more than was put in."""

    def chips(self, first_is_higher, betting):
        return (2.0, -1.0)


class Generous(Kuhn):
    """Falls back on an action that is not there."""

    def fallback(self, view):
        return 2


@dataclass(frozen=True)
class Drifting(Auction):
    """Lies about its stage payoffs."""

    def repeated_form(self):
        form = super().repeated_form()
        form["payoffs"] = [[[[[x + 1 for x in c] for c in b] for b in a] for a in t] for t in form["payoffs"]]
        return form


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Searching, "must be rejected"),
        (Raising, "a parser never raises"),
        (Vague, "same prompt as"),
        (Forgetful, "does not list"),
        (Unlisted, r"name no strategy: \['tit-for-tit'\]"),
        (Pretending, "'grim-trigger' calls itself Markov"),
        (Unnormalised, "strategy 'odd'.*no distribution"),
        (Crooked, "zero-sum game do not add up to 0"),
        (Generous, "the fallback 2 is not among"),
        (Drifting, "uniform play pays"),
    ],
)
def test_a_broken_game_is_caught_and_the_broken_promise_named(make, message):
    with pytest.raises(BrokenPromise, match=message):
        check_game(make())
