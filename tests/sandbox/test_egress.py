"""From a program to a host and back: what is allowed passes, everything else is refused with its reason."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from sandbox import egress
from sandbox.egress import EgressProxy
from sandbox.guest import relay
from sandbox.guest.peer import PeerError
from tests.sandbox.guest.pairs import pair
from tests.sandbox.street import Door, Origin, Street, street


def on_street(
    work: Callable[[Street], Awaitable[None]], door: Door | None = None, origin: Origin | None = None
) -> None:
    async def run() -> None:
        async with street(door, origin) as there:
            await work(there)

    asyncio.run(run())


GET = b"GET http://good.test/page HTTP/1.1\r\nHost: good.test\r\nConnection: keep-alive\r\n\r\n"


def test_a_plain_request_reaches_the_allowed_host_and_is_counted() -> None:
    async def work(there: Street) -> None:
        assert await there.say(GET) == there.origin.answer
        (heard,) = there.origin.heard
        assert heard == b"GET /page HTTP/1.1\r\nHost: good.test\r\nConnection: close\r\n\r\n"
        assert there.connects == [("93.184.216.34", 80)]
        assert there.door.opens == [("good.test", 80)]
        await there.door.ended.wait()
        assert there.door.ends == [(len(heard), len(there.origin.answer))]

    on_street(work)


def test_of_a_connection_only_its_first_request_goes_to_its_host() -> None:
    async def work(there: Street) -> None:
        second = GET.replace(b"good.test", b"evil.test")
        assert await there.say(GET + second + b"more") == there.origin.answer
        assert len(there.origin.heard) == 1
        assert b"evil" not in there.origin.heard[0]
        post = b"POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nContent-Length: 3\r\n\r\nabc"
        there.origin.until = b"abc"
        assert await there.say(post + second) == there.origin.answer
        assert there.origin.heard[1].endswith(b"\r\n\r\nabc")

    on_street(work)


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        (b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n", 403, "egress_refused"),
        (b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", 403, "egress_refused"),
        (b"CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n", 403, "egress_address"),
        (b"GET http://169.254.169.254/latest HTTP/1.1\r\n\r\n", 403, "egress_address"),
        (b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n", 403, "egress_address"),
        (b"CONNECT 93.184.216.34:443 HTTP/1.1\r\n\r\n", 403, "egress_address"),
        (b"CONNECT 2130706433:80 HTTP/1.1\r\n\r\n", 502, ""),
        (b"CONNECT unknown.test:443 HTTP/1.1\r\n\r\n", 502, "egress_unresolved"),
        (b"CONNECT near.test:443 HTTP/1.1\r\n\r\n", 403, "egress_private"),
        (b"CONNECT cloud.test:80 HTTP/1.1\r\n\r\n", 403, "egress_private"),
        (b"CONNECT mapped.test:80 HTTP/1.1\r\n\r\n", 403, "egress_private"),
        (b"GET http://good.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", 403, "egress_protocol"),
        (
            b"GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\nHost: evil.test\r\n\r\n",
            403,
            "egress_protocol",
        ),
        (
            b"POST http://good.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            403,
            "egress_protocol",
        ),
        (b"GET / HTTP/1.1\r\nHost: good.test\r\n\r\n", 400, ""),
        (b"CONNECT good.test:99999 HTTP/1.1\r\n\r\n", 400, ""),
        (b"\x16\x03\x01 nonsense\r\n\r\n", 400, ""),
    ],
)
def test_what_may_not_be_is_refused_with_its_reason(request_: bytes, status: int, code: str) -> None:
    async def work(there: Street) -> None:
        there.names |= {"near.test": ["192.168.1.1"], "cloud.test": ["169.254.169.254"]}
        there.names["mapped.test"] = ["::ffff:127.0.0.1", "64:ff9b::a00:1"]
        there.door.allowed |= {"near.test", "cloud.test", "mapped.test", "unknown.test"}
        answer = await there.say(request_)
        first = answer.split(b"\r\n")[0].decode()
        assert first.startswith(f"HTTP/1.1 {status} ")
        assert [refusal[2] for refusal in there.door.refusals] == ([code] if code else [])
        assert there.origin.heard in ([], [b""])
        if code == "egress_refused":
            assert "evil.test" in first
            assert "allowed hosts" in first
            assert b"evil.test" in answer.split(b"\r\n\r\n")[1]

    on_street(work)


def test_of_several_addresses_only_public_ones_are_tried() -> None:
    async def work(there: Street) -> None:
        there.names["good.test"] = ["10.0.0.1", "::1", "1.1.1.1"]
        await there.say(GET)
        assert there.connects == [("1.1.1.1", 80)]

    on_street(work)


def test_the_users_own_network_is_reached_where_the_list_names_it_but_metadata_never() -> None:
    async def work(there: Street) -> None:
        there.names |= {"nas.test": ["192.168.1.5"], "cloud.test": ["169.254.169.254"]}
        there.door.allowed |= (near := {"nas.test", "192.168.1.6", "cloud.test", "169.254.169.254"})
        there.door.near |= near
        for host in ("nas.test", "192.168.1.6"):
            assert b"200 OK" in await there.say(GET.replace(b"good.test", host.encode()))
        assert there.connects == [("192.168.1.5", 80), ("192.168.1.6", 80)]
        for host in ("cloud.test", "169.254.169.254"):
            assert b"403" in await there.say(GET.replace(b"good.test", host.encode()))
        assert len(there.connects) == 2

    on_street(work)


def tunnel(name: str) -> bytes:
    """The start of a tunnel to good.test in which TLS asks for `name`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return b"CONNECT good.test:443 HTTP/1.1\r\nHost: good.test\r\n\r\n" + outgoing.read()


STANDS = b"HTTP/1.1 200 Connection established\r\n\r\n"


def test_a_tunnel_carries_tls_for_its_own_host_only() -> None:
    async def work(there: Street) -> None:
        there.origin.until = b"good.test"
        there.origin.answer = b"server hello"
        asked = tunnel("good.test")
        assert await there.say(asked) == STANDS + b"server hello"
        assert there.origin.heard == [asked.split(b"\r\n\r\n", 1)[1]]
        there.origin.heard.clear()
        assert await there.say(tunnel("evil.test")) == STANDS
        assert there.door.refusals == [("good.test", 443, "egress_mismatch")]
        assert b"".join(there.origin.heard) == b""

    on_street(work)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"SSH-2.0-OpenSSH_9\r\n\r\n", "egress_protocol"),
        (b"\x05\x01\x00\r\n\r\n", "egress_protocol"),
        (b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", "egress_mismatch"),
        (b"GET / HTTP/1.1\r\nHost: good.test:81\r\n\r\n", "egress_mismatch"),
        (b"\x16\x03\x01\x00\x05\x02aaaa\r\n\r\n", "egress_protocol"),
    ],
)
def test_a_tunnel_carries_nothing_but_tls_and_one_request(data: bytes, code: str) -> None:
    async def work(there: Street) -> None:
        await there.say(b"CONNECT good.test:80 HTTP/1.1\r\n\r\n" + data)
        assert [refusal[2] for refusal in there.door.refusals] == [code]
        assert b"".join(there.origin.heard) == b""

    on_street(work)


SOCKET = (
    b"GET / HTTP/1.1\r\nHost: good.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def test_a_tunnel_to_a_web_socket_passes_both_ways() -> None:
    async def work(there: Street) -> None:
        there.origin.answer, there.origin.then = b"HTTP/1.1 101 Switching Protocols\r\n\r\n", b"frame"
        answer = await there.say(b"CONNECT good.test:80 HTTP/1.1\r\n\r\n" + SOCKET + b"frame")
        assert answer == STANDS + there.origin.answer + b"frame"
        assert there.origin.heard[0].endswith(b"\r\n\r\nframe")

    on_street(work)


@pytest.mark.parametrize("asked", [SOCKET, SOCKET.replace(b"websocket", b"h2c")])
def test_after_no_web_socket_no_second_request_follows(asked: bytes) -> None:
    second = b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"

    async def work(there: Street) -> None:
        await there.say(b"CONNECT good.test:80 HTTP/1.1\r\n\r\n" + asked + second)
        assert b"evil" not in b"".join(there.origin.heard)
        assert b"h2c" not in b"".join(there.origin.heard)

    on_street(work)


def test_a_connection_ends_with_its_permission() -> None:
    async def work(there: Street) -> None:
        there.origin.until = b"never"
        asking = asyncio.create_task(there.say(GET))
        await there.door.was_opened.wait()
        there.door.over_now.set()
        await asking
        await there.door.ended.wait()
        assert there.door.ends[0][1] == 0

    on_street(work)


def test_large_answers_pass_whole_however_slowly_they_are_read() -> None:
    async def work(there: Street) -> None:
        there.origin.answer = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5_000_000
        assert await there.say(GET) == there.origin.answer

    on_street(work)


def test_a_ledger_that_cannot_be_written_lets_nothing_out() -> None:
    async def work(there: Street) -> None:
        assert b"403" in await there.say(GET)
        assert (there.connects, there.origin.heard) == ([], [])

    on_street(work, Door(full=True))


def test_a_host_that_cannot_be_reached_is_said() -> None:
    async def refusing(address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        raise ConnectionRefusedError(111, "Connection refused")

    async def resolve(host: str, port: int) -> list[str]:
        return ["1.1.1.1"]

    async def run() -> None:
        door = Door()
        async with pair(host=EgressProxy(door, resolve=resolve, connect=refusing).operations()) as (_, guest):
            with pytest.raises(PeerError, match="Connection refused") as caught:
                await guest.call("egress.open", host="good.test", port=443)
            assert caught.value.code == "egress_failed"
            assert door.ends == [(0, 0)]

    asyncio.run(run())


def test_more_connections_than_there_may_be_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egress, "MOST", 1)

    async def work(there: Street) -> None:
        asked, release = asyncio.Event(), asyncio.Event()

        async def answer() -> None:
            asked.set()
            await release.wait()

        there.door.answer = answer
        first = asyncio.create_task(there.say(GET))
        await asked.wait()
        assert (await there.say(GET)).startswith(b"HTTP/1.1 503 ")
        release.set()
        assert await first == there.origin.answer

    on_street(work)


def test_slow_and_endless_heads_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "ASKING", 0.05)

    async def work(there: Street) -> None:
        assert b"408" in await there.say(b"GET http://good.test/ HTTP/1.1\r\nHost:", finish=False)
        bomb = b"GET http://good.test/ HTTP/1.1\r\n" + b"X: y\r\n" * 20_000
        with suppress(ConnectionError):  # where it is cut off before it can read why
            assert b"431" in await there.say(bomb, finish=False)
        assert there.door.asked == []
        assert await there.say(GET) == there.origin.answer

    on_street(work)


def test_a_program_that_says_nothing_in_its_tunnel_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egress, "SAYING", 0.05)

    async def work(there: Street) -> None:
        assert await there.say(b"CONNECT good.test:443 HTTP/1.1\r\n\r\n", finish=False) == STANDS
        assert there.door.refusals == [("good.test", 443, "egress_failed")]

    on_street(work)


def test_a_connection_on_which_nothing_moves_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egress, "SILENCE", 0.1)

    async def work(there: Street) -> None:
        there.origin.until = b"never"
        assert await there.say(tunnel("good.test"), finish=False) == STANDS

    on_street(work)


def test_a_program_that_goes_away_ends_its_connection() -> None:
    async def work(there: Street) -> None:
        asked = asyncio.Event()

        async def answer() -> None:
            asked.set()
            await asyncio.Event().wait()

        there.door.answer = answer
        _, writer = await asyncio.open_connection("127.0.0.1", there.relay.port)
        writer.write(GET)
        await asked.wait()
        writer.transport.abort()

    on_street(work)


@pytest.mark.parametrize("host", ["", "a b", "a\r\nb", "x" * 300, "0x7f.0.0.1"])
def test_hosts_that_are_none_are_refused_without_a_question(host: str) -> None:
    async def run() -> None:
        door = Door()
        async with pair(host=EgressProxy(door).operations()) as (_, guest):
            with pytest.raises(PeerError) as caught:
                await guest.call("egress.open", host=host, port=443)
            assert caught.value.code == "egress_unresolved"
            assert door.asked == []

    asyncio.run(run())


def test_a_greeting_in_crumbs_is_cut_off() -> None:
    async def work(there: Street) -> None:
        assert there.relay._desk.control is not None
        async with await there.relay._desk.control.open("egress.open", host="good.test", port=443) as call:
            assert await call.receive() == b"+"
            with suppress(PeerError):  # it may be cut off before the last crumb
                for crumb in b"\x16\x03\x01\x40\x00\x01\x00\x3f\xf0" + bytes(2 * egress.PIECES):
                    await call.send(bytes([crumb]))
            with pytest.raises(PeerError, match="egress_protocol"):
                await call.result()
        assert b"".join(there.origin.heard) == b""

    on_street(work)


def test_connections_one_after_the_other_are_paced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egress, "MOST", 1)
    monkeypatch.setattr(egress, "RATE", 40.0)

    async def work(there: Street) -> None:
        begun = time.monotonic()
        for _ in range(5):
            assert await there.say(GET) == there.origin.answer
            await there.door.ended.wait()
            there.door.ended.clear()
        assert time.monotonic() - begun >= 4 / 40 - 0.001

    on_street(work)
