"""The child process that runs an engine: requests come in as frames, answers go out as frames, in order."""

from __future__ import annotations

import base64
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from models.engine import Aborted, Engine, Prefilled
from models.errors import EngineError
from models.frames import Frame, encode, read_blocking
from models.generation import LoadOptions, ModelInfo, Sampling
from models.reply import PACE, Reply
from models.speech import WORDS, Prompt, Speech

HEARTBEAT = 0.5
"""Seconds between two signs of life while a request is being worked on."""

OBEY, PARK = 1.0, 10.0
"""Seconds that the end of stdin leaves a running request to break off, and the engine to store its memory."""


def main(arguments: list[str] | None = None) -> int:
    """Run the llama.cpp engine until stdin ends. Called by the entry point for `--worker llama`; there are
    no `arguments`."""
    del arguments
    from models.llama_engine import LlamaEngine

    return run(LlamaEngine)


def run(engine: Callable[[], Engine]) -> int:
    """Serve requests with the engine that `engine()` makes; returns never in practice: the end of stdin ends
    the process, whatever it is doing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wire = Wire()
    try:
        made = engine()
    except EngineError as error:
        wire.send({"t": "error", "id": 0, "code": error.code, "fields": error.fields})
        wire.wait_for_end()
        return 1
    worker = Worker(made, wire)
    wire.listen(worker.accept, worker.end)
    wire.send({"t": "hello", "pid": os.getpid()})
    worker.serve()
    return 0


class Wire:
    """The two descriptors of the protocol. Native libraries write to 1 and 2: both end in stderr."""

    def __init__(self) -> None:
        self._input = os.dup(0)
        self._output = os.dup(1)
        os.dup2(2, 1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        self._lock = threading.Lock()
        self._ended = False

    def send(self, frame: Frame) -> None:
        """Write a frame; callable from any thread. The end of the reader ends the process, unless the end of
        stdin is ending it already."""
        data = memoryview(encode(frame))
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._output, data) :]
            except OSError:
                if not self._ended:
                    os._exit(0)

    def listen(self, accept: Callable[[Frame], None], end: Callable[[], None]) -> None:
        """Hand every incoming frame to `accept` in a thread; the end of the stream ends the process when
        `end` returns."""
        threading.Thread(target=self._read, args=(accept, end), name="wire", daemon=True).start()

    def wait_for_end(self) -> None:
        """Return when the other side closes its end."""
        while os.read(self._input, 65536):
            pass

    def _read(self, accept: Callable[[Frame], None], end: Callable[[], None]) -> None:
        while (frame := read_blocking(self._take)) is not None:
            accept(frame)
        self._ended = True
        end()
        os._exit(0)

    def _take(self, count: int) -> bytes:
        pieces: list[bytes] = []
        while count > 0:
            piece = os.read(self._input, min(count, 1 << 20))
            if not piece:
                break
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)


class Worker:
    """Works on one request at a time, in order; cancel frames overtake."""

    def __init__(self, engine: Engine, wire: Wire) -> None:
        self._engine = engine
        self._wire = wire
        self._queue: queue.SimpleQueue[Frame] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._current = 0
        self._finished = 0
        self._cancelled: set[int] = set()
        self._busy = threading.Event()
        self._ending = False
        self._free = threading.Event()
        self._parked = threading.Event()
        self._options: LoadOptions | None = None
        self._info: ModelInfo | None = None
        self._speech: Speech | None = None
        threading.Thread(target=self._beat, name="heartbeat", daemon=True).start()

    def accept(self, frame: Frame) -> None:
        """Called by the wire's thread: acknowledge and queue, or cancel at once."""
        if frame["t"] == "cancel":
            with self._lock:
                if frame["id"] > self._finished:
                    self._cancelled.add(frame["id"])
                if self._current == frame["id"]:
                    self._engine.abort()
            return
        self._wire.send({"t": "ack", "id": frame["id"]})
        self._queue.put(frame)

    def end(self) -> None:
        """Called by the wire's thread: break off what runs and store what is warm, within OBEY and PARK."""
        with self._lock:
            self._ending = True
            self._engine.abort()
        self._queue.put({"t": "end", "id": 0})
        if self._free.wait(OBEY):
            self._parked.wait(PARK)

    def serve(self) -> None:
        """Answer requests until the end of the wire."""
        while (frame := self._queue.get())["t"] != "end":
            with self._lock:
                self._current = frame["id"]
                self._engine.resume()
                if self._ending or frame["id"] in self._cancelled:
                    self._engine.abort()
            self._busy.set()
            answer = self._answer(frame)
            self._busy.clear()
            with self._lock:
                self._current, self._finished = 0, frame["id"]
                self._cancelled.discard(frame["id"])
            self._wire.send(answer | {"id": frame["id"]})
        self._free.set()
        self._wire.send({"t": "ending"})
        self._engine.resume()
        self._engine.park()
        self._parked.set()

    def _answer(self, frame: Frame) -> Frame:
        try:
            match frame["t"]:
                case "load":
                    return {"t": "result", "info": asdict(self._load(frame))}
                case "generate":
                    return self._generate(frame)
                case "count":
                    return self._count(frame)
                case "embed":
                    return self._embed(frame)
                case "evict":
                    self._engine.evict(frame["session"])
                    return {"t": "result"}
                case other:
                    return _error("worker_start_failed", reason=f"unknown request {other!r}")
        except EngineError as error:
            return {"t": "error", "code": error.code, "fields": error.fields}
        except Aborted:
            return {"t": "result", "stop": "cancelled"}
        except MemoryError:
            return _error("worker_out_of_memory", model=self._info.name if self._info else "", reason="")

    def _load(self, frame: Frame) -> ModelInfo:
        options = LoadOptions(**frame["model"])
        if options == self._options and self._info is not None:
            return self._info
        self._options = self._info = None
        last = 0.0

        def progress(fraction: float) -> bool:
            nonlocal last
            now = time.monotonic()
            if now - last >= PACE:
                last = now
                self._wire.send({"t": "loading", "id": frame["id"], "fraction": round(fraction, 3)})
            return frame["id"] not in self._cancelled

        info = self._engine.load(options, progress)
        self._speech = speech = Speech(self._engine.template(), info.name, info.size)
        tools = speech.tools_in_template
        self._info = replace(info, notice=speech.notice, tools_in_template=tools, acting=speech.acting)
        self._options = options
        self._wire.send({"t": "loaded", "id": frame["id"], "info": asdict(self._info)})
        return self._info

    def _prompt(self, frame: Frame) -> Prompt:
        if self._speech is None:
            raise EngineError("model_load_failed", path="", reason="no model is loaded")
        return self._speech.prompt(
            frame["messages"], frame["tools"], frame["template"], answer=frame.get("answer", False)
        )

    def _count(self, frame: Frame) -> Frame:
        self._load(frame)
        return {"t": "result", "tokens": self._engine.count(self._prompt(frame).text)}

    def _embed(self, frame: Frame) -> Frame:
        def tick(done: int, total: int) -> None:
            self._wire.send({"t": "prefill", "done": done, "total": total, "id": frame["id"]})

        vectors = self._engine.embed(LoadOptions(**frame["model"]), frame["texts"], tick)
        return {"t": "result", "vectors": vectors}

    def _generate(self, frame: Frame) -> Frame:
        info = self._load(frame)
        begin = time.monotonic()
        prompt, prefilled, reply = self._begin(frame)
        middle = time.monotonic()
        limit = min(frame["max_tokens"], info.window - prefilled.tokens)
        stop, tokens = self._decode(frame, reply, limit), reply.tokens
        if stop == "stop" and reply.unfounded and not reply.calls:
            frame = frame | {"answer": True}
            _, _, reply = self._begin(frame)
            stop = self._decode(frame, reply, limit)
            tokens += reply.tokens
        if stop == "stop" and reply.calls:
            stop = "tool_calls"
        end = time.monotonic()
        usage = {
            "prompt_tokens": prefilled.tokens,
            "cached_tokens": prefilled.cached,
            "completion_tokens": tokens,
            "prefill_ms": round(1000 * (middle - begin), 3),
            "decode_ms": round(1000 * (end - middle), 3),
        }
        return {"t": "result", "stop": stop, "usage": usage, "window": info.window, "notice": prompt.notice}

    def _begin(self, frame: Frame) -> tuple[Prompt, Prefilled, Reply]:
        """Bring the prompt into the memory of the session, and make ready for its reply."""
        prompt, ident = self._prompt(frame), {"id": frame["id"]}

        def evaluated(done: int, total: int) -> None:
            self._wire.send({"t": "prefill", "done": done, "total": total} | ident)

        session, private = frame["session"], frame["private"]
        pictures = [base64.b64decode(picture) for picture in frame["pictures"]]
        prefilled = self._engine.prefill(session, prompt.text, evaluated, private=private, pictures=pictures)
        if frame["answer"] and not prompt.opening:
            frame["sampling"]["grammar"] = WORDS
        hold = self._engine.constrain if frame["constrained"] else None
        return prompt, prefilled, Reply(lambda said: self._wire.send(said | ident), prompt, hold)

    def _decode(self, frame: Frame, reply: Reply, limit: int) -> str:
        """Stream tokens; a cancel keeps what was written so far."""
        stop = "stop"
        pieces = self._engine.decode(Sampling(**frame["sampling"]))
        cancelled, ident = self._cancelled, frame["id"]
        try:
            for piece in pieces:
                reply.add(piece)
                if ident in cancelled:
                    stop = "cancelled"
                    break
                if reply.over:
                    break
                if reply.tokens >= limit:
                    stop = "length"
                    break
        except Aborted:
            stop = "cancelled"
        finally:
            pieces.close()  # type: ignore[attr-defined]  # frees the sampler now, not at collection
        reply.finish()
        return stop

    def _beat(self) -> None:
        while True:
            self._busy.wait()
            self._wire.send({"t": "beat"})
            time.sleep(HEARTBEAT)


def _error(code: str, **fields: Any) -> Frame:
    return {"t": "error", "code": code, "fields": fields}
