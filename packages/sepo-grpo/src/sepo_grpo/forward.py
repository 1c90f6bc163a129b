"""Log-probabilities of replies, with every distinct token prefix computed once.

Rows (prompt, reply) of one game share their rules, rows of one information set share the whole prompt. `tree_logprobs`
writes the rows as one token tree and runs it as a single sequence: a token sees its ancestors only, and its position is
its depth. A causal model then computes exactly what it computes for every row alone, for the price of the distinct
prefixes. Models whose layers look at neighbours in the sequence (sliding windows, linear attention) do not; for them
`padded_logprobs` runs the rows as an ordinary right-padded batch. `supports_tree` decides by trying both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

Ids = tuple[int, ...]
Row = tuple[Ids, Ids]

TREE_TOLERANCE = 1e-3
"""Largest difference in log-probability (nats) between tree and row that still counts as float rounding."""


@dataclass(frozen=True)
class TokenTree:
    """The distinct prefixes of some token sequences; a node is its last token.

    Attributes:
        tokens: `(n,)` token of each node, parents before children.
        depths: `(n,)` position of each node in its sequences.
        sees: `(n, n)` True where the row's node may attend to the column's node: itself and its ancestors.
        paths: For each sequence its nodes.
    """

    tokens: Tensor
    depths: Tensor
    sees: Tensor
    paths: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, sequences: Sequence[Ids]) -> "TokenTree":
        """Builds the tree of some non-empty token sequences."""
        index: dict[tuple[int, int], int] = {}
        tokens: list[int] = []
        depths: list[int] = []
        parents: list[int] = []
        paths = []
        for sequence in sequences:
            node, path = -1, []
            for token in sequence:
                key = (node, token)
                if key not in index:
                    index[key] = len(tokens)
                    tokens.append(token)
                    parents.append(node)
                    depths.append(0 if node < 0 else depths[node] + 1)
                node = index[key]
                path.append(node)
            paths.append(tuple(path))
        sees = torch.eye(len(tokens), dtype=torch.bool)
        for node, parent in enumerate(parents):
            if parent >= 0:
                sees[node] |= sees[parent]
        return cls(torch.tensor(tokens), torch.tensor(depths), sees, tuple(paths))


def _check_rows(rows: Sequence[Row]) -> None:
    for i, (prompt, reply) in enumerate(rows):
        if not prompt or not reply:
            raise ValueError(f"row {i} has an empty {'reply' if prompt else 'prompt'}: both need at least one token")


def tree_logprobs(model: nn.Module, rows: Sequence[Row], temperature: float = 1.0) -> list[Tensor]:
    """Log-probabilities of every reply token, rows packed into one token tree.

    Args:
        model: A causal language model whose every layer attends to all earlier tokens.
        rows: (prompt ids, reply ids) pairs.
        temperature: Of the distribution that is scored; logits are divided by it.

    Returns:
        For each row a `(len(reply),)` float32 tensor; gradients flow.
    """
    _check_rows(rows)
    tree = TokenTree.of([prompt + reply[:-1] for prompt, reply in rows])
    device = next(model.parameters()).device
    starts = [path[len(prompt) - 1 :] for (prompt, _), path in zip(rows, tree.paths, strict=True)]
    kept = sorted({node for nodes in starts for node in nodes})
    place = {node: i for i, node in enumerate(kept)}
    logits = model(
        input_ids=tree.tokens[None].to(device),
        position_ids=tree.depths[None].to(device),
        attention_mask=tree.sees[None, None].to(device),
        use_cache=False,
        logits_to_keep=torch.tensor(kept, device=device),
    ).logits[0]
    at = torch.tensor([place[node] for nodes in starts for node in nodes], device=device)
    tokens = torch.tensor([token for _, reply in rows for token in reply], device=device)
    # One gather for all rows: indexing row by row would fill a vocabulary-sized gradient for each of them.
    scores = logits.float() / temperature
    chosen = scores[at, tokens] - scores.logsumexp(-1)[at]
    return list(chosen.split([len(reply) for _, reply in rows]))


def padded_logprobs(model: nn.Module, rows: Sequence[Row], temperature: float = 1.0) -> list[Tensor]:
    """As `tree_logprobs`, rows run as a right-padded batch; right for every causal architecture.

    The mask comes from the lengths, never from the padding id, which is often the end-of-turn id as well.
    """
    _check_rows(rows)
    device = next(model.parameters()).device
    sequences = [prompt + reply[:-1] for prompt, reply in rows]
    longest = max(map(len, sequences))
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros(len(rows), longest, dtype=torch.long)
    for i, sequence in enumerate(sequences):
        ids[i, : len(sequence)] = torch.tensor(sequence)
        mask[i, : len(sequence)] = 1
    logits = model(input_ids=ids.to(device), attention_mask=mask.to(device), use_cache=False).logits
    result = []
    for i, (prompt, reply) in enumerate(rows):
        scores = logits[i, len(prompt) - 1 : len(prompt) + len(reply) - 1].float() / temperature
        result.append(scores.log_softmax(-1).gather(1, torch.tensor(reply, device=device)[:, None])[:, 0])
    return result


@torch.no_grad()
def supports_tree(model: nn.Module) -> bool:
    """Whether `tree_logprobs` equals `padded_logprobs` for this model, found by trying a small tree with forks."""
    prompt = tuple(range(3, 40))
    rows: list[Row] = [
        (prompt + (5, 6), (7, 8, 9)),
        (prompt + (5, 6), (7, 9)),
        (prompt + (6,), (8, 8)),
        (prompt, (4, 5, 3)),
    ]
    try:
        tree = tree_logprobs(model, rows)
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError):
        return False  # the architecture takes no four-dimensional mask
    padded = padded_logprobs(model, rows)
    return all(bool((a - b).abs().max() < TREE_TOLERANCE) for a, b in zip(tree, padded, strict=True))
