"""Checks shared by all games."""

from difflib import get_close_matches

PRESETS = ("sepo", "paper")


def check_preset(preset: str) -> None:
    """Refuses a preset that does not exist.

    Raises:
        ValueError: With the presets that do.
    """
    if preset not in PRESETS:
        raise ValueError(unknown("preset", preset, PRESETS))


def unknown(kind: str, given: str, allowed: tuple[str, ...]) -> str:
    """The message for an unknown name, nearest names first."""
    near = get_close_matches(given, allowed, n=2, cutoff=0.5)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"unknown {kind} {given!r}: choose from {', '.join(allowed)}.{hint}"
