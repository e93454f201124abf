"""Programs in the real container reach what the door allows, by the proxy they find themselves."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sandbox.container import MachineConfig
from sandbox.egress import EgressProxy
from sandbox.engine import Engine
from sandbox.files import GuestFiles
from sandbox.machine import Machine
from sandbox.shell import GuestShell
from tests.sandbox.conftest import Stage
from tests.sandbox.street import Door

BODY = b"x" * 3_000_000
PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + BODY


class Town:
    """A host on this machine under the name good.test, with and without TLS, and the proxy before it."""

    def __init__(self) -> None:
        self.door = Door()
        self.ports: dict[int, int] = {}
        self.proxy = EgressProxy(self.door, resolve=self._resolve, connect=self._connect)
        self._servers: list[asyncio.Server] = []

    async def open(self, port: int, tls: ssl.SSLContext | None) -> None:
        """Serve what programs reach as `port`."""
        server = await asyncio.start_server(self._on_client, "127.0.0.1", 0, ssl=tls)
        self.ports[port] = server.sockets[0].getsockname()[1]
        self._servers.append(server)

    async def close(self) -> None:
        """Serve no more."""
        for server in self._servers:
            server.close()
            await server.wait_closed()

    async def _resolve(self, host: str, port: int) -> list[str]:
        return ["192.168.7.7"] if host.startswith("near") else ["93.184.216.34"]

    async def _connect(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.ports[port])

    async def _on_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(PAGE)
            await writer.drain()
        writer.close()


@pytest.fixture(scope="module")
def stage(engine: Engine, config: Callable[[str], MachineConfig]) -> Iterator[tuple[Stage, Town]]:
    """A started machine whose way out leads to the town."""
    made, town = Stage(engine, config("egress-real")), Town()
    made.machine = Machine(engine, made.machine.config, town.proxy.operations())
    try:
        made.run(made.machine.start())
        yield made, town
    finally:
        made.run(town.close())
        made.close()
        asyncio.run(Machine(engine, made.machine.config).reset())


def said(stage: Stage, command: str) -> str:
    """What the sandbox's shell says."""
    return stage.run(GuestShell(stage.guest.control).run(command, timeout=50)).output


def test_plain_and_tls_reach_the_allowed_host_whole(stage: tuple[Stage, Town], tmp_path: Path) -> None:
    place, town = stage
    said(
        place,
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=good.test 2>&1",
    )
    files = GuestFiles(place.guest.bulk)
    for name in ("key", "cert"):
        (tmp_path / name).write_bytes(place.run(files.read(name)).data)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    place.run(town.open(80, None))
    place.run(town.open(443, context))
    ask = "curl -sS -k -o got -w '%{http_code} %{size_download} ' "
    assert said(place, f"{ask} http://good.test/a; {ask} https://good.test/b") == "200 3000000 200 3000000 "
    script = "import urllib.request as u; print(len(u.urlopen('http://good.test/').read()))"
    assert said(place, f'python3 -c "{script}"') == "3000000\n"
    assert town.door.opens == [("good.test", 80), ("good.test", 443), ("good.test", 80)]
    assert all(received > 3_000_000 for _, received in town.door.ends)


def test_a_refusal_tells_the_program_what_the_user_can_do(stage: tuple[Stage, Town]) -> None:
    place, town = stage
    town.door.allowed.add("near.test")
    refused = said(place, "curl -sS http://other.test; curl -sSv https://other.test 2>&1 | grep 403")
    assert refused.count("The sandbox may not reach other.test") >= 2
    assert "leads into this machine or its own network (192.168.7.7)" in said(
        place, "curl -sS http://near.test/"
    )
    assert "is an address" in said(place, "curl -sS http://169.254.169.254/latest/meta-data/")
    mismatch = said(place, "curl -sS -H 'Host: other.test' http://good.test/")
    assert "neither TLS nor a plain HTTP request" in mismatch


def test_there_is_no_other_way_out(stage: tuple[Stage, Town]) -> None:
    place, _ = stage
    probe = "import socket; socket.create_connection(('93.184.216.34', 80), 3)"
    assert "unreachable" in said(place, f'python3 -c "{probe}" 2>&1')
    assert "not resolve" in said(place, "curl -sS --noproxy '*' http://good.test 2>&1")


def test_many_connections_at_once_all_arrive(stage: tuple[Stage, Town]) -> None:
    place, _ = stage
    one = "curl -sS -o /dev/null -w '%{size_download}\\n' http://good.test/"
    assert said(place, f"for i in $(seq 20); do {one} & done 2>/dev/null; wait").count("3000000\n") == 20
