"""The models on an Ollama server's disk, as every door shows, fetches and deletes them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeVar

from runtime.errors import Field, OrionError
from runtime.messages import JsonObject
from runtime.providers.connection import Connection
from runtime.providers.ollama_library import OllamaLibrary, OllamaModel, Pulling

REGISTRY = "registry.ollama.ai"
"""Where Ollama fetches a model whose name carries no host."""

Answer = TypeVar("Answer")

PACE = 0.05
"""Seconds between two steps of a download that are told."""


@dataclass(frozen=True, slots=True)
class Download:
    """How far a download is. `step` grows with every change and tells one from the next; `status` is what
    the server does now, in its words; `completed` and `total` are bytes of all files begun so far, 0 where
    unknown. `code` and `fields` say why it failed."""

    model: str
    step: int = 0
    state: Literal["running", "done", "stopped", "failed"] = "running"
    status: str = ""
    completed: int = 0
    total: int = 0
    code: str = ""
    fields: dict[str, Field] | None = None

    def as_dict(self) -> JsonObject:
        """As plain data; `registry` is the host that the server fetches from."""
        return asdict(self) | {"fields": self.fields or {}, "registry": registry_of(self.model)}


class OllamaShelf:
    """One server's models. Used from the runtime's loop; its owner closes it.

    `connection` is the way to the server, `pulling` the same with requests that the ledger names as pulls;
    `changed` is called when the server has other models than before. One download runs at a time and goes
    on when its door looks away, until `stop` or `close`.
    """

    def __init__(
        self, connection: Connection, pulling: Connection, changed: Callable[[], object] = lambda: None
    ) -> None:
        self.address = connection.base_url
        self._library = OllamaLibrary(connection)
        self._pulling = OllamaLibrary(pulling)
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._download: Download | None = None
        self._files: dict[str, tuple[int, int]] = {}
        self._news = asyncio.Condition()

    @property
    def local(self) -> bool:
        """Whether the server is on this machine."""
        return self._library.local

    async def models(self) -> list[OllamaModel]:
        """The models the server keeps, by name. Raises OrionError as every call of the server, and
        `ollama_not_running` (address) where none answers on this machine."""
        return await self._with(self._library.installed())

    async def show(self, name: str) -> OllamaModel:
        """One of them; a name without a tag means "latest". Raises `model_not_offered`."""
        for model in await self.models():
            if model.name in (name, f"{name}:latest"):
                return model
        return await self._with(self._library.show(name))

    async def delete(self, name: str) -> None:
        """Remove a model from the server's disk. Raises `model_not_offered`."""
        await self._with(self._library.delete(name))
        self._changed()

    @property
    def download(self) -> Download | None:
        """The download that runs or ran last."""
        return self._download

    async def begin(self, name: str) -> Download:
        """Let the server fetch `name`, or go on where a stopped download of it ended. The server itself goes
        out to `registry_of(name)`, so the user must have asked for it by name. Raises `pull_name_missing`,
        `pull_busy` (model)."""
        name = name.strip()
        if not name:
            raise OrionError("pull_name_missing", fault="user")
        if self._download is not None and self._download.state == "running":
            raise OrionError("pull_busy", fault="user", model=self._download.model)
        self._files.clear()
        self._download = Download(name)
        self._task = asyncio.create_task(self._fetch(name))
        return self._download

    async def step(self, seen: int) -> Download | None:
        """The download as it is once it has moved on from step `seen`, or has ended; None without any."""
        async with self._news:
            await self._news.wait_for(lambda: (now := self._download) is None or _is_news(now, seen))
        if self._download is not None and self._download.state == "running":
            await asyncio.sleep(PACE)
        return self._download

    async def stop(self) -> Download | None:
        """Hang up; what came so far stays on the server's disk. The download as it ended."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
            if self._download is not None and self._download.state == "running":  # it had not begun to run
                await self._tell(state="stopped")
        return self._download

    async def close(self) -> None:
        """Stop what runs and close the connections; idempotent."""
        await self.stop()
        await self._library.close()
        await self._pulling.close()

    async def _fetch(self, name: str) -> None:
        try:
            async with aclosing(self._pulling.pull(name)) as parts:
                async for part in parts:
                    await self._on_part(part)
        except OrionError as fault:
            error = self._said(fault)
            await self._tell(state="failed", code=error.code, fields=dict(error.fields))
        else:
            self._changed()
            await self._tell(state="done")
        finally:
            if self._download is not None and self._download.state == "running":
                await self._tell(state="stopped")

    async def _with(self, asked: Awaitable[Answer]) -> Answer:
        try:
            return await asked
        except OrionError as error:
            raise self._said(error) from None

    def _said(self, error: OrionError) -> OrionError:
        """On this machine nothing lies between here and the server, so it does not run."""
        if self.local and error.code == "provider_unreachable":
            return OrionError("ollama_not_running", fault="provider", address=self.address)
        return error

    async def _on_part(self, part: Pulling) -> None:
        if part.total:
            self._files[part.status] = (part.completed, part.total)
        completed = sum(done for done, _total in self._files.values())
        total = sum(whole for _done, whole in self._files.values())
        await self._tell(status=part.status, completed=completed, total=total)

    async def _tell(self, **changes: object) -> None:
        now = self._download
        assert now is not None
        self._download = replace(now, step=now.step + 1, **changes)  # type: ignore[arg-type]
        async with self._news:
            self._news.notify_all()


def registry_of(name: str) -> str:
    """The host from which Ollama fetches `name`: a name of three parts begins with it, as in
    "hf.co/maker/model:tag"; all others come from Ollama's own (source: types/model/name.go of Ollama)."""
    parts = name.rpartition("://")[2].split("/")
    return parts[0] if len(parts) > 2 else REGISTRY


def _is_news(download: Download, seen: int) -> bool:
    return download.step > seen or download.state != "running"
