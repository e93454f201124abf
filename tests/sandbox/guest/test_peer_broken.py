"""A peer whose stream breaks, lies or falls silent: it ends, and nobody waits on it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.guest import wire
from sandbox.guest.call import WINDOW
from sandbox.guest.peer import MOST_CALLS, Call, Peer, PeerGone
from sandbox.guest.wire import Kind, pack
from tests.sandbox.guest.pairs import Kept


async def _echo(call: Call) -> dict[str, Any]:
    while data := await call.receive():
        await call.send(data)
    return call.arguments


def test_another_version_parts_at_once() -> None:
    async def check() -> None:
        hello = pack(Kind.HELLO, 0, wire.encode({"protocol": wire.PROTOCOL + 1, "facts": {}}))
        assert await _told(hello) == "version"
        refusal = pack(Kind.FAIL, 0, wire.encode({"code": "version"}))
        assert await _told(refusal, leads=True) == "version"

    asyncio.run(check())


def test_a_silent_end_is_given_up_even_while_sending_waits() -> None:
    async def check() -> None:
        reader, kept = asyncio.StreamReader(), Kept(stuck=True)
        peer = Peer(reader, kept, {}, leads=True, patience=0.04)
        running = asyncio.create_task(peer.run())
        reader.feed_data(pack(Kind.HELLO, 0, wire.encode({"protocol": wire.PROTOCOL, "facts": {}})))
        await peer.ready()
        with pytest.raises(PeerGone, match="silent"):
            await peer.call("anything")
        await asyncio.wait_for(running, 5)

    asyncio.run(check())


def test_nothing_is_said_before_the_hello() -> None:
    async def check() -> None:
        reader, kept = asyncio.StreamReader(), Kept()
        peer = Peer(reader, kept, {}, patience=0.04)
        await peer.run()
        assert (peer.reason, bytes(kept.written)) == ("silent", b"")

    asyncio.run(check())


_HELLO = pack(Kind.HELLO, 0, wire.encode({"protocol": wire.PROTOCOL, "facts": {}}))
_OPEN = pack(Kind.OPEN, 1, wire.encode({"op": "echo", "arguments": {}}))
_TALK = _HELLO + _OPEN + pack(Kind.DATA, 1, b"abc") + pack(Kind.PING) + pack(Kind.DATA, 1, b"", 2)


@pytest.mark.parametrize(
    "frames",
    [
        b"Welcome to Debian\r\n",
        _OPEN,
        _HELLO + _HELLO,
        _HELLO + _OPEN + _OPEN,
        _HELLO + wire.HEADER.pack(Kind.DATA, 0, 0, 1, wire.LONGEST + 1),
        _HELLO + wire.HEADER.pack(77, 0, 0, 1, 0),
        _HELLO + pack(Kind.OPEN, 2, wire.encode({"op": "echo", "arguments": {}})),
        _HELLO + pack(Kind.OPEN, 1, b"[]"),
        _HELLO + pack(Kind.OPEN, 1, b"{"),
        _HELLO + pack(Kind.OPEN, 1, b'{"op": 1, "arguments": {}}'),
        _HELLO + _OPEN + pack(Kind.END, 1, b"{}"),
        _HELLO + _OPEN + pack(Kind.CREDIT, 1, b"\0\x40\0\0"),
        _HELLO + _OPEN + pack(Kind.CREDIT, 1, b"\1"),
        _HELLO + _OPEN + pack(Kind.DATA, 1, b"", 2) + pack(Kind.DATA, 1, b"x"),
        _HELLO + pack(Kind.OPEN, 1, b"x" * wire.LONGEST, 1) * 129,
        _HELLO + b"".join(pack(Kind.OPEN, 2 * at + 1, b"", 1) for at in range(MOST_CALLS + 1)),
    ],
)
def test_what_is_no_protocol_ends_the_stream(frames: bytes) -> None:
    assert asyncio.run(_told(frames)) == "garbage"


def test_more_bytes_than_allowed_end_the_stream() -> None:
    async def hoard(call: Call) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    flood = pack(Kind.DATA, 1, b"x" * wire.LONGEST) * (WINDOW // wire.LONGEST + 1)
    assert asyncio.run(_told(_HELLO + _OPEN + flood, {"echo": hoard})) == "garbage"


@given(cut=st.integers(0, len(_TALK)))
def test_any_cut_ends_the_stream_and_leaves_nobody_waiting(cut: int) -> None:
    assert asyncio.run(_told(_TALK[:cut])) in ("ended", "garbage")


@given(noise=st.binary(max_size=200), place=st.integers(0, len(_TALK)))
def test_any_garbage_ends_the_stream_and_leaves_nobody_waiting(noise: bytes, place: int) -> None:
    assert asyncio.run(_told(_TALK[:place] + noise + _TALK[place:])) in ("ended", "garbage", "version")


@given(sizes=st.lists(st.integers(1, 40), max_size=30))
def test_frames_split_anywhere_are_put_together(sizes: list[int]) -> None:
    async def check() -> bytes:
        reader, kept = asyncio.StreamReader(), Kept()
        running = asyncio.create_task(Peer(reader, kept, {"echo": _echo}).run())
        rest = _TALK
        for size in sizes:
            reader.feed_data(rest[:size])
            rest = rest[size:]
            await asyncio.sleep(0)
        reader.feed_data(rest)
        await kept.has(pack(Kind.END, 1, b"{}"))
        await kept.has(pack(Kind.PONG))
        reader.feed_eof()
        await running
        return bytes(kept.written)

    assert pack(Kind.DATA, 1, b"abc") in asyncio.run(check())


async def _told(frames: bytes, operations: Any = None, *, leads: bool = False) -> str:
    """Why a peer ends that reads `frames` and then the end of the stream, with a call of its own waiting."""
    reader, kept = asyncio.StreamReader(limit=2**24), Kept()
    peer = Peer(reader, kept, {"echo": _echo} if operations is None else operations, leads=leads)
    asked = asyncio.create_task(peer.call("anything"))
    reader.feed_data(frames)
    reader.feed_eof()
    await asyncio.wait_for(peer.run(), 10)
    with pytest.raises(PeerGone):
        await asyncio.wait_for(asked, 10)
    assert kept.aborted.is_set()
    return peer.reason


def test_a_flood_of_pings_without_reading_is_not_answered_without_end() -> None:
    async def check() -> None:
        reader, kept = asyncio.StreamReader(limit=2**24), Kept(stuck=True)
        peer = Peer(reader, kept, {})
        running = asyncio.create_task(peer.run())
        reader.feed_data(_HELLO + pack(Kind.PING) * 50_000)
        reader.feed_eof()
        await running
        assert kept.written.count(pack(Kind.PONG)) <= 2

    asyncio.run(check())


def test_a_flood_of_frames_leaves_the_loop_to_others() -> None:
    async def check() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(_HELLO + pack(Kind.PONG) * 2_000)
        reader.feed_eof()
        peer = Peer(reader, Kept(), {}, leads=True)
        running, turns = asyncio.create_task(peer.run()), 0
        while not running.done():
            turns += 1
            await asyncio.sleep(0)
        assert turns > 20

    asyncio.run(check())
