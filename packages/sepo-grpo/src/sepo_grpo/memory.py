"""Activations that are recomputed in the backward pass instead of kept (gradient checkpointing)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn


@contextmanager
def recompute_activations(model: nn.Module, wanted: bool) -> Iterator[None]:
    """Inside, layers keep their inputs only, at the price of a second forward pass; numbers stay the same.

    Transformers layers do so in training mode alone, so dropout, which training here never uses, is set to 0 first.

    Args:
        model: A transformers model, or one with an adapter.
        wanted: Whether to do it at all.
    """
    if not wanted:
        yield
        return
    module: Any
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = 0.0
    inner: Any = model
    inner.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    try:
        yield
    finally:
        model.eval()
        inner.gradient_checkpointing_disable()
