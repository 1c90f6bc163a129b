"""Games by name. Packages add theirs through the entry-point group `sepo.games`; they are imported when first asked for."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from sepo_games.errors import unknown
from sepo_games.types import Game

GROUP = "sepo.games"


@cache
def _found() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def game_names() -> tuple[str, ...]:
    """Names of all installed games, sorted."""
    return tuple(sorted(_found()))


def get_game(name: str, preset: str = "sepo", **options: object) -> Game:
    """The game of a name with a preset's rules.

    Args:
        name: Registry name.
        preset: `sepo` or `paper`.
        **options: Fields of the game's rules, for example `rounds=4`.

    Raises:
        ValueError: If there is no such game, preset or option; the message names the nearest ones.
        ImportError: If the package that offers the game cannot be imported; the message names it.
    """
    if name not in _found():
        raise ValueError(unknown("game", name, game_names()))
    point = _found()[name]
    try:
        make = point.load()
    except ImportError as error:
        package = point.dist.name if point.dist else "an unknown package"
        raise ImportError(f"the game {name!r} of {package} cannot be imported: {error}") from error
    try:
        game: Game = make(preset=preset, **options)
    except TypeError as error:
        raise ValueError(f"{name} does not take the options {', '.join(options)}: {error}") from error
    return game
