"""Calls between two peers: results, bytes under credit, cancellation, and every way a stream can break."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from sandbox.guest import wire
from sandbox.guest.call import WINDOW
from sandbox.guest.peer import MOST_CALLS, Call, Peer, PeerError, PeerGone
from tests.sandbox.guest.pairs import pair


async def _echo(call: Call) -> dict[str, Any]:
    while data := await call.receive():
        await call.send(data)
    return call.arguments


async def _refuse(call: Call) -> dict[str, Any]:
    raise PeerError("refused", f"not {call.arguments['what']}")


async def _bug(call: Call) -> dict[str, Any]:
    raise KeyError(call.op)


def test_both_ends_serve_and_greet() -> None:
    async def check() -> None:
        async with pair({"echo": _echo}, {"echo": _echo}) as (host, guest):
            assert await host.ready() == {"end": "guest"}
            assert await guest.ready() == {"end": "host"}
            assert await host.call("echo", a=1, b="ü\ud800") == {"a": 1, "b": "ü\ud800"}
            assert await guest.call("echo", c=[None]) == {"c": [None]}

    asyncio.run(check())


@pytest.mark.parametrize(
    ("op", "code", "text"),
    [
        ("refuse", "refused", "not me"),
        ("bug", "fault", "KeyError: 'bug'"),
        ("none", "unknown_operation", "none"),
    ],
)
def test_a_failure_names_itself_and_ends_one_call(
    op: str, code: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def check() -> None:
        async with pair(guest={"refuse": _refuse, "bug": _bug, "echo": _echo}) as (host, _):
            with pytest.raises(PeerError) as failure:
                await host.call(op, what="me")
            assert (failure.value.code, failure.value.text) == (code, text)
            assert await host.call("echo") == {}

    asyncio.run(check())
    assert ("Traceback" in capsys.readouterr().err) == (op == "bug")


def test_a_thousand_calls_at_once_and_more_than_may_be_open() -> None:
    async def check() -> None:
        async with pair(guest={"echo": _echo}) as (host, _):
            results = await asyncio.gather(*(host.call("echo", n=n) for n in range(MOST_CALLS + 500)))
            assert [result["n"] for result in results] == list(range(MOST_CALLS + 500))

    asyncio.run(check())


def test_bytes_come_back_whole_in_order_and_interleaved() -> None:
    async def one(host: Peer, seed: int) -> None:
        data = bytes([seed]) * (WINDOW * 3 + seed)
        async with await host.open("echo") as call:
            sending = asyncio.create_task(_feed(call, data))
            back = bytearray()
            while piece := await call.receive():
                back += piece
            await sending
            assert bytes(back) == data
            assert await call.result() == {}

    async def check() -> None:
        async with pair(guest={"echo": _echo}) as (host, _):
            await asyncio.gather(*(one(host, seed) for seed in range(12)))

    asyncio.run(check())


async def _feed(call: Call, data: bytes) -> None:
    await call.send(data)
    await call.finish()


def test_nobody_sends_more_than_the_window_before_it_is_taken() -> None:
    sent: list[int] = []
    full = asyncio.Event()

    async def pour(call: Call) -> dict[str, Any]:
        while True:
            sent.append(1)
            if len(sent) * 1024 > WINDOW:
                full.set()
            await call.send(b"x" * 1024)

    async def check() -> None:
        async with pair(guest={"pour": pour, "echo": _echo}) as (host, _), await host.open("pour") as call:
            await full.wait()
            for _ in range(50):
                await host.call("echo")
            assert len(sent) == WINDOW // 1024 + 1
            for _ in range(WINDOW // 1024):
                await call.receive()
            await call.receive()
            assert len(sent) > WINDOW // 1024 + 1

    asyncio.run(check())


def test_a_window_that_is_widened_takes_more_at_once() -> None:
    sent: list[int] = []

    async def pour(call: Call) -> dict[str, Any]:
        for size in (WINDOW, WINDOW):
            await call.send(b"x" * size)
            sent.append(size)
        return {}

    async def check() -> None:
        async with pair(guest={"pour": pour}) as (host, _), await host.open("pour") as call:
            await call.widen(WINDOW)
            assert await call.result() == {}
            assert sent == [WINDOW, WINDOW]

    asyncio.run(check())


def test_a_result_of_megabytes_arrives_and_a_larger_one_is_refused() -> None:
    async def long(call: Call) -> dict[str, Any]:
        return {"text": "x" * call.arguments["size"]}

    async def check() -> None:
        async with pair(guest={"long": long}) as (host, _):
            assert len((await host.call("long", size=3_000_000))["text"]) == 3_000_000
            with pytest.raises(PeerError, match="result_too_large"):
                await host.call("long", size=wire.LARGEST)

    asyncio.run(check())


def test_cancelling_cancels_the_task_at_the_other_end() -> None:
    seen: list[str] = []
    begun = asyncio.Event()

    async def wait(call: Call) -> dict[str, Any]:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return {}

    async def check() -> None:
        async with pair(guest={"wait": wait, "echo": _echo}) as (host, _):
            one = await host.open("wait")
            await begun.wait()
            await one.cancel()
            with pytest.raises(PeerError, match="cancelled"):
                await one.result()
            begun.clear()
            task = asyncio.create_task(host.call("wait"))
            await begun.wait()
            task.cancel()
            await asyncio.wait({task})
            await host.call("echo")
            assert seen == ["cancelled", "cancelled"]

    asyncio.run(check())


def test_a_call_cancelled_before_it_began_is_answered() -> None:
    async def check() -> None:
        async with pair(guest={"echo": _echo}) as (host, _):
            calls = [await host.open("echo")]
            for _ in range(MOST_CALLS + 10):
                calls[-1].drop()
                calls.append(await host.open("echo"))
            await asyncio.wait_for(calls[-1].cancel(), 5)
            assert await host.call("echo", a=1) == {"a": 1}

    asyncio.run(check())


def test_bytes_after_the_end_are_dropped_and_sending_then_says_so() -> None:
    async def done(call: Call) -> dict[str, Any]:
        await call.send(b"last words")
        return {"done": True}

    async def check() -> None:
        async with pair(guest={"done": done, "refuse": _refuse}) as (host, _):
            call = await host.open("done")
            assert await call.result() == {"done": True}
            with pytest.raises(PeerError, match="ended"):
                await call.send(b"too late")
            assert [await call.receive(), await call.receive()] == [b"last words", b""]
            late = await host.open("refuse", what="x")
            with pytest.raises(PeerError, match="refused"):
                await late.receive()

    asyncio.run(check())


def test_the_end_of_the_stream_frees_everyone() -> None:
    async def wait(call: Call) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def pour(call: Call) -> dict[str, Any]:
        while True:
            await call.send(b"x" * 65536)

    async def check() -> None:
        async with pair({"wait": wait}, {"wait": wait, "pour": pour}) as (host, guest):
            waiting = [asyncio.create_task(host.call("wait")) for _ in range(20)]
            waiting += [asyncio.create_task(guest.call("wait")) for _ in range(20)]
            poured = await host.open("pour")
            await poured.receive()
            guest.close()
            done = await asyncio.gather(*waiting, return_exceptions=True)
            assert all(isinstance(error, PeerGone) for error in done)
            with pytest.raises(PeerGone):
                await _drain(poured)
            with pytest.raises(PeerGone):
                await host.open("wait")

    asyncio.run(check())


async def _drain(call: Call) -> None:
    while await call.receive():
        pass


def test_an_operation_that_ignores_being_cancelled_holds_up_nobody() -> None:
    release = asyncio.Event()

    async def stubborn(call: Call) -> dict[str, Any]:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return {}

    async def check() -> None:
        async with pair(guest={"stubborn": stubborn, "echo": _echo}, patience=1) as (host, _):
            call = await host.open("stubborn")
            assert await host.call("echo") == {}
            call.drop()
        release.set()
        await asyncio.sleep(0)

    asyncio.run(check())


def test_random_bytes_of_every_size_survive() -> None:
    async def check() -> None:
        async with pair(guest={"echo": _echo}) as (host, _):
            for size in (0, 1, 65_535, 65_536, 65_537, WINDOW, WINDOW + 1):
                data = os.urandom(size)
                async with await host.open("echo") as call:
                    feeding = asyncio.create_task(_feed(call, data))
                    back = b""
                    while piece := await call.receive():
                        back += piece
                    await feeding
                    assert back == data

    asyncio.run(check())


def test_the_end_that_leads_takes_only_short_calls_and_short_failures() -> None:
    async def wordy(call: Call) -> dict[str, Any]:
        raise PeerError("c" * 5_000, "t" * 500_000)

    async def check() -> None:
        async with pair({"echo": _echo}, {"wordy": wordy}) as (host, guest):
            with pytest.raises(PeerError) as failure:
                await host.call("wordy")
            assert (len(failure.value.code), len(failure.value.text)) == (2_000, 2_000)
            with pytest.raises(PeerGone):
                await guest.call("echo", much="x" * 5_000)
            assert await host.wait_ended() == "garbage"

    asyncio.run(check())
