"""The token tree computes what the model computes for every row alone."""

import numpy as np
import pytest
import torch
from sepo_grpo.forward import TokenTree, padded_logprobs, supports_tree, tree_logprobs
from sepo_grpo.prefix_cache import PaddedCache, TreeCache
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM

SIZES = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


@pytest.fixture(scope="module")
def llama():
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(**SIZES)).eval()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    rules = tuple(rng.integers(3, 64, 20).tolist())
    prompts = [rules + tuple(rng.integers(3, 64, n).tolist()) for n in (4, 9, 6)]
    replies = [tuple(rng.integers(3, 64, n).tolist()) for n in (1, 3, 5)]
    return [(prompt, reply) for prompt in prompts for reply in replies]


def test_a_tree_holds_every_distinct_prefix_once():
    tree = TokenTree.of([(1, 2, 3), (1, 2, 4), (1, 2, 3, 5)])
    assert tree.tokens.tolist() == [1, 2, 3, 4, 5]
    assert tree.depths.tolist() == [0, 1, 2, 2, 3]
    assert tree.paths == ((0, 1, 2), (0, 1, 3), (0, 1, 2, 4))
    assert tree.sees[4].tolist() == [True, True, True, False, True]


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_tree_and_padded_rows_equal_each_row_run_alone(llama, rows, temperature):
    with torch.no_grad():
        tree = tree_logprobs(llama, rows, temperature)
        padded = padded_logprobs(llama, rows, temperature)
        for (prompt, reply), a, b in zip(rows, tree, padded, strict=True):
            logits = llama(input_ids=torch.tensor([prompt + reply])).logits[0, len(prompt) - 1 : -1] / temperature
            alone = logits.log_softmax(-1).gather(1, torch.tensor(reply)[:, None])[:, 0]
            torch.testing.assert_close(a, alone, atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(b, alone, atol=1e-5, rtol=1e-5)


def test_gradients_through_the_tree_equal_those_of_the_rows(llama, rows):
    gradients = []
    for forward in (tree_logprobs, padded_logprobs):
        llama.zero_grad()
        sum((k + 1) * row.sum() for k, row in enumerate(forward(llama, rows))).backward()
        gradients.append(torch.cat([p.grad.flatten().clone() for p in llama.parameters()]))
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-4, rtol=1e-4)


def test_full_attention_takes_a_tree_and_a_sliding_window_does_not(llama):
    assert supports_tree(llama)
    torch.manual_seed(0)
    assert not supports_tree(MistralForCausalLM(MistralConfig(**SIZES, sliding_window=8)).eval())


@pytest.mark.parametrize("cache", [TreeCache, PaddedCache])
def test_a_cache_gives_the_logits_of_the_whole_prefix_however_it_was_filled(llama, rows, cache):
    prefixes = [prompt + reply for prompt, reply in rows]
    filled = cache(llama)
    filled.next_logits(list(dict.fromkeys(p for p, _ in rows)))
    mark = len(filled)
    for _ in range(2):  # the second time after the replies were forgotten
        logits = filled.next_logits(prefixes)
        for prefix, row in zip(prefixes, logits, strict=True):
            with torch.no_grad():
                alone = llama(input_ids=torch.tensor([prefix])).logits[0, -1]
            torch.testing.assert_close(row, alone, atol=1e-5, rtol=1e-5)
        filled.rewind(mark)
    assert len(filled) == mark


def test_an_empty_reply_is_refused(llama):
    with pytest.raises(ValueError, match="row 0 has an empty reply"):
        tree_logprobs(llama, [((1, 2), ())])
