"""One end of a stream between host and guest: opens calls, serves the other end's, and notices its end."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from sandbox.guest import wire
from sandbox.guest.call import Call, PeerError, PeerGone
from sandbox.guest.wire import LAST, MORE, Kind, Packet, Reader, WireError, Writer

__all__ = ["Call", "Operation", "Peer", "PeerError", "PeerGone"]

Operation = Callable[[Call], Awaitable[dict[str, Any]]]
"""Serves a call in a task of its own and returns the JSON result; PeerError is its expected failure. It is
cancelled when the other end cancels or the stream ends."""

PATIENCE = 10.0
"""Seconds without a frame after which the other end is taken for dead."""

MOST_CALLS = 1024
"""Calls of one end that may be open at once; more wait at the end that opens them."""

ASKING = 4_096
"""Bytes of a call that the end that leads takes: its memory is not for the other end to fill."""

SAID = 2_000
"""Characters that are kept of what the other end says of a failure."""

TURN = 64
"""Frames that are taken before everything else in the loop has its turn."""


class Peer:
    """One end. The one that `leads` says hello first (the host); the other is silent until then.

    `operations` is looked up at each call. `facts` go to the other end with the hello and come out of its
    `ready()`. Everything runs in the loop's thread; whoever made the peer runs `run()` and waits for it.
    """

    def __init__(
        self,
        reader: Reader,
        writer: Writer,
        operations: Mapping[str, Operation],
        *,
        leads: bool = False,
        facts: Mapping[str, Any] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self.reason = ""
        self._reader, self._writer, self._operations = reader, writer, operations
        self._leads, self._facts, self._patience = leads, dict(facts or {}), patience
        self._next = 1 if leads else 2
        self._mine: dict[int, Call] = {}
        self._theirs: dict[int, tuple[Call, asyncio.Task[tuple[Kind, bytes]]]] = {}
        self._partial: dict[int, bytearray] = {}
        self._their_facts: dict[str, Any] | None = None
        self._greeted, self._ended, self._room = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._quiet = 0
        self._saying: set[asyncio.Task[None]] = set()
        self._answering: set[asyncio.Task[None]] = set()

    # --- for its owner --------------------------------------------------------------------------------

    async def run(self) -> None:
        """Serve until the stream ends, is silent for `patience` seconds, breaks the protocol or is closed;
        `reason` then says which. On return every call has failed with PeerGone, and every operation has ended
        that did so within half of `patience`."""
        working = [asyncio.create_task(self._read()), asyncio.create_task(self._watch())]
        if self._leads:
            self._greet()
        try:
            await self._ended.wait()
        finally:
            self._end("closed")
            operations = [work for _, work in self._theirs.values()]
            running = [*working, *operations, *self._answering, *self._saying]
            for task in running:
                task.cancel()
            self._writer.abort()
            await asyncio.wait(running, timeout=self._patience / 2)

    async def ready(self) -> dict[str, Any]:
        """Wait for the other end's hello and return its facts; PeerGone where it does not come."""
        await self._greeted.wait()
        if self._their_facts is None or self.reason:
            raise PeerGone(self.reason)
        return self._their_facts

    async def open(self, op: str, **arguments: Any) -> Call:
        """Begin a call; leaving `async with` of it cancels it. Waits while MOST_CALLS are open."""
        return await self._open(op, arguments, 0)

    async def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Open a call that takes no bytes, drop those that come back, and return the result; when cancelled
        it cancels the task at the other end."""
        async with await self._open(op, arguments, LAST) as call:
            while await call.receive():
                pass
            return await call.result()

    async def wait_ended(self) -> str:
        """Wait until the stream ends; the reason."""
        await self._ended.wait()
        return self.reason

    def close(self) -> None:
        """End the stream; `run()` returns soon after."""
        self._end("closed")

    # --- for its calls --------------------------------------------------------------------------------

    async def send(self, *frames: bytes) -> None:
        """Write frames and wait while much is unsent; PeerGone once the stream has ended."""
        if self.reason:
            raise PeerGone(self.reason)
        for frame in frames:
            self._writer.write(frame)
        try:
            await self._writer.drain()
        except OSError as error:
            self._end("ended")
            raise PeerGone(self.reason) from error

    def tell(self, frame: bytes) -> None:
        """Write a small frame without waiting; nothing happens once the stream has ended."""
        if not self.reason:
            self._writer.write(frame)

    # --- inside ---------------------------------------------------------------------------------------

    async def _open(self, op: str, arguments: dict[str, Any], flags: int) -> Call:
        await self.ready()
        while len(self._mine) >= MOST_CALLS and not self.reason:
            self._room.clear()
            await self._room.wait()
        if self.reason:
            raise PeerGone(self.reason)
        message = wire.encode({"op": op, "arguments": arguments})
        call = Call(self, self._next, op, arguments)
        self._next += 2
        self._mine[call.number] = call
        try:
            await self.send(*wire.pieces(Kind.OPEN, call.number, message, flags))
        except asyncio.CancelledError:
            call.drop()
            raise
        return call

    def _greet(self) -> None:
        self.tell(wire.pack(Kind.HELLO, 0, wire.encode({"protocol": wire.PROTOCOL, "facts": self._facts})))

    def _end(self, reason: str) -> None:
        if self.reason:
            return
        self.reason = reason
        for call in [*self._mine.values(), *(call for call, _ in self._theirs.values())]:
            call.on_fault(PeerGone(reason))
        for event in (self._greeted, self._ended, self._room):
            event.set()

    async def _read(self) -> None:
        taken = 0
        try:
            while (packet := await wire.read(self._reader)) is not None:
                self._quiet = 0
                self._take(packet)
                taken += 1
                if taken % TURN == 0:
                    await asyncio.sleep(0)
            self._end("ended")
        except (WireError, RecursionError):
            self._end("garbage")
        except OSError:
            self._end("ended")

    async def _watch(self) -> None:
        """Count rounds without a frame, not seconds: a loop that was held up has read before it counts."""
        while not self.reason:
            await asyncio.sleep(self._patience / 4)
            self._quiet += 1
            if self._quiet > 4:
                self._end("silent")
            elif self._greeted.is_set():
                self._say(Kind.PING)

    def _say(self, kind: Kind) -> None:
        """Write in a task of its own, since the reader must never wait for the writer; where one still waits
        the other end does not read, and gets nothing more to read."""
        if len(self._saying) < 2:
            task = asyncio.create_task(self._said(wire.pack(kind)))
            self._saying.add(task)
            task.add_done_callback(self._saying.discard)

    async def _said(self, frame: bytes) -> None:
        try:
            await self.send(frame)
        except PeerGone:
            return

    def _take(self, packet: Packet) -> None:
        if packet.kind is Kind.HELLO:
            self._on_hello(packet)
        elif packet.kind is Kind.FAIL and packet.call == 0:
            self._end(str(wire.decode(packet.payload).get("code", "garbage")))
        elif self._their_facts is None:
            raise WireError("something was said before the hello")
        elif packet.kind is Kind.PING:
            self._say(Kind.PONG)
        elif packet.kind is Kind.OPEN:
            self._on_open(packet)
        elif packet.kind is not Kind.PONG:
            self._on_call(packet)

    def _on_hello(self, packet: Packet) -> None:
        message = wire.decode(packet.payload)
        facts = message.get("facts")
        if self._their_facts is not None or not isinstance(facts, dict):
            raise WireError("a second hello, or one without facts")
        if message.get("protocol") != wire.PROTOCOL:
            self.tell(wire.pack(Kind.FAIL, 0, wire.encode({"code": "version"})))
            self._end("version")
            return
        if not self._leads:
            self._greet()
        self._their_facts = facts
        self._greeted.set()

    def _on_open(self, packet: Packet) -> None:
        number = packet.call
        if number % 2 == self._next % 2 or number == 0 or number in self._theirs:
            raise WireError("a call with a number that is not free")
        message = self._message(packet)
        if message is None:
            return
        op, arguments = message.get("op"), message.get("arguments")
        if not isinstance(op, str) or not isinstance(arguments, dict) or len(self._answering) >= MOST_CALLS:
            raise WireError("a call without name or arguments, or one too many")
        call = Call(self, number, op, arguments)
        if packet.flags & LAST:
            call.on_data(b"", True)
        work = asyncio.create_task(self._outcome(call))
        self._theirs[number] = call, work
        answer = asyncio.create_task(self._answer(call, work))
        self._answering.add(answer)
        answer.add_done_callback(self._answering.discard)

    def _on_call(self, packet: Packet) -> None:
        theirs = self._theirs.get(packet.call)
        call = self._mine.get(packet.call) or (theirs[0] if theirs else None)
        if call is None:
            return  # said before its end heard that the call is over
        match packet.kind:
            case Kind.DATA:
                call.on_data(packet.payload, bool(packet.flags & LAST))
            case Kind.CREDIT:
                call.on_credit(packet.payload)
            case Kind.CANCEL if theirs:
                call.cancelled = True
                theirs[1].cancel()
            case Kind.END | Kind.FAIL if not theirs:
                self._on_end(call, packet)
            case _:
                raise WireError("said by the wrong end of a call")

    def _on_end(self, call: Call, packet: Packet) -> None:
        message = self._message(packet)
        if message is None:
            return
        del self._mine[call.number]
        self._room.set()
        if packet.kind is Kind.END:
            call.on_result(message)
        else:
            code, text = (str(message.get(name, ""))[:SAID] for name in ("code", "text"))
            call.on_fault(PeerError(code, text))

    def _message(self, packet: Packet) -> dict[str, Any] | None:
        """The JSON message that this frame completes, or None where more of it follows."""
        largest = ASKING if self._leads and packet.kind is Kind.OPEN else wire.LARGEST
        if len(packet.payload) > largest:
            raise WireError("a message too large")
        if not packet.flags & MORE and packet.call not in self._partial:
            return wire.decode(packet.payload)
        gathered = self._partial.setdefault(packet.call, bytearray())
        gathered += packet.payload
        if len(gathered) > largest or len(self._partial) > MOST_CALLS:
            raise WireError("a message too large, or too many that are not whole")
        if sum(map(len, self._partial.values())) > 4 * wire.LARGEST:
            raise WireError("messages too large together")
        return None if packet.flags & MORE else wire.decode(bytes(self._partial.pop(packet.call)))

    async def _answer(self, call: Call, work: asyncio.Task[tuple[Kind, bytes]]) -> None:
        """Send what the operation came to; not cancelled together with it, so every call gets an answer."""
        await asyncio.wait({work})
        cancelled = wire.encode({"code": "cancelled", "text": ""})
        kind, message = (Kind.FAIL, cancelled) if work.cancelled() else work.result()
        del self._theirs[call.number]
        try:
            await self.send(*wire.pieces(kind, call.number, message))
        except PeerGone:
            return

    async def _outcome(self, call: Call) -> tuple[Kind, bytes]:
        """Run the operation; the kind of the answer and its JSON."""
        try:
            operation = self._operations.get(call.op)
            if operation is None:
                raise PeerError("unknown_operation", call.op)
            message = wire.encode(await operation(call))
            if len(message) > wire.LARGEST:
                raise PeerError("result_too_large", f"{len(message)} bytes")
            return Kind.END, message
        except PeerError as failure:
            error = failure
        except PeerGone as gone:
            error = PeerError("gone", gone.reason)
        except Exception as fault:  # noqa: BLE001 (the operation's edge: a bug in it ends one call, not the stream)
            traceback.print_exc(file=sys.stderr)
            error = PeerError("fault", f"{type(fault).__name__}: {fault}")
        return Kind.FAIL, wire.encode({"code": error.code, "text": error.text})
