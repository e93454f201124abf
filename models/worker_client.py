"""The embedded engine as the program sees it: one worker child, one answer at a time, back after a death."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import Any, Literal

from models.errors import EngineError
from models.frames import Frame
from models.generation import (
    Call,
    Finished,
    GenerateEvent,
    GenerateRequest,
    JsonObject,
    Loading,
    LoadOptions,
    ModelInfo,
    Prefill,
    Reasoning,
    Starting,
    Text,
    Usage,
    Waiting,
    Writing,
)
from models.worker_process import Limits, WorkerProcess, default_command

EngineState = Literal["starting", "restarted", "loading", "ready", "busy", "dead", "unloaded"]


class LocalEngine:
    """Runs local models in a child process that starts with the first request and restarts after a death.

    Owned and closed by whoever made it; used from one event loop. `on_state` is called in that loop. A
    request that finds the worker dead or deaf gets a fresh one and never knows; one that was being answered
    ends in an EngineError, and the next is answered.
    """

    def __init__(
        self,
        command: Sequence[str] | None = None,
        limits: Limits | None = None,
        on_state: Callable[[EngineState], None] | None = None,
    ) -> None:
        self._command = tuple(command or default_command())
        self._limits = limits or Limits()
        self._on_state = on_state or (lambda state: None)
        self._turn = asyncio.Lock()
        self._worker: WorkerProcess | None = None
        self._watch: asyncio.Task[None] | None = None
        self._died = False
        self._info: ModelInfo | None = None
        self._closed = False
        self._idle: asyncio.TimerHandle | None = None
        self._unloading: asyncio.Task[None] | None = None
        self.idle_seconds = 0.0
        """After so long without a request the worker ends and its memory is free; 0 never."""

    @property
    def pid(self) -> int:
        """The worker's process id, 0 when none runs."""
        return self._worker.pid if self._worker and self._worker.alive else 0

    @property
    def busy(self) -> bool:
        """Whether it works on a request."""
        return self._turn.locked()

    @property
    def info(self) -> ModelInfo | None:
        """The model that is loaded, if one is."""
        return self._info

    async def load(self, options: LoadOptions) -> ModelInfo:
        """Load a model now, unless it is the present one; waits for running answers. EngineError."""
        frame = await self._ask({"t": "load", "model": asdict(options)})
        return ModelInfo(**frame["info"])

    async def count_tokens(
        self, options: LoadOptions, messages: list[JsonObject], tools: list[JsonObject]
    ) -> int:
        """Tokens of the whole prompt as the model's own template and tokeniser make it. EngineError."""
        asked = {"t": "count", "model": asdict(options), "messages": messages, "tools": tools, "template": {}}
        return int((await self._ask(asked))["tokens"])

    async def embed(self, options: LoadOptions, texts: Sequence[str]) -> list[list[float]]:
        """A vector of length 1 for each text, by a model that is loaded beside the one that answers; waits
        for running answers. Of a text longer than its window the beginning counts. EngineError."""
        frame = await self._ask({"t": "embed", "model": asdict(options), "texts": list(texts)})
        vectors: list[list[float]] = frame["vectors"]
        return vectors

    async def evict(self, session: str) -> None:
        """Forget the warm memory of `session`, if a worker runs."""
        if self._worker and self._worker.alive:
            await self._ask({"t": "evict", "session": session})

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerateEvent, None]:
        """Answer `request`, in order with the others.

        The last event is Finished; a failure is an EngineError after whatever was already told. Closing the
        generator (or cancelling the task that reads it) ends it at once; the worker settles by itself.
        """
        if self._turn.locked():
            yield Waiting()
        async with self._turn, self._awake():
            for attempt in (1, 2):
                worker = self._worker
                if worker is None or not await self._usable(worker):
                    yield Starting(again=self._died)
                    worker = await self._start()
                self._on_state("busy")
                try:
                    async with aclosing(worker.frames(request.as_frame())) as frames:
                        async for frame in frames:
                            self._note(frame)
                            if frame["t"] != "loaded":
                                yield _event(frame)
                    self._on_state("ready")
                    return
                except EngineError:
                    self._after_failure(worker)
                    if attempt == 2 or not worker.untouched:
                        raise

    async def close(self) -> None:
        """End the worker; idempotent. Running answers end in an error."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        if self._unloading is not None:
            await self._unloading
        await self._end()

    async def unload(self) -> None:
        """End the worker, so that the model leaves the memory, once running answers are done; what is warm is
        stored as the options say, and the next request loads it again."""
        async with self._turn:
            await self._end()
            self._died = False
        self._on_state("unloaded")

    async def _end(self) -> None:
        worker, watch, self._worker, self._watch = self._worker, self._watch, None, None
        self._info = None
        if watch is not None:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
        if worker is not None:
            await worker.stop()

    @contextlib.asynccontextmanager
    async def _awake(self) -> AsyncIterator[None]:
        """While a request runs the worker is not idle; then it is, until the next."""
        if self._idle is not None:
            self._idle.cancel()
        try:
            yield
        finally:
            if self.idle_seconds > 0 and not self._closed:
                self._idle = asyncio.get_running_loop().call_later(self.idle_seconds, self._on_idle)

    def _on_idle(self) -> None:
        if not self._turn.locked() and not self._closed:
            self._unloading = asyncio.create_task(self.unload())

    async def _ask(self, frame: Frame) -> Frame:
        """The result frame of a short request."""
        async with self._turn, self._awake():
            for attempt in (1, 2):
                worker = self._worker
                if worker is None or not await self._usable(worker):
                    worker = await self._start()
                answer: Frame = {}
                try:
                    async with aclosing(worker.frames(frame)) as frames:
                        async for answer in frames:
                            self._note(answer)
                    self._on_state("ready")
                    return answer
                except EngineError:
                    self._after_failure(worker)
                    if attempt == 2 or not worker.untouched:
                        raise
        raise EngineError("worker_start_failed", reason="it died twice")

    async def _usable(self, worker: WorkerProcess) -> bool:
        await worker.settle()
        return worker.alive

    async def _start(self) -> WorkerProcess:
        """A fresh worker in place of the dead one."""
        if self._closed:
            raise EngineError("worker_start_failed", reason="the engine is closed")
        old, self._worker, self._info = self._worker, None, None
        if self._watch is not None:
            await self._watch
        if old is not None:
            await old.stop()
        self._on_state("restarted" if self._died else "starting")
        self._worker = worker = await WorkerProcess.start(self._command, self._limits)
        self._watch = asyncio.create_task(self._watch_over(worker))
        return worker

    async def _watch_over(self, worker: WorkerProcess) -> None:
        await worker.dead.wait()
        self._died, self._info = True, None
        self._on_state("dead")

    def _note(self, frame: Frame) -> None:
        if frame["t"] == "loading":
            self._on_state("loading")
        elif frame["t"] == "loaded":
            self._info = ModelInfo(**frame["info"])

    def _after_failure(self, worker: WorkerProcess) -> None:
        if worker.alive:
            self._on_state("ready")


def _event(frame: dict[str, Any]) -> GenerateEvent:
    match frame["t"]:
        case "loading":
            return Loading(frame["fraction"])
        case "prefill":
            return Prefill(frame["done"], frame["total"])
        case "text":
            return Text(frame["text"])
        case "reasoning":
            return Reasoning(frame["text"])
        case "writing":
            return Writing(frame["name"])
        case "call":
            return Call(**frame["call"])
        case "result":
            usage = Usage(**frame.get("usage", _NOTHING))
            return Finished(frame["stop"], usage, frame.get("window", 0), frame.get("notice", ""))
        case other:
            raise EngineError("worker_crashed", model="", how="garbled", detail=f"unknown frame {other!r}")


_NOTHING = {
    "prompt_tokens": 0,
    "cached_tokens": 0,
    "completion_tokens": 0,
    "prefill_ms": 0.0,
    "decode_ms": 0.0,
}
