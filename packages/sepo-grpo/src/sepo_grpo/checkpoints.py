"""Checkpoints of the two training stages, as safetensors and JSON only.

    checkpoints/sft/           the SFT policy: a LoRA adapter on the named model, or the whole model (`nano`, full fine-tuning)
    checkpoints/step-000040/   the RL adapter or the whole model, the optimiser's state, and `sepo.json`

`sepo.json` holds the step, the trainer's state, the versions and the fingerprint of the start policy that the adapter belongs to; an
adapter is never put on another one. Nothing of a step is random state: every random number comes from a counter, and the learning rate
from the step's number.
"""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file
from torch import nn

from sepo_grpo.adapters import load_lora
from sepo_grpo.errors import UserError
from sepo_grpo.files import write_folder
from sepo_grpo.starts import step_folders

META = "sepo.json"
OPTIMISER = "optimiser.safetensors"


def save_step(
    root: Path, model: Any, optimiser: torch.optim.Adam, step: int, base: str, state: dict[str, Any], keep_every: int
) -> Path:
    """Saves everything after `step` training steps and removes older checkpoints that are not multiples of `keep_every`."""
    folder = root / f"step-{step:06d}"

    def fill(target: Path) -> None:
        model.save_pretrained(target)
        save_file(_flatten(optimiser), target / OPTIMISER)
        meta = {
            "step": step,
            "sft_sha256": base,
            "state": state,
            "versions": {n: version(n) for n in ("sepo-grpo", "torch", "transformers", "peft")},
        }
        (target / META).write_text(json.dumps(meta, indent=2))

    write_folder(folder, fill)
    for old in step_folders(root)[:-1]:
        if int(old.name.removeprefix("step-")) % keep_every:
            _remove(old)
    return folder


def load_step(folder: Path, model: nn.Module, optimiser: torch.optim.Adam, base: str) -> tuple[int, dict[str, Any]]:
    """Restores weights and optimiser and returns the number of steps done and the trainer's state.

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
        load_weights(model, folder)
    except (OSError, ValueError, KeyError) as error:
        raise UserError(
            f"the checkpoint {folder} is incomplete or damaged ({error}): remove it and resume from the one before"
        ) from error
    _restore(optimiser, state)
    return int(meta["step"]), meta["state"]


def load_weights(model: nn.Module, folder: Path) -> None:
    """Loads what `save_pretrained` wrote: an adapter, or a whole model's weights.

    Raises:
        OSError: If the file is missing.
        ValueError: If weights are missing or unknown.
    """
    if isinstance(model, PeftModel):
        load_lora(model, folder)
        return
    weights: dict[str, torch.Tensor] = {}
    for file in sorted(folder.glob("model*.safetensors")):
        weights |= load_file(file)
    missing, unknown = model.load_state_dict(weights, strict=False)
    tied = {name for names in getattr(model, "all_tied_weights_keys", {}).items() for name in names}
    if unknown or set(missing) - tied or not weights:
        raise ValueError(f"weights {[*unknown, *sorted(set(missing) - tied)][:3]} do not fit the model")


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
