"""What the author of a game runs: one function that tries the promises of the `Game` protocol.

    check_game(MyGame())

checks, and names the first promise that is broken:

- language: prompts are pure, differ between information sets and share their rules; every legal reply round-trips; no text raises, and
  refused forms (negation, two answers, an answer inside thinking, an illegal word) are refused;
- tree: chance adds up to 1, histories are immutable, returns are the sum of the ledger, zero-sum games add up to zero, every view belongs
  to a listed information set and offers the tree's legal actions;
- strategies: distributions over legal actions, and those that call themselves Markov look at no more than the prompt shows;
- play: the same seed gives the same episodes, rollouts of a group share their coins, rejected replies become invalid fallback steps, and
  the mean payoff of play agrees with the exact value of the tree (or of the repeated form) within six standard errors.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import product
from math import isfinite, sqrt
from typing import Any

import numpy as np

from sepo_games.arrays import to_arrays
from sepo_games.coins import coin, draw
from sepo_games.errors import PRESETS
from sepo_games.play import MatchUp, play
from sepo_games.policies import ScriptedPolicy
from sepo_games.strategies import Scripted, check_distribution, uniform
from sepo_games.types import Game, Parsed, Rejected, Reply, Request

HOSTILE = (
    "",
    " \n\t",
    "\x00",
    "\ud800",
    "\u202e\u200b\ufeff",
    "ACTION:",
    "ACTION: \ud83d",
    "<action>",
    "</action>",
    "<action></action>",
    "<think>",
    "</think>",
    "<think><action>",
    "'" * 500,
    "{}%s%n\\",
    "ACTION: -1",
    "ACTION: NaN",
    "<action>" * 2000,
    "</think>" + "<think>" * 2000,
    "ACTION:\n" * 2000,
    "x" * 1_000_000,
)
"""Texts that no parser may accept or stumble over."""
NEIGHBOURS = 8
"""Labels that each label is tried together with."""
MAX_NODES = 5_000
"""Trees up to this size are solved exactly for the comparison with play."""


class BrokenPromise(AssertionError):
    """A game does not do what the `Game` protocol promises."""


def check_game(game: Game, episodes: int = 200, seed: int = 0) -> None:
    """Tries every promise of a game.

    Args:
        game: The game.
        episodes: Random walks through the tree, and episodes of play for the comparison of means.
        seed: Of walks and play.

    Raises:
        BrokenPromise: Naming the first promise that is broken, with what was found.
    """
    check_declarations(game)
    check_language(game)
    check_strategies(game)
    check_tree(game, episodes, seed)
    check_play(game, episodes, seed)


def check_declarations(game: Game) -> None:
    """Checks the attributes of a game."""
    players = game.num_players()
    _need(players >= 2, f"num_players() is {players}: at least two play")
    _need(
        1 <= game.segments <= game.rounds, f"segments {game.segments} and rounds {game.rounds}: 1 <= segments <= rounds"
    )
    _need(game.decisions >= 1 and game.num_actions >= 2, "decisions must be at least 1 and num_actions at least 2")
    _need(
        len(game.references) == players and all(map(isfinite, game.references)),
        f"references {game.references}: one a seat",
    )
    _need(
        isinstance(game.outsiders, tuple),
        f"outsiders {game.outsiders!r}: a tuple of names; () states that there are none",
    )
    _need(len(set(game.outsiders)) == len(game.outsiders), f"outsiders {game.outsiders} are not different")
    _need(hash(game) == hash(copy(game)) and game == copy(game), "a copy differs from its original: games are values")
    for segment in range(game.segments):
        seats = sorted(game.seat_of_segment(seat, segment) for seat in range(players))
        _need(seats == list(range(players)), f"seat_of_segment gives seats {seats} in segment {segment}")
    for preset in PRESETS:
        pools, mixture = game.pools(preset), game.sft_mixture(preset)
        _need(set(pools) == {"train", "exploiter", "collusive"}, f"pools({preset!r}) has {sorted(pools)}")
        trained = {*(name for pool in pools.values() for name in pool), *(name for name, _ in mixture)}
        seen = sorted(trained & set(game.held_out))
        _need(not seen, f"preset {preset!r} trains on held-out strategies: {seen}")
        missing = sorted((trained | {*game.yardsticks, *game.held_out}) - set(game.strategies))
        _need(not missing, f"pools, mixture, yardsticks or held_out of preset {preset!r} name no strategy: {missing}")
        _need(
            abs(sum(weight for _, weight in mixture) - 1) < 1e-9,
            f"the weights of sft_mixture({preset!r}) are not 1 together",
        )


def check_language(game: Game) -> None:
    """Checks prompts and the parser at every information set."""
    rules = game.render(game.infosets(0)[0].view)[0]
    vocabulary = _vocabulary(game)
    tried: set[tuple[str, ...]] = set()
    for seat in range(game.num_players()):
        infosets = game.infosets(seat)
        _need(len({i.key for i in infosets}) == len(infosets), f"seat {seat} has two information sets of one name")
        prompts: dict[str, str] = {}
        for infoset in infosets:
            where = f"seat {seat}, information set {infoset.key!r}"
            view, legal = infoset.view, infoset.legal
            _need(game.key(view) == infoset.key and view.seat == seat, f"{where}: its view has key {game.key(view)!r}")
            _need(tuple(view.legal) == tuple(legal), f"{where}: legal actions {legal}, its view's {view.legal}")
            _need(len(legal) > 0 and set(legal) <= set(range(game.num_actions)), f"{where}: legal actions {legal}")
            messages = game.render(view)
            _need(messages == game.render(view), f"{where}: two renderings differ")
            _need(
                messages[0] == rules and messages[0]["role"] == "system",
                f"{where}: the rules are not the first message",
            )
            _need(messages[-1]["role"] == "user", f"{where}: the prompt does not end with the user's message")
            text = messages[-1]["content"]
            _need(
                text.isprintable() or text.replace("\n", "").isprintable(),
                f"{where}: the prompt holds control characters",
            )
            shown = "\n".join(message["content"] for message in messages)
            _need(shown not in prompts, f"{where}: same prompt as {prompts.get(shown)!r}")
            prompts[shown] = infoset.key
            words = tuple(game.label(view, action) for action in legal)
            if words not in tried:  # the same choice is read the same way at every information set
                tried.add(words)
                _check_replies(game, where, view, legal)
                _check_hostile(game, where, view, sorted(vocabulary - set(words)))
            for action in legal:
                got = game.parse(game.reply(view, action), view)
                _need(got == Parsed(action), f"{where}: the reply of action {action} is read as {got}")


def _vocabulary(game: Game) -> set[str]:
    """Every label of the game."""
    infosets = [infoset for seat in range(game.num_players()) for infoset in game.infosets(seat)]
    return {game.label(infoset.view, action) for infoset in infosets for action in infoset.legal}


def _check_replies(game: Game, where: str, view: Any, legal: Sequence[int]) -> None:
    words = {game.label(view, action): action for action in legal}
    others = list(words)[:NEIGHBOURS]
    _need(len(words) == len(legal), f"{where}: two actions share a word")
    for word, action in words.items():
        for text in (
            game.reply(view, action),
            f"ACTION: {word}",
            f"**Action: {word.lower()}**.",
            f"<action>{word}</action>",
        ):
            got = game.parse(text, view)
            _need(got == Parsed(action), f"{where}: {text!r} is read as {got}, not as action {action}")
        refused = [
            f"ACTION: not {word}",
            f"<think>ACTION: {word}</think>",
            f"<think>ACTION: {word}",
            f"I thought about {word} for long and cannot say",
            *(f"ACTION: {word} or {other}" for other in others if other != word),
            *(f"ACTION: {word}\nACTION: {other}" for other in others if other != word),
        ]
        for text in refused:
            got = game.parse(text, view)
            _need(isinstance(got, Rejected), f"{where}: {text!r} is read as {got}, but it must be rejected")
    _need(game.fallback(view) in legal, f"{where}: the fallback {game.fallback(view)} is not among the legal {legal}")


def _check_hostile(game: Game, where: str, view: Any, illegal: Sequence[str]) -> None:
    for text in (*HOSTILE, *(f"ACTION: {word}" for word in illegal)):
        for truncated in (False, True):
            try:
                got = game.parse(text, view, truncated)
            except Exception as error:
                raise BrokenPromise(
                    f"{where}: parsing {text[:40]!r} raises {error!r}; a parser never raises"
                ) from error
            _need(isinstance(got, Rejected), f"{where}: {text[:40]!r} is read as {got}, but it must be rejected")


def check_strategies(game: Game) -> None:
    """Checks every scripted strategy at every information set."""
    for name, strategy in game.strategies.items():
        for seat in range(game.num_players()):
            for infoset in game.infosets(seat):
                where = f"strategy {name!r}, seat {seat}, information set {infoset.key!r}"
                try:
                    check_distribution(where, strategy.probs(infoset.view), game.num_actions, infoset.legal)
                except ValueError as error:
                    raise BrokenPromise(str(error)) from error


def check_tree(game: Game, walks: int, seed: int) -> None:
    """Checks histories along random walks."""
    seats = range(game.num_players())
    views = {seat: {infoset.key: infoset for infoset in game.infosets(seat)} for seat in seats}
    length = -(-game.rounds // game.segments)
    for walk in range(walks):
        state, decisions, moves = game.new_initial_state(), [0 for _ in seats], 0
        while not state.is_terminal():
            before, past = repr(state), state.entries
            outcomes = list(_moves(state))
            if state.is_chance_node():
                total = sum(p for _, p in outcomes)
                _need(abs(total - 1) < 1e-9, f"chance outcomes add up to {total} at {state!r}")
            else:
                for seat in seats if state.is_simultaneous_node() else (state.current_player(),):
                    decisions[seat] += 1
                    _check_view(game, state, seat, views[seat])
            step = draw([p for _, p in outcomes], coin(seed, walk, moves))
            moves += 1
            child = state.child(outcomes[step][0])
            _need(repr(state) == before, f"child() changed its own state {state!r}")
            _need(child.entries[: len(past)] == past, f"child() changed past ledger lines at {state!r}")
            state = child
        _need(
            max(decisions) <= game.decisions, f"a seat decides {max(decisions)} times; `decisions` is {game.decisions}"
        )
        _need(
            1 <= len(state.entries) <= length,
            f"{len(state.entries)} ledger lines at the end; rounds / segments is {length}",
        )
        _check_ledger(game, state)


def _check_view(game: Game, state: Any, seat: int, infosets: dict[str, Any]) -> None:
    view = game.view(state, seat)
    key = game.key(view)
    _need(key in infosets, f"the view {view} has key {key!r}, which infosets({seat}) does not list")
    legal = tuple(state.legal_actions(seat))
    _need(
        tuple(view.legal) == legal == tuple(infosets[key].legal),
        f"legal actions at {key!r}: tree {legal}, view {view.legal}",
    )
    if game.enumerable:
        same = game.render(view) == game.render(infosets[key].view)
        _need(same, f"two views of information set {key!r} have different prompts, although the game is enumerable")
        for name, strategy in game.strategies.items():
            if strategy.markov:
                there, here = list(strategy.probs(infosets[key].view)), list(strategy.probs(view))
                _need(there == here, f"strategy {name!r} calls itself Markov, but plays {there} and {here} at {key!r}")


def _check_ledger(game: Game, state: Any) -> None:
    n = game.num_players()
    paid = [sum(entry.payoffs[seat] for entry in state.entries) for seat in range(n)]
    _need(np.allclose(paid, state.returns()), f"returns {state.returns()}, but the ledger adds up to {paid}")
    for entry in state.entries:
        books = [(entry.payoffs, entry.outsiders)]
        books += [(b.players, b.outsiders) for b in (entry.expected, *entry.benchmark, *entry.harmless)]
        _need(len(entry.benchmark) == len(entry.harmless) == n, f"{entry}: benchmark and harmless need one line a seat")
        for players, outsiders in books:
            _need(
                len(players) == n and len(outsiders) == len(game.outsiders),
                f"{entry}: one payoff a player and outsider",
            )
            _need(all(map(isfinite, (*players, *outsiders))), f"{entry}: a payoff is not finite")
            _need(
                not game.zero_sum or abs(sum(players)) < 1e-9, f"{entry}: payoffs of a zero-sum game do not add up to 0"
            )


def check_play(game: Game, episodes: int, seed: int) -> None:
    """Checks episodes against each other and against the exact value of uniform play."""
    anybody = uniform(game.num_actions)
    player = ScriptedPolicy(game, anybody)

    players = game.num_players()

    def match_ups(n: int, rollouts: int) -> list[MatchUp]:
        return [
            MatchUp(game, g % players, "uniform", anybody, "train", g, r) for g in range(n) for r in range(rollouts)
        ]

    few = match_ups(4, 2)
    once = play(few, player, seed)
    _need(once == play(few, player, seed), "the same seed gives different episodes")
    _need(once[3:4] == play(few[3:4], player, seed), "an episode depends on which others are played beside it")
    first = ScriptedPolicy(game, Scripted(lambda view: [float(a == view.legal[0]) for a in range(game.num_actions)]))
    for one, other in zip(*[iter(play(few, first, seed))] * 2, strict=True):
        _need(
            one.steps == other.steps,
            "two rollouts of a group with the same actions differ: they must share their coins",
        )
    for episode in play(few, _Mute(), seed):
        for step in episode.steps:
            right = not step.valid and step.action == game.fallback(step.view) and len(step.rejections) == 2
            _need(right, f"a step whose replies were all rejected is not an invalid fallback step: {step}")
    exact = _exact_value(game)
    if exact is not None:
        paid = to_arrays(play(match_ups(episodes, 1), player, seed))["payoffs"].sum(axis=1) / game.rounds
        seats = np.arange(episodes) % players
        for seat in range(players):
            own = paid[seats == seat]
            # In games whose seats alternate within an episode, an episode's mean is over both seats.
            alternate = [exact[game.seat_of_segment(seat, s)] for s in range(game.segments)]
            error = own[:, 0].std() / sqrt(len(own)) + 1e-9
            off = abs(own[:, 0].mean() - np.mean(alternate)) / error
            _need(
                off < 6,
                f"uniform play pays {own[:, 0].mean():.4f} a {game.unit} in seat {seat}; exact is {np.mean(alternate):.4f}",
            )


def _exact_value(game: Game) -> list[float] | None:
    """Payoff per round or hand of uniform play, each seat: from the repeated form if there is one, else from a small tree."""
    form = game.repeated_form() if hasattr(game, "repeated_form") else None
    if form is not None:
        types = np.einsum("k,l->kl", *map(np.asarray, form["type_probs"]))
        return [float((np.asarray(table).mean(axis=(-1, -2)) * types).sum()) for table in form["payoffs"]]
    budget, totals = MAX_NODES, np.zeros(game.num_players())
    stack = [(game.new_initial_state(), 1.0)]
    while stack:
        budget -= 1
        if budget < 0:
            return None
        state, reach = stack.pop()
        if state.is_terminal():
            totals += reach * np.asarray(state.returns())
        else:
            stack += [(state.child(move), reach * p) for move, p in _moves(state)]
    return [float(total) * game.segments / game.rounds for total in totals]


def _moves(state: Any) -> Iterator[tuple[Any, float]]:
    """What can happen at a history, with its probability when everybody plays uniformly."""
    if state.is_chance_node():
        yield from state.chance_outcomes()
    elif state.is_simultaneous_node():
        joint = list(product(*(state.legal_actions(seat) for seat in range(len(state.returns())))))
        yield from ((moves, 1 / len(joint)) for moves in joint)
    else:
        legal = state.legal_actions(state.current_player())
        for action in legal:
            yield action, 1 / len(legal)


class _Mute:
    """A policy that never answers."""

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """Empty texts."""
        return [Reply("") for _ in requests]


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise BrokenPromise(otherwise)
