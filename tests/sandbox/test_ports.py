"""Ports of the sandbox are reached on this machine's loopback, and only where that was asked for."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from sandbox.errors import SandboxError
from sandbox.guest.relay import connect
from sandbox.ports import USUAL, Ports
from tests.sandbox.guest.pairs import pair


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A program in the sandbox that says everything twice."""
    while data := await reader.read(65_536):
        writer.write(data + data)
    writer.close()


def with_ports(work: Callable[[Ports, int], Awaitable[None]]) -> None:
    async def run() -> None:
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        async with server, pair(guest={"net.connect": connect}) as (host, _):
            ports = Ports(host)
            try:
                await work(ports, server.sockets[0].getsockname()[1])
            finally:
                await ports.close()

    asyncio.run(run())


async def said(port: int, data: bytes) -> bytes:
    """What comes back from a port of this machine."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer


def test_a_published_port_leads_into_the_sandbox_until_it_is_withdrawn() -> None:
    async def work(ports: Ports, inside: int) -> None:
        here = await ports.publish(inside, 0)
        assert ports.published == {inside: here}
        assert await ports.publish(inside, 0) == here
        assert await said(here, b"ab") == b"abab"
        answers = await asyncio.gather(*(said(here, b"%d" % number * 50_000) for number in range(8)))
        assert [len(answer) for answer in answers] == [100_000] * 8
        await ports.withdraw(inside)
        assert ports.published == {}
        with pytest.raises(ConnectionError):
            await said(here, b"x")

    with_ports(work)


def test_open_connections_end_with_the_port() -> None:
    async def work(ports: Ports, inside: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", await ports.publish(inside, 0))
        writer.write(b"a")
        assert await reader.readexactly(2) == b"aa"
        await ports.close()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        writer.close()

    with_ports(work)


def test_a_port_that_another_program_has_is_said() -> None:
    async def work(ports: Ports, inside: int) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(SandboxError) as caught:
                await ports.publish(inside, port)
            assert (caught.value.code, caught.value.fields) == ("port_taken", {"port": port})
        for wrong in (0, 70_000):
            with pytest.raises(SandboxError) as caught:
                await ports.publish(wrong)
            assert caught.value.code == "port_unknown"

    with_ports(work)


def test_where_nothing_listens_inside_the_connection_ends() -> None:
    async def work(ports: Ports, inside: int) -> None:
        with socket.create_server(("127.0.0.1", 0)) as gone:
            nothing = gone.getsockname()[1]
        here = await ports.publish(nothing, 0)
        with suppress(ConnectionError):
            assert await said(here, b"x") == b""

    with_ports(work)


def test_the_usual_ports_are_those_that_people_know() -> None:
    assert dict(USUAL) == {9090: 9090, 9091: 9091, 8888: 8888, 3000: 3100, 3001: 3001}
