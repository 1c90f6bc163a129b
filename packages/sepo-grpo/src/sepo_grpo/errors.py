"""One error type for everything a person can put right: it is printed as one line, without a traceback."""

from difflib import get_close_matches
from typing import NoReturn


class UserError(Exception):
    """A mistake in what was asked for; the message says what was given, what is allowed and what to do."""


class TrainingStopped(UserError):
    """Training met a number that is not finite; the message names the step, the place and the checkpoint."""


def reject(kind: str, given: str, allowed: list[str]) -> NoReturn:
    """Raises a `UserError` for an unknown name, with the nearest known names first.

    Args:
        kind: What the name should have been, for example `"game"`.
        given: The name as it was given.
        allowed: Every known name.

    Raises:
        UserError: Always.
    """
    near = get_close_matches(given, allowed, n=2, cutoff=0.5)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise UserError(f"unknown {kind} {given!r}: choose from {', '.join(allowed)}.{hint}")
