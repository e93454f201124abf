"""One call of a service that speaks like OpenAI's, asked again without what the model does not take."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from resources.translation import _
from runtime.errors import OrionError
from runtime.messages import JsonObject
from runtime.providers import faults
from runtime.providers.openai_lessons import Lessons
from runtime.providers.openai_wire import Refusal, Service
from runtime.providers.provider import Failed, Finished, Notices, Request, StreamItem


class Reading(Protocol):
    """Reads the events of one answer."""

    @property
    def ended(self) -> bool:
        """Whether the service said that the answer is whole."""
        ...

    def take(self, event: JsonObject) -> Iterator[StreamItem]:
        """One more event. Raises OrionError for one that tells of a fault, ValueError for one that is odd."""
        ...

    def rest(self, window: int, notices: Notices) -> Iterator[StreamItem]:
        """What is left to say of a whole answer; the last item is Finished or Failed."""
        ...


@dataclass(frozen=True, slots=True)
class Question:
    """What is sent, what it holds that a model may refuse, notices of what was left out, and who reads the
    answer."""

    body: JsonObject
    sent: frozenset[str]
    notices: Notices
    reading: Reading


async def reply(
    service: Service, lessons: Lessons, path: str, request: Request, ask: Callable[[Request], Question]
) -> AsyncGenerator[StreamItem, None]:
    """The items of a provider's stream; see Provider. `ask` is called anew after each lesson."""
    while True:
        question = ask(request)
        reading = question.reading
        failure: OrionError | None = None
        try:
            async with aclosing(service.events(path, question.body, request.model)) as events:
                async for event in events:
                    for item in reading.take(event):
                        yield item
        except Refusal as refusal:
            if lessons.learn(request.model, refusal, question.sent):
                continue
            failure = refusal.error
        except OrionError as error:
            failure = error
        except ValueError:
            failure = faults.malformed(service.provider, _("not the events that the service documents"))
        if not reading.ended:
            yield Failed(failure or faults.cut_short(service.provider, request.model))
            return
        for item in reading.rest(lessons.window(request.model), question.notices):
            if isinstance(item, Finished):
                lessons.counted(request, item.usage)
            yield item
        return
