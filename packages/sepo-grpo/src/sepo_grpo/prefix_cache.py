"""Next-token distributions under one fixed policy, with keys and values kept for every prefix seen.

The cache is one long sequence whose slots are the nodes of a token tree (see `forward`). Asking for prefixes runs only
their missing tokens, all in one forward pass, whether that is a whole prompt or one more token of a reply.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import DynamicCache

from sepo_grpo.forward import Ids


class TreeCache:
    """Keys and values of a growing token tree.

    Args:
        model: A causal language model for which `forward.supports_tree` holds; its weights must not change
            while the cache lives.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._device = next(model.parameters()).device
        self._cache = DynamicCache()
        self._slots: dict[tuple[int, int], int] = {}
        self._keys: list[tuple[int, int]] = []
        self._depths: list[int] = []
        self._sees = np.zeros((256, 256), dtype=bool)

    def __len__(self) -> int:
        """Number of cached tokens."""
        return len(self._keys)

    @torch.no_grad()
    def next_logits(self, prefixes: Sequence[Ids]) -> Tensor:
        """Logits `(len(prefixes), vocabulary)` of the token after each prefix; prefixes must be distinct."""
        start = len(self._keys)
        ends = [self._add(prefix) for prefix in prefixes]
        tokens = torch.tensor([[token for _, token in self._keys[start:]]], device=self._device)
        depths = torch.tensor([self._depths[start:]], device=self._device)
        total = len(self._keys)
        mask = torch.from_numpy(self._sees[start:total, :total])[None, None].to(self._device)
        logits: Tensor = self._model(
            input_ids=tokens,
            position_ids=depths,
            attention_mask=mask,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=torch.tensor([end - start for end in ends], device=self._device),
        ).logits[0]
        return logits

    def rewind(self, length: int) -> None:
        """Forgets every token after the first `length`."""
        for key, slot in list(self._slots.items()):
            if slot >= length:
                del self._slots[key]
        del self._keys[length:], self._depths[length:]
        layer: Any
        for layer in self._cache.layers:
            layer.keys = layer.keys[..., :length, :]
            layer.values = layer.values[..., :length, :]

    def _add(self, prefix: Ids) -> int:
        """Adds the missing tokens of a prefix and always its last one, whose logits are asked for."""
        node = -1
        for i, token in enumerate(prefix):
            slot = self._slots.get((node, token))
            if slot is None or i == len(prefix) - 1:
                slot = self._append(node, token)
            node = slot
        return node

    def _append(self, parent: int, token: int) -> int:
        slot = len(self._keys)
        if slot == len(self._sees):
            grown = np.zeros((2 * slot, 2 * slot), dtype=bool)
            grown[:slot, :slot] = self._sees
            self._sees = grown
        self._sees[slot] = False
        if parent >= 0:
            self._sees[slot, :slot] = self._sees[parent, :slot]
        self._sees[slot, slot] = True
        self._keys.append((parent, token))
        self._depths.append(0 if parent < 0 else self._depths[parent] + 1)
        self._slots[parent, token] = slot
        return slot


class PaddedCache:
    """The same interface for models that take no token tree: every call runs whole prefixes, nothing is kept."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._device = next(model.parameters()).device

    def __len__(self) -> int:
        """Number of cached tokens: none."""
        return 0

    @torch.no_grad()
    def next_logits(self, prefixes: Sequence[Ids]) -> Tensor:
        """Logits `(len(prefixes), vocabulary)` of the token after each prefix."""
        longest = max(map(len, prefixes))
        ids = torch.zeros(len(prefixes), longest, dtype=torch.long)
        mask = torch.zeros(len(prefixes), longest, dtype=torch.long)
        for i, prefix in enumerate(prefixes):
            ids[i, longest - len(prefix) :] = torch.tensor(prefix)
            mask[i, longest - len(prefix) :] = 1
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        logits: Tensor = self._model(
            input_ids=ids.to(self._device),
            attention_mask=mask.to(self._device),
            position_ids=positions.to(self._device),
            use_cache=False,
            logits_to_keep=1,
        ).logits[:, -1]
        return logits

    def rewind(self, length: int) -> None:
        """Nothing to forget."""
