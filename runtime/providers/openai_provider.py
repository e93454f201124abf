"""What both providers of services that speak like OpenAI's share: all but the form of a request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from typing import ClassVar

from runtime.providers.connection import Connection
from runtime.providers.openai_lessons import Lessons
from runtime.providers.openai_reply import Question, reply
from runtime.providers.openai_wire import Service
from runtime.providers.provider import ModelInfo, Request, StreamItem, Traits


class OpenAIProvider(ABC):
    """Answers with a model of the service that `connection` names. What a model turns out not to take is left
    out from then on. `path` is where requests of this form go, below the address."""

    path: ClassVar[str]

    def __init__(self, connection: Connection) -> None:
        self._service = Service(connection)
        self._lessons = Lessons()

    @abstractmethod
    def _ask(self, request: Request) -> Question:
        """What is sent for `request`, as far as the model takes it."""

    def traits(self, model: str) -> Traits:
        """See Provider."""
        service = self._service
        acts, sees = self._lessons.acts(model), self._lessons.sees(model)
        return Traits(service.provider, service.local, acts, sees, host=service.host)

    async def models(self) -> list[ModelInfo]:
        """See Provider."""
        return self._lessons.listed(await self._service.models())

    def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        """See Provider."""
        return reply(self._service, self._lessons, self.path, request, self._ask)

    def window(self, model: str) -> int:
        """See Provider."""
        return self._lessons.window(model)

    def tools_on_demand(self, model: str) -> bool:
        """See Provider: never."""
        return False

    async def count(self, request: Request) -> int:
        """See Provider: a careful estimate."""
        return self._lessons.estimate(request)

    async def close(self) -> None:
        """Close the connections; idempotent."""
        await self._service.close()
