"""Files that are whole or absent: everything is written beside its place and then renamed."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sepo_grpo.errors import UserError


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file atomically.

    Raises:
        UserError: If the folder cannot be written or the disk is full.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, path)
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}. Choose another folder with --out.") from error


def write_text(path: Path, text: str) -> None:
    """Writes a UTF-8 text file atomically; errors as `write_bytes`."""
    write_bytes(path, text.encode())


def to_json(value: Any) -> str:
    """One line of JSON; NaN and infinity are refused, so that they cannot hide in a file."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def write_lines(path: Path, records: Iterable[Any]) -> None:
    """Writes JSON lines atomically."""
    write_text(path, "".join(f"{to_json(record)}\n" for record in records))


def read_lines(path: Path) -> list[Any]:
    """Reads JSON lines; a torn last line (a process killed while it wrote) is left out."""
    if not path.exists():
        return []
    lines = path.read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines[:-1]]


def append_line(path: Path, record: Any) -> None:
    """Appends one JSON line and flushes it to disk."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{to_json(record)}\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from error


def write_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Writes a folder atomically.

    Args:
        path: The folder; an existing one is replaced.
        fill: Called with an empty folder to fill.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        try:
            fill(unfinished)
            shutil.rmtree(path, ignore_errors=True)
            os.replace(unfinished, path)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror}. Free some space or choose another --out."
        ) from error
