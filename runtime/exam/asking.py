"""Puts the exam's questions to a model by the way that chats take."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from runtime.errors import OrionError
from runtime.messages import Image, Message, Text, ToolCall, ToolSpec, UserMessage
from runtime.providers.provider import (
    CallReady,
    Failed,
    Finished,
    Provider,
    ReasoningDelta,
    Request,
    TextDelta,
)

THOUGHT = 512
"""Tokens that a model which cannot be kept from thinking may think before each answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """One model call. Questions of the same `topic` share their warm beginning: what they have in common
    comes first. `most` is the tokens of the answer that are waited for."""

    topic: str
    messages: tuple[Message, ...]
    most: int
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()

    @property
    def shows(self) -> bool:
        """Whether a picture is in it."""
        return any(
            isinstance(part, Image) for message in self.messages for part in getattr(message, "parts", ())
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What came: text without thoughts, calls, and what the engine measured; `evaluated` are the tokens of
    the prompt that were not cached."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    tokens: int = 0
    evaluated: int = 0
    tokens_per_second: float = 0.0
    prefill_per_second: float = 0.0


Ask = Callable[[Question], Awaitable[Answer]]
"""Puts a question and returns the answer; the same one each time. Raises OrionError when there is none."""


def said(text: str) -> UserMessage:
    """What the examiner says."""
    return UserMessage((Text(text),))


class Asking:
    """An `Ask` of one model of a provider, which stays the caller's: always the likeliest words, no thoughts
    where they can be switched off."""

    def __init__(self, provider: Provider, model: str) -> None:
        self._provider = provider
        self._model = model
        self._thinks = False

    async def __call__(self, question: Question) -> Answer:
        thought_only, answer = await self._ask(question)
        if thought_only and not self._thinks:
            self._thinks = True
            _, answer = await self._ask(question)
        return answer

    async def _ask(self, question: Question) -> tuple[bool, Answer]:
        """The answer, and whether all there was room for were thoughts."""
        request = Request(
            session=f"exam-{question.topic}",
            model=self._model,
            system=question.system,
            messages=question.messages,
            tools=question.tools,
            temperature=0.0,
            max_tokens=question.most + (THOUGHT if self._thinks else 0),
            effort="off",
        )
        text: list[str] = []
        calls: list[ToolCall] = []
        thought = False
        end: Finished | None = None
        async with aclosing(self._provider.stream(request)) as stream:
            async for item in stream:
                match item:
                    case TextDelta():
                        text.append(item.text)
                    case CallReady():
                        calls.append(item.call)
                    case ReasoningDelta():
                        thought = True
                    case Failed():
                        raise item.error
                    case Finished():
                        end = item
        if end is None:
            raise OrionError("reply_cut_short", fault="provider", model=self._model)
        answer = Answer(
            "".join(text),
            tuple(calls),
            end.usage.completion,
            end.usage.prompt - end.usage.cached,
            end.tokens_per_second,
            end.prefill_per_second,
        )
        only = thought and not calls and not answer.text.strip() and end.stop_reason == "length"
        return only, answer
