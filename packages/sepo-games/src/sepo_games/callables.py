"""Plain functions as policies: anything that turns a text, or a batch of chats, into text can sit in the learner's chair."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from inspect import iscoroutinefunction

from sepo_games.types import Message, Reply, Request


@dataclass(frozen=True)
class ChatPolicy:
    """A function from a batch of chats to a batch of replies.

    Attributes:
        answer: Gets the messages of every question and gives one text for each.
    """

    answer: Callable[[list[list[Message]]], Sequence[str]]

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request.

        Raises:
            ValueError: If the function gives another number of replies, or one that is no text.
        """
        texts = self.answer([list(request.messages) for request in requests])
        if isinstance(texts, str) or len(texts) != len(requests):
            raise ValueError(
                f"the policy gave {texts!r:.80} to {len(requests)} questions: a list with one text for each is needed"
            )
        return [_reply(text) for text in texts]


@dataclass(frozen=True)
class TextPolicy:
    """A function from a prompt to a reply, ordinary or `async`; the prompt is the messages' contents with blank lines between.

    Attributes:
        answer: The function.
        concurrency: How many calls of an `async` function run at once.
    """

    answer: Callable[[str], str] | Callable[[str], Awaitable[str]]
    concurrency: int = 16

    def __post_init__(self) -> None:
        """Checks the number of calls."""
        if self.concurrency < 1:
            raise ValueError(f"concurrency = {self.concurrency}: at least one call must run at a time")

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in their order.

        Raises:
            ValueError: If the function gives something that is no text.
        """
        prompts = ["\n\n".join(message["content"] for message in request.messages) for request in requests]
        call = getattr(self.answer, "__call__", None)  # noqa: B004  (an object may have an async __call__)
        if iscoroutinefunction(self.answer) or iscoroutinefunction(call):
            return [_reply(text) for text in _in_own_loop(self._all(prompts))]
        return [_reply(self.answer(prompt)) for prompt in prompts]

    async def _all(self, prompts: Sequence[str]) -> list[object]:
        limit = asyncio.Semaphore(self.concurrency)

        async def one(prompt: str) -> object:
            async with limit:
                answer = self.answer(prompt)
                assert isinstance(answer, Awaitable)
                return await answer

        return list(await asyncio.gather(*map(one, prompts)))


def _in_own_loop(work: Coroutine[object, object, list[object]]) -> list[object]:
    """Runs a coroutine in a thread of its own, so that it works inside notebooks, whose loop is already running."""
    done: list[list[object]] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001  (handed on to the caller below)
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


def _reply(text: object) -> Reply:
    if not isinstance(text, str):
        raise ValueError(f"the policy answered {text!r:.80}: a text is needed")
    return Reply(text)
