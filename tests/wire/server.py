"""An HTTP server on loopback that plays a service's answers event by event, and misbehaves on demand."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Protocol, Self

from runtime.messages import JsonObject

Misdeed = Literal["none", "ping", "split", "drip", "truncate", "malformed", "cut", "silent", "mute", "hangup"]
"""ping: a sign of life before every event; split: frames that end anywhere, inside of characters too;
drip: one event at a time with a pause; truncate: a clean end in the middle; malformed: an event in the middle
that is no JSON; cut: the connection ends inside an event in the middle; silent: nothing more after the
middle; mute: no answer at all; hangup: the connection ends before the answer begins."""

SPLIT = 7
PAUSE = 0.03


@dataclass(frozen=True, slots=True)
class Say:
    """Part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """Part of the reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call."""

    id: str
    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Play:
    """One answer of the service. `stop` empty means what follows from the items; with a `status` of 400 or
    more the answer is a refusal with `problem` and `kind` in the service's own form."""

    items: tuple[Say | Think | Call, ...] = ()
    prompt: int = 11
    completion: int = 5
    cached: int = 0
    stop: str = ""
    misdeed: Misdeed = "none"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came; names of headers in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: JsonObject


class WireFormat(Protocol):
    """How one service speaks."""

    content_type: str

    def events(self, play: Play, request: JsonObject) -> list[bytes]:
        """The whole answer, each event framed as the service frames it, text in several deltas."""
        ...

    def ping(self) -> bytes:
        """A sign of life between events; empty where the service has none."""
        ...

    def refusal(self, status: int, problem: str, kind: str) -> bytes:
        """The body of an error."""
        ...

    def other(self, method: str, path: str, body: JsonObject) -> tuple[int, JsonObject] | None:
        """The answer of an endpoint that does not chat; None for the one that does."""
        ...


class WireServer:
    """Serves `wire` at `url` while entered. Each chat request plays the next of `plays`."""

    def __init__(self, wire: WireFormat) -> None:
        self._wire = wire
        self._plays: list[Play] = []
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self.requests: list[Received] = []
        self.asked = asyncio.Event()
        self.closed_early = asyncio.Event()
        self.url = ""

    def plays(self, *plays: Play) -> None:
        """Answer the coming chat requests with these, in order."""
        self._plays += plays

    @property
    def left_over(self) -> int:
        """How many answers nobody asked for."""
        return len(self._plays)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Close the door and break every connection, as a network that goes away does; idempotent."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        for task in list(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (received := await _read(reader)) is not None:
                self.requests.append(received)
                self.asked.set()
                if not await self._answer(received, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.closed_early.set()
        except asyncio.CancelledError:
            writer.transport.abort()
            raise
        finally:
            writer.close()

    async def _answer(
        self, received: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Whether the connection can be used again."""
        plain = self._wire.other(received.method, received.path, received.body)
        if plain is not None:
            await _send_whole(writer, plain[0], {}, json.dumps(plain[1]).encode())
            return True
        play = self._plays.pop(0) if self._plays else Play(status=500, problem="the test has no play left")
        if play.misdeed == "hangup":
            return False
        if play.misdeed == "mute":
            await self._until_gone(reader)
            return False
        if play.status >= 400:
            body = self._wire.refusal(play.status, play.problem, play.kind)
            await _send_whole(writer, play.status, play.headers, body)
            return True
        return await self._stream(play, received, reader, writer)

    async def _stream(
        self, play: Play, received: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        lines = ["HTTP/1.1 200 OK", f"Content-Type: {self._wire.content_type}", "Transfer-Encoding: chunked"]
        lines += ["Connection: close"]
        lines += [f"{name}: {value}" for name, value in play.headers.items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        gone = asyncio.ensure_future(self._until_gone(reader))
        try:
            for piece in _pieces(self._wire, play, received.body):
                if gone.done():
                    return False
                writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                await writer.drain()
                await asyncio.wait([gone], timeout=PAUSE if play.misdeed == "drip" else 0)
            if play.misdeed == "silent":
                await gone
            if play.misdeed in ("cut", "silent"):
                return False
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        finally:
            gone.cancel()
        return False

    async def _until_gone(self, reader: asyncio.StreamReader) -> None:
        """Wait until the client hangs up."""
        with suppress(ConnectionError):
            while await reader.read(1024):
                pass
        self.closed_early.set()


def _pieces(wire: WireFormat, play: Play, request: JsonObject) -> list[bytes]:
    """What goes over the wire, chunk by chunk."""
    events = wire.events(play, request)
    middle = max(1, len(events) // 2)
    match play.misdeed:
        case "ping":
            return [piece for event in events for piece in (wire.ping(), event) if piece]
        case "split":
            whole = b"".join(events)
            return [whole[start : start + SPLIT] for start in range(0, len(whole), SPLIT)]
        case "truncate" | "silent":
            return events[:middle]
        case "cut":
            broken = events[middle] if middle < len(events) else b"data: {"
            return [*events[:middle], broken[: len(broken) // 2]]
        case "malformed":
            text = events[middle].rstrip(b"\n")
            return [*events[:middle], text[:-3] + events[middle][len(text) :], *events[middle + 1 :]]
    return events


async def _read(reader: asyncio.StreamReader) -> Received | None:
    """The next request of a connection; None when the client has hung up."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.rstrip().split("\r\n")
    method, path, _version = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _colon, value in (line.partition(":") for line in lines)}
    text = await _body(reader, headers)
    return Received(method, path, headers, json.loads(text) if text else {})


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        parts: list[bytes] = []
        while size := int((await reader.readline()).strip() or b"0", 16):
            parts.append(await reader.readexactly(size))
            await reader.readline()
        await reader.readline()
        return b"".join(parts)
    return await reader.readexactly(int(headers.get("content-length", "0")))


async def _send_whole(
    writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes
) -> None:
    lines = [f"HTTP/1.1 {status} Status", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
    await writer.drain()
