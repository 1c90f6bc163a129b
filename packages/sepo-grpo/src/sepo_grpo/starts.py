"""Finds the checkpoint that `--start` names."""

from pathlib import Path

from sepo_grpo.errors import UserError

CONFIG = "config.toml"


def step_folders(root: Path) -> list[Path]:
    """Complete step checkpoints in a folder of checkpoints, oldest first."""
    return sorted(folder for folder in root.glob("step-*") if (folder / "sepo.json").exists())


def run_and_checkpoint(start: Path) -> tuple[Path, Path]:
    """The run's folder and the checkpoint, of a run (its newest checkpoint) or a checkpoint in it.

    Raises:
        UserError: If there is no such run or checkpoint.
    """
    if (start / CONFIG).exists():
        run, kept = start, start / "checkpoints" / "sft"
        newest = [*([kept] if kept.exists() else []), *step_folders(start / "checkpoints")][-1:]
        if not newest:
            raise UserError(
                f"the run in {str(start)!r} has no checkpoint yet: go on with it by --resume, or start from another one"
            )
        return run, newest[0]
    run = start.parent.parent
    whole = (start / "sepo.json").exists() or start.name == "sft"
    if start.is_dir() and (run / CONFIG).exists() and whole:
        return run, start
    raise UserError(
        f"there is no checkpoint in {str(start)!r}: --start takes a run's folder, its checkpoints/sft or a checkpoints/step-N. "
        "A model's own folder goes to --model"
    )
