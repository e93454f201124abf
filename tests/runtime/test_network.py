"""Network: what may leave, what is counted, and how proxies and certificates of the system are used."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest

from runtime.metering import MeteredTransport
from runtime.network import Network
from runtime.paths import find_home
from runtime.providers.connection import HostRefused
from tests.runtime.local_servers import certificates, head, proxy, says, serving

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
FAR = "api.far.example"


@pytest.fixture
def network(fresh_home: Path) -> Network:
    home = find_home(fresh_home)
    home.create()
    return Network(home)


def client_of(network: Network, library: str) -> Any:
    """A client of either library, with the same interface."""
    return network.client("test") if library == "httpx2" else network.old_client("test")


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await work()

    asyncio.run(main())


@pytest.mark.parametrize("library", ["httpx2", "httpx"])
def test_a_request_on_this_machine_needs_no_permission_and_is_counted(
    network: Network, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://{FAR}:3128")  # never for this machine
    seen: list[bytes] = []

    async def work() -> None:
        async with serving(says(ANSWER, seen)) as port, client_of(network, library) as client:
            reply = await client.post(f"http://127.0.0.1:{port}/secret/path?key=abc", content=b"x" * 1000)
            assert reply.text == "hello"

    run(work)
    (entry,) = network.entries()
    assert (entry.host, entry.method, entry.status, entry.who) == ("127.0.0.1", "POST", 200, "test")
    assert entry.local
    assert not entry.open
    assert entry.sent == len(seen[0])
    assert entry.received == len(ANSWER)
    (reached,) = network.summary()
    assert (reached.times, reached.sent, reached.received) == (1, entry.sent, entry.received)


@pytest.mark.parametrize("library", ["httpx2", "httpx"])
def test_first_requests_at_once_share_one_way_out(library: str, network: Network) -> None:
    """While the certificates are read for the first time, no request opens a way of its own that nobody
    closes."""

    async def main() -> None:
        async with client_of(network, library) as client:
            way_out: MeteredTransport = client._transport
            ways = await asyncio.gather(*(way_out._transport("https", "") for _number in range(3)))
            assert len({id(way) for way in ways}) == 1

    run(main)


def test_the_ledger_holds_no_path_query_header_or_body(network: Network, fresh_home: Path) -> None:
    async def work() -> None:
        async with serving(says(ANSWER)) as port, network.client("test") as client:
            url = f"http://127.0.0.1:{port}/planted-path?planted=query"
            await client.post(url, content=b"planted body", headers={"x-api-key": "planted-key"})

    run(work)
    assert b"planted" not in (fresh_home / "audit" / "network.jsonl").read_bytes()


@pytest.mark.parametrize("library", ["httpx2", "httpx"])
def test_a_host_that_was_not_allowed_is_refused_before_anything_happens(
    network: Network, library: str
) -> None:
    async def work() -> None:
        async with client_of(network, library) as client:
            with pytest.raises(HostRefused) as refused:
                await client.get(f"https://{FAR}/v1")
            assert refused.value.host == FAR

    run(work)
    assert network.entries() == []
    assert network.summary() == []


def test_a_redirect_to_a_host_that_was_not_allowed_is_refused(network: Network) -> None:
    moved = f"HTTP/1.1 307 Moved\r\nLocation: https://{FAR}/\r\nContent-Length: 0\r\n\r\n".encode()

    async def work() -> None:
        async with serving(says(moved)) as port, network.client("test") as client:
            assert (await client.get(f"http://127.0.0.1:{port}/")).status_code == 307
            with pytest.raises(HostRefused):
                await client.get(f"http://127.0.0.1:{port}/", follow_redirects=True)

    run(work)
    assert {entry.host for entry in network.entries()} == {"127.0.0.1"}


def test_bytes_are_counted_as_they_come_and_stand_when_the_answer_is_cut(network: Network) -> None:
    begun = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"

    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head(reader)
        writer.write(begun + b"y" * 400)
        await writer.drain()

    async def work() -> None:
        async with serving(cut) as port, network.client("test") as client:
            with pytest.raises(httpx2.RemoteProtocolError):
                await client.get(f"http://127.0.0.1:{port}/")

    run(work)
    (entry,) = network.entries()
    assert (entry.status, entry.received, entry.open) == (200, len(begun) + 400, False)


def test_an_answer_that_is_left_in_the_middle_is_closed_in_the_ledger(network: Network) -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n0123456789")
        await reader.read()

    async def work() -> None:
        async with serving(endless) as port, network.client("test") as client:
            async with client.stream("GET", f"http://127.0.0.1:{port}/") as reply:
                assert await anext(reply.aiter_bytes()) == b"0123456789"
                assert [entry.open for entry in network.entries()] == [True]
            assert [entry.open for entry in network.entries()] == [False]

    run(work)


def test_a_host_that_does_not_answer_is_in_the_ledger_with_nothing_sent(network: Network) -> None:
    async def work() -> None:
        async with serving(says(ANSWER)) as port:
            pass
        async with network.client("test") as client:
            with pytest.raises(httpx2.ConnectError):
                await client.get(f"http://127.0.0.1:{port}/")

    run(work)
    (entry,) = network.entries()
    assert (entry.status, entry.sent, entry.received, entry.open) == (0, 0, 0, False)


def test_nothing_is_sent_where_the_ledger_cannot_be_written(network: Network, fresh_home: Path) -> None:
    (fresh_home / "audit" / "network.jsonl").mkdir()
    seen: list[bytes] = []

    async def work() -> None:
        async with serving(says(ANSWER, seen)) as port, network.client("test") as client:
            with pytest.raises(httpx2.ConnectError, match="ledger"):
                await client.get(f"http://127.0.0.1:{port}/")

    run(work)
    assert seen == []


@pytest.mark.parametrize("library", ["httpx2", "httpx"])
def test_the_proxy_of_the_environment_is_used_for_an_allowed_host(
    network: Network, library: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trusted, secure = certificates(tmp_path, FAR)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    network.allow(FAR, "test")
    asked: list[bytes] = []

    async def work() -> None:
        async with serving(says(ANSWER), secure) as there, serving(proxy(there, asked)) as port:
            monkeypatch.setenv("https_proxy", f"http://name:password@127.0.0.1:{port}")
            async with client_of(network, library) as client:
                assert (await client.get(f"https://{FAR}/v1/models")).text == "hello"
            (entry,) = network.entries()
            assert (entry.host, entry.port, entry.via) == (FAR, 443, f"127.0.0.1:{port}")
            assert entry.received == len(ANSWER)

    run(work)
    assert asked[0].startswith(f"CONNECT {FAR}:443".encode())
    assert b"basic" in asked[0].lower()


def test_a_plain_request_goes_through_the_proxy_too_unless_the_host_is_excepted(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    network.allow(FAR, "test")
    asked: list[bytes] = []

    async def work() -> None:
        async with serving(says(ANSWER)) as there, serving(proxy(there, asked)) as port:
            monkeypatch.setenv("http_proxy", f"127.0.0.1:{port}")
            async with network.client("test") as client:
                assert (await client.get(f"http://{FAR}/")).text == "hello"
                monkeypatch.setenv("no_proxy", ".example")
                with pytest.raises(RuntimeError, match="may not look up"):
                    await client.get(f"http://{FAR}/")

    run(work)
    assert len(asked) == 1


def test_a_proxy_of_an_unknown_kind_is_a_failure_to_connect(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    network.allow(FAR, "test")
    monkeypatch.setenv("all_proxy", "gopher://127.0.0.1:9")

    async def work() -> None:
        async with network.client("test") as client:
            with pytest.raises(httpx2.ProxyError, match="cannot be used"):
                await client.get(f"https://{FAR}/")

    run(work)


def test_a_certificate_of_an_authority_the_system_does_not_know_is_refused(
    network: Network, tmp_path: Path
) -> None:
    _trusted, secure = certificates(tmp_path, "127.0.0.1")

    async def work() -> None:
        async with serving(says(ANSWER), secure) as port, network.client("test") as client:
            with pytest.raises(httpx2.ConnectError, match="certificate verify failed"):
                await client.get(f"https://127.0.0.1:{port}/")

    run(work)
    assert [entry.sent for entry in network.entries()] == [0]


def test_a_company_certificate_named_in_the_environment_is_trusted(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted, secure = certificates(tmp_path, "127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))

    async def work() -> None:
        async with serving(says(ANSWER), secure) as port, network.old_client("test") as client:
            assert (await client.get(f"https://127.0.0.1:{port}/")).text == "hello"

    run(work)


def test_without_a_setting_the_certificates_of_the_system_are_used(network: Network) -> None:
    context = asyncio.run(network.tls())
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
    if Path("/etc/ssl/certs/ca-certificates.crt").exists():
        assert context.cert_store_stats()["x509_ca"] > 10


def test_certificates_that_cannot_be_read_are_a_failure_to_connect(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    network.allow(FAR, "test")

    async def work() -> None:
        async with network.client("test") as client, network.old_client("test") as old:
            with pytest.raises(httpx2.ConnectError, match="certificates"):
                await client.get(f"https://{FAR}/")
            with pytest.raises(httpx.ConnectError, match="certificates"):
                await old.get(f"https://{FAR}/")

    run(work)


def test_taking_a_permission_back_holds_for_the_next_request_of_an_open_client(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    network.allow(FAR, "test")

    async def work() -> None:
        asked: list[bytes] = []
        async with serving(says(ANSWER)) as there, serving(proxy(there, asked)) as port:
            monkeypatch.setenv("http_proxy", f"127.0.0.1:{port}")
            async with network.client("test") as client:
                await client.get(f"http://{FAR}/")
                network.revoke(FAR)
                with pytest.raises(HostRefused):
                    await client.get(f"http://{FAR}/")

    run(work)
    assert [(reached.host, reached.times) for reached in network.summary()] == [(FAR, 1)]


def test_nothing_else_in_the_house_opens_a_way_onto_the_network() -> None:
    """Every client of HTTP is made by Network; installer and tests do not belong to the program, and the
    container engine, which is the user's own, is spoken to by its own library."""
    ways = re.compile(r"httpx2?\.(Async)?Client\(|urlopen\(|http\.client|create_connection\(|import requests")
    root = Path(__file__).resolve().parents[2]
    rooms = ("desktop", "runtime", "voice", "models", "sandbox", "resources")
    files = [file for room in rooms for file in (root / room).rglob("*.py")]
    found = [file.relative_to(root).as_posix() for file in files if ways.search(file.read_text("utf-8"))]
    assert found == ["runtime/network.py", "sandbox/engine.py"]


def test_a_permission_file_that_cannot_be_read_is_a_notice(network: Network, fresh_home: Path) -> None:
    assert network.notices() == []
    (fresh_home / "network.yaml").write_text("hosts: 7\n", "utf-8")
    assert [code for code, _fields in network.notices()] == ["yaml_wrong_value"]
