"""One request on a stream, as either end holds it: bytes both ways under credit, and one result."""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from types import TracebackType
from typing import Any, Protocol, Self

from sandbox.guest.wire import LAST, LONGEST, Kind, WireError, pack

WINDOW = 262_144
"""Bytes that may be under way to an end of a call before it has taken them, unless that end widens it."""

WIDEST = 4_194_304
"""Most that a window can be widened to."""

CREDIT = struct.Struct(">I")


class PeerError(Exception):
    """An expected failure of an operation: `code` is for programs, `text` says more."""

    def __init__(self, code: str, text: str = "") -> None:
        super().__init__(code, text)
        self.code = code
        self.text = text

    def __str__(self) -> str:
        return f"{self.code}: {self.text}" if self.text else self.code


class PeerGone(Exception):
    """The stream ended; `reason` is ended, closed, silent, garbage or version."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Link(Protocol):
    """What a call needs of its peer."""

    async def send(self, *frames: bytes) -> None: ...
    def tell(self, frame: bytes) -> None: ...


class Call:
    """One request at one end; loop's thread only. One task sends and one receives at a time.

    As a context manager it cancels, on leaving, what has not ended.
    """

    def __init__(self, link: Link, number: int, op: str, arguments: dict[str, Any]) -> None:
        self.op = op
        self.arguments = arguments
        self.number = number
        self.cancelled = False
        self._link = link
        self._inbox: deque[bytes] = deque()
        self._taken = 0
        self._allowed = WINDOW
        self._credit = WINDOW
        self._finished = self._their_end = False
        self._result: dict[str, Any] | None = None
        self._fault: PeerError | PeerGone | None = None
        self._stirred = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.drop()

    @property
    def ended(self) -> bool:
        """Whether the result, a failure or the end of the stream has come."""
        return self._result is not None or self._fault is not None

    async def send(self, data: bytes | memoryview) -> None:
        """Bytes to the other end, in order; waits while the other end has WINDOW bytes that it did not take.
        Raises what ended the call, PeerError("ended") where it ended well."""
        view = memoryview(data).cast("B")
        while len(view):
            while not self._credit and not self.ended:
                await self._stir()
            self._check_open()
            size = min(len(view), LONGEST, self._credit)
            self._credit -= size
            await self._link.send(pack(Kind.DATA, self.number, view[:size]))
            view = view[size:]

    async def receive(self) -> bytes:
        """The next bytes; `b""` once the other end finished or gave its result. Raises how the call failed,
        after the bytes that came before."""
        while not self._inbox:
            if self._fault is not None:
                raise self._fault
            if self._their_end or self._result is not None:
                return b""
            await self._stir()
        data = self._inbox.popleft()
        self._taken += len(data)
        if self._taken >= WINDOW // 2 and not self._their_end and not self.ended:
            taken, self._taken = self._taken, 0
            self._allowed += taken
            await self._link.send(pack(Kind.CREDIT, self.number, CREDIT.pack(taken)))
        return data

    async def widen(self, more: int) -> None:
        """Let `more` bytes than WINDOW be under way to here, at most WIDEST in all."""
        self._allowed += more
        await self._link.send(pack(Kind.CREDIT, self.number, CREDIT.pack(more)))

    async def finish(self) -> None:
        """Say that no more bytes come from here."""
        if not self._finished and not self.ended:
            self._finished = True
            await self._link.send(pack(Kind.DATA, self.number, b"", LAST))

    async def result(self) -> dict[str, Any]:
        """The result, for the end that opened; raises PeerError or PeerGone. Bytes that nobody receives hold
        the other end up once WINDOW is full."""
        while not self.ended:
            await self._stir()
        if self._fault is not None:
            raise self._fault
        return self._result or {}

    async def cancel(self) -> None:
        """Have the task at the other end cancelled, and wait until it has ended, however it does."""
        self.drop()
        while not self.ended:
            self._inbox.clear()
            await self._stir()

    def drop(self) -> None:
        """Have the task at the other end cancelled, without waiting."""
        if not self.ended and not self.cancelled:
            self.cancelled = True
            self._link.tell(pack(Kind.CANCEL, self.number))

    async def _stir(self) -> None:
        self._stirred.clear()
        await self._stirred.wait()

    def _check_open(self) -> None:
        if self._fault is not None:
            raise self._fault
        if self._result is not None or self.cancelled or self._finished:
            raise PeerError("ended", "the call takes no more bytes")

    # --- said by the peer's reader --------------------------------------------------------------------

    def on_data(self, data: bytes, last: bool) -> None:
        """Bytes came; WireError where they were not allowed."""
        self._allowed -= len(data)
        if self._allowed < 0 or (self._their_end and data):
            raise WireError("more bytes than allowed")
        if data and not self.cancelled:
            self._inbox.append(data)
        self._their_end = self._their_end or last
        self._stirred.set()

    def on_credit(self, payload: bytes) -> None:
        """The other end took bytes or widened its window; WireError for more than there can be."""
        if len(payload) != CREDIT.size:
            raise WireError("a credit of another size")
        self._credit += CREDIT.unpack(payload)[0]
        if self._credit > WIDEST:
            raise WireError("a window too wide")
        self._stirred.set()

    def on_result(self, result: dict[str, Any]) -> None:
        """The other end is done."""
        self._result = result
        self._stirred.set()

    def on_fault(self, fault: PeerError | PeerGone) -> None:
        """The call failed or its stream ended; only the first is kept."""
        if not self.ended:
            self._fault = fault
        self._stirred.set()
