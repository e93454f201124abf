"""A provider in one file: it says what was said to it."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from runtime.messages import Usage
from runtime.providers.provider import Finished, ModelInfo, Request, StreamItem, TextDelta, Traits


class Parrot:
    """See Provider."""

    def traits(self, model: str) -> Traits:
        return Traits("parrot", local=True, tools=False)

    async def models(self) -> list[ModelInfo]:
        return [ModelInfo("grey"), ModelInfo("green")]

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        said = request.messages[-1].text.split()
        for word in said:
            yield TextDelta(word + " ")
        yield Finished("stop", Usage(len(said), len(said)))

    def window(self, model: str) -> int:
        return 0

    def tools_on_demand(self, model: str) -> bool:
        return False

    async def count(self, request: Request) -> int:
        return sum(len(message.text.split()) for message in request.messages)

    async def close(self) -> None:
        pass
