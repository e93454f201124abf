"""From a program to a host and back: what is allowed passes, everything else is refused with its reason."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from sandbox import egress
from sandbox.egress import EgressProxy
from sandbox.guest.desk import GuestDesk
from sandbox.guest.peer import PeerError
from sandbox.guest.relay import Relay
from tests.sandbox.guest.pairs import pair


@dataclass
class Door:
    """Allows the hosts in `allowed`, names those in `near`, and keeps what it is told."""

    allowed: set[str] = field(default_factory=lambda: {"good.test"})
    near: set[str] = field(default_factory=set)
    asked: list[tuple[str, int]] = field(default_factory=list)
    opens: list[tuple[str, int]] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    refusals: list[tuple[str, int, str]] = field(default_factory=list)
    full: bool = False
    answer: Callable[[], Awaitable[None]] | None = None

    async def permit(self, host: str, port: int) -> bool:
        self.asked.append((host, port))
        if self.answer is not None:
            await self.answer()
        return host in self.allowed

    def named(self, host: str, port: int) -> bool:
        return host in self.near

    def opened(self, host: str, port: int) -> Callable[[int, int], None]:
        if self.full:
            raise PeerError("file_unwritable", "the ledger cannot be written")
        self.opens.append((host, port))

        def ended(sent: int, received: int) -> None:
            self.ends.append((sent, received))
            self.ended.set()

        return ended

    def refused(self, host: str, port: int, code: str) -> None:
        self.refusals.append((host, port, code))


@dataclass
class Origin:
    """A host on the loopback that keeps what it was sent and answers with `answer`, then closes."""

    answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    heard: list[bytes] = field(default_factory=list)
    until: bytes = b"\r\n\r\n"
    port: int = 0

    async def on_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = b""
        while self.until not in data and (more := await reader.read(65_536)):
            data += more
        self.heard.append(data)
        with suppress(OSError):
            writer.write(self.answer)
            writer.write_eof()
            while more := await reader.read(65_536):
                self.heard[-1] += more
        writer.close()


@dataclass
class Street:
    """A program's way to its proxy, with the door and the origin at its other end."""

    door: Door
    origin: Origin
    relay: Relay
    names: dict[str, list[str]]
    connects: list[tuple[str, int]]

    async def say(self, data: bytes, *, finish: bool = True) -> bytes:
        """Everything that comes back for `data`."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.relay.port)
        try:
            writer.write(data)
            if finish:
                writer.write_eof()
            return await reader.read()
        finally:
            writer.close()


@asynccontextmanager
async def street(door: Door | None = None, origin: Origin | None = None) -> AsyncIterator[Street]:
    """Every public address leads to the origin, since a test reaches no other machine."""
    door, origin = door or Door(), origin or Origin()
    names = {"good.test": ["93.184.216.34"]}
    connects: list[tuple[str, int]] = []

    async def resolve(host: str, port: int) -> list[str]:
        if host not in names:
            raise OSError(-2, "Name or service not known")
        return names[host]

    async def connect(address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        connects.append((address, port))
        return await asyncio.open_connection("127.0.0.1", origin.port)

    server = await asyncio.start_server(origin.on_client, "127.0.0.1", 0)
    origin.port = server.sockets[0].getsockname()[1]
    proxy = EgressProxy(door, resolve=resolve, connect=connect)
    async with pair(host=proxy.operations()) as (_, guest):
        desk = GuestDesk()
        desk.control = guest
        relay = Relay(desk)
        serving = asyncio.create_task(relay.serve(0))
        await relay.serving.wait()
        try:
            yield Street(door, origin, relay, names, connects)
        finally:
            for task in (serving, *desk.tasks):
                task.cancel()
            await asyncio.gather(serving, *desk.tasks, return_exceptions=True)
            server.close()


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


def test_a_tunnel_to_a_web_socket_passes_both_ways() -> None:
    async def work(there: Street) -> None:
        there.origin.until, there.origin.answer = b"frame", b"HTTP/1.1 101 Switching Protocols\r\n\r\nframe"
        asked = b"GET / HTTP/1.1\r\nHost: good.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nframe"
        answer = await there.say(b"CONNECT good.test:80 HTTP/1.1\r\n\r\n" + asked)
        assert answer == STANDS + there.origin.answer
        assert there.origin.heard[0].endswith(b"\r\n\r\nframe")

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
    from sandbox.guest import relay

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
