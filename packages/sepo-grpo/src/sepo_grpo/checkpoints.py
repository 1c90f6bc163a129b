"""Checkpoints of the two training stages, as safetensors and JSON only.

    checkpoints/sft/           the SFT policy: a LoRA adapter on the named model, or for `nano` the whole model
    checkpoints/step-000040/   the RL adapter, the optimiser's state, and `sepo.json`

`sepo.json` holds the step, the versions and the fingerprint of the SFT policy that the adapter belongs to; an adapter is
never put on another one. Nothing else of a step is random state: every random number comes from a counter.
"""

import json
from importlib.metadata import version
from pathlib import Path

import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file

from sepo_grpo.adapters import load_lora
from sepo_grpo.errors import UserError
from sepo_grpo.files import write_folder

META = "sepo.json"
OPTIMISER = "optimiser.safetensors"


def save_step(root: Path, model: PeftModel, optimiser: torch.optim.Adam, step: int, base: str, keep_every: int) -> Path:
    """Saves the state after `step` training steps and removes older ones that are not multiples of `keep_every`."""
    folder = root / f"step-{step:06d}"

    def fill(target: Path) -> None:
        model.save_pretrained(target)
        save_file(_flatten(optimiser), target / OPTIMISER)
        meta = {
            "step": step,
            "sft_sha256": base,
            "versions": {n: version(n) for n in ("sepo-grpo", "torch", "transformers", "peft")},
        }
        (target / META).write_text(json.dumps(meta, indent=2))

    write_folder(folder, fill)
    for old in step_folders(root)[:-1]:
        if int(old.name.removeprefix("step-")) % keep_every:
            _remove(old)
    return folder


def step_folders(root: Path) -> list[Path]:
    """Complete step checkpoints, oldest first."""
    return sorted(folder for folder in root.glob("step-*") if (folder / META).exists())


def load_step(folder: Path, model: PeftModel, optimiser: torch.optim.Adam, base: str) -> int:
    """Restores adapter and optimiser and returns the number of steps done.

    Raises:
        UserError: If the checkpoint is incomplete or belongs to another SFT policy.
    """
    try:
        meta = json.loads((folder / META).read_text())
        state = load_file(folder / OPTIMISER)
        if meta["sft_sha256"] != base:
            raise UserError(
                f"{folder} was trained on another SFT policy (SHA-256 {meta['sft_sha256'][:12]}.., here {base[:12]}..): "
                "resume it with the model and the checkpoints/sft folder it came with"
            )
        load_lora(model, folder)
    except (OSError, ValueError, KeyError) as error:
        raise UserError(
            f"the checkpoint {folder} is incomplete or damaged ({error}): remove it and resume from the one before"
        ) from error
    _restore(optimiser, state)
    return int(meta["step"])


def _flatten(optimiser: torch.optim.Adam) -> dict[str, torch.Tensor]:
    return {
        f"{i}.{name}": value.detach().cpu().contiguous()
        for i, entry in optimiser.state_dict()["state"].items()
        for name, value in entry.items()
    }


def _restore(optimiser: torch.optim.Adam, flat: dict[str, torch.Tensor]) -> None:
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in flat.items():
        index, name = key.split(".", 1)
        state.setdefault(int(index), {})[name] = value
    optimiser.load_state_dict(optimiser.state_dict() | {"state": state})


def _remove(folder: Path) -> None:
    # The marker goes first, so that a folder that is half removed does not count as a checkpoint.
    (folder / META).unlink()
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
