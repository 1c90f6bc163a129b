"""A model that chooses: the canonical replies of the legal actions are scored, and one is drawn.

    pi(a) = s(a) / sum_a' s(a'),   s(a) the probability of the whole canonical reply of a

That distribution is what training takes the log-probability of (`chunks.among_legal`). No reply is ever rejected.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sepo_games import Message, Reply, Request

from sepo_grpo.language_model import LanguageModel
from sepo_grpo.policy import LmPolicy, uniforms


class ChoosePolicy:
    """Answers requests by scoring the legal actions that they name.

    Args:
        lm: The language model, whose weights stay fixed while this object is used.
        policy: The same model, for its scores.
    """

    def __init__(self, lm: LanguageModel, policy: LmPolicy) -> None:
        self._lm = lm
        self._policy = policy

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, drawn by inversion; it depends on the request's prompt, words and key alone."""
        if not all(request.legal for request in requests):
            raise ValueError("a request does not name its legal actions: there is nothing to choose among")
        asked = [(request.messages, tuple(f"ACTION: {word}" for word in request.legal)) for request in requests]
        distinct = {(tuple(m["content"] for m in messages), texts): (messages, texts) for messages, texts in asked}
        scores = dict(zip(distinct, self.score(list(distinct.values())), strict=True))
        result = []
        for request, (messages, texts) in zip(requests, asked, strict=True):
            cumulative = np.exp(scores[tuple(m["content"] for m in messages), texts]).cumsum()
            drawn = int(np.searchsorted(cumulative, uniforms(request.key, 1)[0] * cumulative[-1], side="right"))
            text = texts[min(drawn, len(texts) - 1)]
            result.append(Reply(text, tokens=self._lm.reply_ids(text)))
        return result

    def score(self, pairs: Sequence[tuple[Sequence[Message], Sequence[str]]]) -> list[npt.NDArray[np.float64]]:
        """Log-probabilities of the replies, among those that are given for a prompt."""
        return [row - np.logaddexp.reduce(row) for row in self._policy.score(pairs)]


def policy_of(lm: LanguageModel, temperature: float, max_tokens: int, choosing: bool) -> "LmPolicy | ChoosePolicy":
    """The model as a player, under its current weights.

    Args:
        lm: The language model.
        temperature: Of sampling and scoring.
        max_tokens: Longest reply in tokens.
        choosing: Whether it chooses among scored replies, or writes its own.
    """
    policy = LmPolicy(lm, temperature, max_tokens)
    return ChoosePolicy(lm, policy) if choosing else policy
