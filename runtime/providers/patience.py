"""Asks a service again when it failed for a passing reason before anything of the reply came."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from runtime.errors import OrionError
from runtime.providers.provider import (
    Failed,
    ModelInfo,
    Progress,
    Provider,
    Request,
    Retrying,
    StreamItem,
    Traits,
)

AGAIN = frozenset({"rate_limited", "provider_unavailable", "provider_unreachable", "reply_cut_short"})
"""Faults that may pass by themselves. A service that keeps silent is not asked again: it may be at work."""

ATTEMPTS = 4
FIRST, LONGEST = 0.5, 8.0
MOST = 60.0
"""A service that wants more seconds than this before it is asked again is not waited for."""


class Patient:
    """A provider that stands before another one and asks it up to ATTEMPTS times.

    The waits double from FIRST to LONGEST seconds with jitter; a service that names a time is left alone
    for at least that long. Nothing is sent again once a piece of the reply was handed on. `sleep` waits.
    """

    def __init__(self, inner: Provider, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.inner = inner
        self._sleep = sleep

    def traits(self, model: str) -> Traits:
        """See Provider."""
        return self.inner.traits(model)

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        """See Provider; a Retrying comes before each wait."""
        for attempt in range(1, ATTEMPTS + 1):
            failure: Failed | None = None
            begun = False
            async with aclosing(self.inner.stream(request)) as items:
                async for item in items:
                    if isinstance(item, Failed) and not begun:
                        failure = item
                        break
                    begun = begun or not isinstance(item, Progress)
                    yield item
            if failure is None:
                return
            seconds = wait(failure.error, attempt)
            if seconds is None:
                yield failure
                return
            yield Retrying(failure.error.code, failure.error.fields, attempt, seconds)
            await self._sleep(seconds)

    async def models(self) -> list[ModelInfo]:
        """See Provider."""
        return await self.inner.models()

    def window(self, model: str) -> int:
        """See Provider."""
        return self.inner.window(model)

    def tools_on_demand(self, model: str) -> bool:
        """See Provider."""
        return self.inner.tools_on_demand(model)

    async def count(self, request: Request) -> int:
        """See Provider."""
        return await self.inner.count(request)

    async def close(self) -> None:
        """See Provider."""
        await self.inner.close()


def wait(error: OrionError, attempt: int) -> float | None:
    """Seconds until the call that failed for the `attempt`-th time is made again; None: it is not."""
    if error.code not in AGAIN or attempt >= ATTEMPTS:
        return None
    asked = error.fields.get("retry_after")
    if asked is not None and float(asked) > MOST:
        return None
    own = random.uniform(0.5, 1.0) * min(LONGEST, FIRST * 2.0 ** (attempt - 1))
    return max(float(asked or 0.0), own)
