"""A causal language model with its tokenizer: how messages become prompts, when a reply ends, which forward is right."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sepo_games import Message
from torch import Tensor, nn
from transformers import PreTrainedTokenizerBase

from sepo_grpo.forward import Ids, Row, padded_logprobs, supports_tree, tree_logprobs
from sepo_grpo.prefix_cache import PaddedCache, TreeCache


@dataclass(frozen=True)
class LanguageModel:
    """A model that answers chat messages.

    Attributes:
        name: What the model is called in reports.
        model: The causal language model, in evaluation mode: training here never uses dropout.
        tokenizer: Its tokenizer.
        stop: Ids that end a reply; the first is the one that our own replies end with.
        tree: Whether rows may be packed into one token tree.
        thinking: Whether a thinking model's template lets it think.
    """

    name: str
    model: nn.Module
    tokenizer: PreTrainedTokenizerBase
    stop: tuple[int, ...]
    tree: bool
    thinking: bool = False
    _prompts: dict[tuple[tuple[str, str], ...], Ids] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        name: str,
        model: nn.Module,
        tokenizer: PreTrainedTokenizerBase,
        stop: Iterable[int],
        thinking: bool = False,
    ) -> "LanguageModel":
        """Puts a model into evaluation mode and finds out which forward pass is right for it."""
        model.eval()
        return cls(name, model, tokenizer, tuple(dict.fromkeys(stop)), supports_tree(model), thinking)

    def with_model(self, model: nn.Module) -> "LanguageModel":
        """The same tokenizer and settings around other weights of the same architecture."""
        return replace(self, model=model.eval())

    def prompt_ids(self, messages: Sequence[Message]) -> Ids:
        """Token ids of the messages up to where the reply begins."""
        key = tuple((m["role"], m["content"]) for m in messages)
        if key not in self._prompts:
            self._prompts[key] = self._encode(messages)
        return self._prompts[key]

    def _encode(self, messages: Sequence[Message]) -> Ids:
        if self.tokenizer.chat_template is None:
            text = "\n\n".join(m["content"] for m in messages) + "\n\n"
            return tuple(self.tokenizer(text)["input_ids"])
        # Templates of thinking models read the flag; all others ignore it.
        conversation: Any = list(messages)
        encoded: Any = self.tokenizer.apply_chat_template(
            conversation, add_generation_prompt=True, tokenize=True, return_dict=True, enable_thinking=self.thinking
        )
        return tuple(encoded["input_ids"])

    def reply_ids(self, text: str) -> Ids:
        """Token ids of a complete reply, end of turn included."""
        return (*self.tokenizer(text, add_special_tokens=False)["input_ids"], self.stop[0])

    def decode(self, reply: Sequence[int]) -> str:
        """The text of a sampled reply, without its end token; undecodable bytes become U+FFFD."""
        body = reply[:-1] if reply and reply[-1] in self.stop else reply
        return str(self.tokenizer.decode(list(body), skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def logprobs(self, rows: Sequence[Row], temperature: float) -> list[Tensor]:
        """Log-probabilities of every reply token of some (prompt, reply) rows; see `forward`."""
        return (tree_logprobs if self.tree else padded_logprobs)(self.model, rows, temperature)

    def cache(self) -> TreeCache | PaddedCache:
        """An empty prefix cache under the current weights."""
        return (TreeCache if self.tree else PaddedCache)(self.model)
