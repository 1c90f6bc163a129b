"""The language model in a player's chair: sampled replies and scored replies under fixed weights.

Replies are sampled from softmax(logits / temperature) with no truncation of the distribution, so the log-probability
that training uses is that of the distribution that was sampled. Walkers on the same token prefix share its
distribution; each walker draws by inversion from its own uniforms, which depend on the request's key alone. The reply
to a request therefore does not depend on what else is in the batch.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sepo_games import Message, Reply, Request

from sepo_grpo.forward import Ids
from sepo_grpo.language_model import LanguageModel

CHUNK = 64
"""Most prefixes advanced in one forward pass while sampling; bounds the attention mask and the cache."""

SPARE = 256
"""Reply tokens kept in the cache after calls: a trained policy's few replies stay, an untrained one's many do not."""

KEPT = 1024
"""Most next-token distributions kept; at 49k tokens of vocabulary this is 200 MB."""

Walker = tuple[int, npt.NDArray[np.float64]]


def uniforms(key: Sequence[int], n: int) -> npt.NDArray[np.float64]:
    """`n` uniforms on [0, 1) that depend on the key alone (non-negative integers)."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(list(key)))).random(n)


class LmPolicy:
    """Answers requests with a language model whose weights stay fixed while this object is used.

    Args:
        lm: The language model.
        temperature: Of sampling and scoring, > 0.
        max_tokens: Longest reply in tokens, end token included; a longer one is cut and marked truncated.
    """

    def __init__(self, lm: LanguageModel, temperature: float, max_tokens: int) -> None:
        self._lm = lm
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._cache = lm.cache()
        self._spare = 0
        self._kept: OrderedDict[Ids, npt.NDArray[np.float32]] = OrderedDict()

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """One sampled reply for each request."""
        groups: dict[Ids, list[Walker]] = defaultdict(list)
        for i, request in enumerate(requests):
            groups[self._lm.prompt_ids(request.messages)].append((i, uniforms(request.key, self._max_tokens)))
        found: dict[int, Ids] = {}
        self._distributions(list(groups))
        mark = len(self._cache)
        self._walk(groups, {prompt: len(prompt) for prompt in groups}, found)
        grown = len(self._cache) - mark
        if self._spare + grown > SPARE:
            self._cache.rewind(mark)
        else:
            self._spare += grown
        return [self._reply(found[i]) for i in range(len(requests))]

    def score(self, pairs: Sequence[tuple[Sequence[Message], Sequence[str]]]) -> list[npt.NDArray[np.float64]]:
        """Log-probabilities of complete replies (end token included), one array for each (messages, replies) pair."""
        result = []
        for start in range(0, len(pairs), 64):
            rows = [
                [(self._lm.prompt_ids(messages), self._lm.reply_ids(text)) for text in replies]
                for messages, replies in pairs[start : start + 64]
            ]
            prefixes = {prompt + reply[:k] for of in rows for prompt, reply in of for k in range(len(reply))}
            known = self._distributions(sorted(prefixes, key=lambda prefix: (len(prefix), prefix)))
            for of in rows:
                scores = [
                    sum(float(known[prompt + reply[:k]][token]) for k, token in enumerate(reply))
                    for prompt, reply in of
                ]
                result.append(np.array(scores, dtype=np.float64))
        return result

    def _reply(self, ids: Ids) -> Reply:
        return Reply(text=self._lm.decode(ids), truncated=ids[-1] not in self._lm.stop, tokens=ids)

    def _walk(self, groups: dict[Ids, list[Walker]], lengths: dict[Ids, int], found: dict[int, Ids]) -> None:
        """Advances every walker to the end of its reply; `lengths` holds each prefix's prompt length."""
        while groups:
            if len(groups) > CHUNK:
                prefixes = list(groups)
                for start in range(0, len(prefixes), CHUNK):
                    part = prefixes[start : start + CHUNK]
                    mark = len(self._cache)
                    self._walk({p: groups[p] for p in part}, lengths, found)
                    self._cache.rewind(mark)
                return
            known = self._distributions(list(groups))
            following: dict[Ids, list[Walker]] = defaultdict(list)
            for prefix, walkers in groups.items():
                begun = len(prefix) - lengths[prefix]
                cumulative = np.exp(known[prefix], dtype=np.float64).cumsum()
                draws = np.array([u[begun] for _, u in walkers]) * cumulative[-1]
                tokens = np.searchsorted(cumulative, draws, side="right").clip(max=len(cumulative) - 1)
                for walker, token in zip(walkers, tokens.tolist(), strict=True):
                    longer = (*prefix, token)
                    if token in self._lm.stop or begun + 1 == self._max_tokens:
                        found[walker[0]] = longer[lengths[prefix] :]
                    else:
                        following[longer].append(walker)
                        lengths[longer] = lengths[prefix]
            groups = following

    def _distributions(self, prefixes: Sequence[Ids]) -> dict[Ids, npt.NDArray[np.float32]]:
        """Next-token log-probabilities of each prefix, computed once."""
        known = {p: self._kept[p] for p in prefixes if p in self._kept}
        missing = [p for p in prefixes if p not in known]
        if missing:
            logits = self._cache.next_logits(missing).float() / self._temperature
            rows = logits.log_softmax(-1).cpu().numpy()
            if not np.isfinite(rows.max(axis=1)).all():
                raise FloatingPointError("the model's next-token distribution is not finite")
            known.update(zip(missing, rows, strict=True))
        for prefix in missing:
            self._kept[prefix] = known[prefix]
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return known
