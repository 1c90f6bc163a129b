"""LoRA adapters: one is trained by SFT and merged, a second one by SEPO; switched off, the second leaves the SFT policy."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model, set_peft_model_state_dict
from safetensors.torch import load_file
from torch import nn

from sepo_grpo.errors import UserError

# Projections of the language model; a vision tower beside it is left alone.
ATTENTION = r"^(?!.*vision).*\.(q_proj|k_proj|v_proj|o_proj)$"
ATTENTION_AND_MLP = r"^(?!.*vision).*\.(q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)$"


def add_lora(model: nn.Module, rank: int, seed: int, targets: str) -> PeftModel:
    """Wraps a model in a fresh LoRA adapter that changes nothing yet; only the adapter is trainable.

    Args:
        model: A plain causal language model.
        rank: Rank of the adapter.
        seed: Seed of its initial weights.
        targets: Which layers get one: `ATTENTION`, or `ATTENTION_AND_MLP`, which learns a reply format in fewer steps and
            makes a step about a fifth slower.

    Raises:
        UserError: If the architecture has none of the usual projection layers.
    """
    config = LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=0.0, target_modules=targets, task_type="CAUSAL_LM")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            wrapped = get_peft_model(model, config)
        except ValueError as error:
            raise UserError(
                "this model has no q_proj, k_proj, v_proj, o_proj or MLP projection layers to put a LoRA adapter on: "
                "choose a Llama-, Gemma- or Qwen-like model"
            ) from error
    return wrapped.eval()


def merge(model: PeftModel) -> nn.Module:
    """The plain model with the adapter added to its weights."""
    merged: nn.Module = model.merge_and_unload()
    return merged.requires_grad_(False)


def load_lora(model: PeftModel, folder: Path) -> None:
    """Loads an adapter's weights from `adapter_model.safetensors`."""
    set_peft_model_state_dict(model, load_file(folder / "adapter_model.safetensors"))


@contextmanager
def adapter_off(model: nn.Module) -> Iterator[None]:
    """Inside, an adapted model computes what it computed before adaptation."""
    if isinstance(model, PeftModel):
        with model.disable_adapter():
            yield
    else:
        yield


def fingerprint(model: nn.Module) -> str:
    """SHA-256 over names, shapes and bytes of every weight."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name}{tuple(tensor.shape)}{tensor.dtype}".encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy())
    return digest.hexdigest()
