"""Checks and fills in what a person gives for an episode batch: ledgers, steps, and one value for each episode."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt

PREFIXES = ("", "expected_", "benchmark_", "harmless_")
STEP_KEYS = (*(f"{prefix}{who}" for who in ("payoffs", "outsiders") for prefix in PREFIXES), "invalid", "segment")


def ledgers(given: Mapping[str, Any], shape: tuple[int, ...], place: str) -> dict[str, npt.NDArray[np.float64]]:
    """All eight ledgers, with those that may be left out filled in.

    Args:
        given: Ledgers by name; `None` means left out. `payoffs` must be there.
        shape: Of the axes before the last, which is that of players or outsiders.
        place: Said after a name in errors, for example `" of episode 3, step 0"`.

    Returns:
        `shape + (N,)` and `shape + (K,)` arrays; K = 0 without outsiders.

    Raises:
        ValueError: If a shape is wrong, an entry is no number, or an alternative has payoffs but no outsiders' ledger.
    """
    found: dict[str, npt.NDArray[np.float64]] = {}
    for who in ("payoffs", "outsiders"):
        for prefix in PREFIXES:
            name, value = f"{prefix}{who}", given.get(f"{prefix}{who}")
            alternative = prefix in {"benchmark_", "harmless_"}
            if value is not None:
                array = _numbers(value, f"{name}{place}")
            elif not prefix:
                array = np.zeros((*shape, 0))
            else:
                array = found[f"expected_{who}" if alternative else who]
                if who == "outsiders" and array.shape[-1] and alternative and given.get(f"{prefix}payoffs") is not None:
                    raise ValueError(f"{name}{place} is missing: outsiders and {prefix}payoffs are given")
            needed = found[who].shape if prefix else (*shape, *array.shape[-1:])
            if array.shape != needed:
                raise ValueError(f"{name}{place} has shape {array.shape}: {needed} is needed")
            found[name] = array
    return found


def check_step(step: Mapping[str, Any], declared: bool, place: str) -> None:
    """Refuses a step with an unknown or missing key.

    Args:
        step: The step.
        declared: Whether the steps before stated their outsiders.
        place: As in `ledgers`.

    Raises:
        ValueError: With the key and the place.
    """
    for key in step:
        if key not in STEP_KEYS:
            near = get_close_matches(key, STEP_KEYS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"unknown key {key!r}{place}: allowed are {', '.join(STEP_KEYS)}.{hint}")
    if step.get("payoffs") is None:
        raise ValueError(f"payoffs{place} are missing: one number for each player is needed")
    for key in ("benchmark_payoffs", "harmless_payoffs"):
        if key not in step:
            raise ValueError(
                f"{key}{place} are missing: give one number for each player, or None where the game has no such action"
            )
    if (step.get("outsiders") is not None) != declared:
        raise ValueError(
            f"outsiders{place} are {'not ' * declared}given, unlike in the first step: all steps or none state them"
        )
    if not isinstance(step.get("invalid", False), bool | np.bool_):
        raise ValueError(f"invalid{place} is {step['invalid']!r}: True or False is needed")
    if not isinstance(step.get("segment", 0), int | np.integer):
        raise ValueError(f"segment{place} is {step['segment']!r}: a whole number is needed")


def per_episode(size: int, **given: npt.ArrayLike) -> dict[str, Any]:
    """`(size,)` arrays from such arrays or from one value for all.

    Raises:
        ValueError: If one has another shape.
    """
    found = {}
    for name, value in given.items():
        array = np.asarray(value)
        if array.shape not in {(), (size,)}:
            raise ValueError(
                f"{name} has shape {array.shape}: one for all or one for each of the {size} episodes is needed"
            )
        found[name] = np.broadcast_to(array, (size,)).copy()
    return found


def _numbers(value: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} are {value!r}: numbers are needed") from error
    if array.ndim == 0:
        raise ValueError(f"{name} are {value!r}: one number for each party is needed")
    return array
