"""The client for threads: what may leave, what is counted, proxies and certificates, as for the other one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from runtime.network import Network
from runtime.paths import find_home
from runtime.providers.connection import HostRefused
from tests.runtime.local_servers import certificates, proxy, says, serving

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
FAR = "hub.far.example"


@pytest.fixture
def network(fresh_home: Path) -> Network:
    home = find_home(fresh_home)
    home.create()
    return Network(home)


async def ask(network: Network, url: str, follow_redirects: bool = False) -> str:
    """What a client made and closed in a thread gets from `url`."""

    def work() -> str:
        with network.blocking_client("test", purpose="download") as client:
            return client.get(url, follow_redirects=follow_redirects).text

    return await asyncio.to_thread(work)


def test_a_request_on_this_machine_needs_no_permission_and_is_counted(network: Network) -> None:
    seen: list[bytes] = []

    async def work() -> None:
        async with serving(says(ANSWER, seen)) as port:
            assert await ask(network, f"http://127.0.0.1:{port}/secret?key=abc") == "hello"

    asyncio.run(work())
    (entry,) = network.entries()
    assert (entry.host, entry.method, entry.status, entry.purpose) == ("127.0.0.1", "GET", 200, "download")
    assert (entry.sent, entry.received, entry.open) == (len(seen[0]), len(ANSWER), False)
    assert entry.local


def test_a_host_that_was_not_allowed_is_refused_before_anything_happens(network: Network) -> None:
    with pytest.raises(HostRefused) as refused:
        asyncio.run(ask(network, f"https://{FAR}/v1"))
    assert refused.value.host == FAR
    assert network.entries() == []


def test_a_redirect_to_a_host_that_was_not_allowed_is_refused(network: Network) -> None:
    moved = f"HTTP/1.1 302 Found\r\nLocation: https://{FAR}/\r\nContent-Length: 0\r\n\r\n".encode()

    async def work() -> None:
        async with serving(says(moved)) as port:
            with pytest.raises(HostRefused):
                await ask(network, f"http://127.0.0.1:{port}/", follow_redirects=True)

    asyncio.run(work())
    assert {entry.host for entry in network.entries()} == {"127.0.0.1"}


def test_an_allowed_host_is_reached_through_the_system_s_proxy(
    network: Network, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A tunnel with the certificates of the system, as in a company."""
    network.allow(FAR, "test")
    trusted, context = certificates(tmp_path / "certificates", FAR)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    asked: list[bytes] = []

    async def work() -> None:
        async with serving(says(ANSWER), context) as there, serving(proxy(there, asked)) as port:
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
            assert await ask(network, f"https://{FAR}/v1") == "hello"

    asyncio.run(work())
    assert asked[0].startswith(f"CONNECT {FAR}:443 ".encode())
    (entry,) = network.entries()
    assert entry.via.startswith("127.0.0.1:")
    assert entry.received == len(ANSWER)


def test_certificates_that_cannot_be_read_are_a_connect_error(
    network: Network, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    network.allow(FAR, "test")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nothing.pem"))
    with pytest.raises(httpx2.ConnectError, match="certificates"):
        asyncio.run(ask(network, f"https://{FAR}/v1"))


def test_several_threads_share_one_client_and_one_way_out(network: Network) -> None:
    got: list[str] = []

    def work(client: httpx2.Client, url: str) -> Callable[[], None]:
        return lambda: got.append(client.get(url).text)

    async def main() -> None:
        async with serving(says(ANSWER)) as port:
            with network.blocking_client("test", purpose="search") as client:
                threads = [
                    threading.Thread(target=work(client, f"http://127.0.0.1:{port}/")) for _number in range(4)
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    await asyncio.to_thread(thread.join)

    asyncio.run(main())
    assert got == ["hello"] * 4
    assert [entry.status for entry in network.entries()] == [200] * 4
