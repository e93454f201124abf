"""A guest in a real container: attached, taken over, lost in every way, and reached over the network too."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox import lines
from sandbox.channel import Guest, attach
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.guest.peer import Call, PeerGone
from sandbox.screen import Frame
from tests.conftest import missing
from tests.sandbox.certificates import certificate


async def _echo(call: Call) -> dict[str, Any]:
    return call.arguments


@contextlib.asynccontextmanager
async def _attached(container: Any, patience: float = 10.0) -> Any:
    guest = await attach(container, {"echo": _echo}, patience=patience)
    try:
        yield guest
    finally:
        await guest.close()


def _guests(container: Any) -> list[str]:
    """Process numbers of the guests that run."""
    listed = container.exec_run(["pgrep", "-f", "sandbox.guest control"]).output.decode()
    return [str(number) for number in listed.split()]


async def _first_frame(guest: Guest) -> Frame:
    found: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()

    def on_frame(frame: Frame) -> None:
        if not found.done():
            found.set_result(frame)

    leave = guest.screen.subscribe(on_frame)
    try:
        return await asyncio.wait_for(found, 10)
    finally:
        leave()


def test_a_guest_serves_shows_its_screen_and_ends(bare_container: Any) -> None:
    async def check() -> None:
        async with _attached(bare_container) as guest:
            assert (guest.screen.width, guest.screen.height) == (1280, 800)
            frame = await _first_frame(guest)
            assert [(rect.width, rect.height) for rect in frame.rects] == [(1280, 800)]
            assert any(frame.pixels[0])
            assert (await guest.screen.picture()).startswith(b"\x89PNG")
        assert await guest.wait_lost() == "closed"
        with pytest.raises(PeerGone):
            await guest.screen.picture()

    asyncio.run(check())


def test_attaching_again_takes_over(bare_container: Any) -> None:
    async def check() -> None:
        async with _attached(bare_container) as old, _attached(bare_container) as new:
            assert await asyncio.wait_for(old.wait_lost(), 10) == "guest_ended"
            assert len(await asyncio.to_thread(_guests, bare_container)) == 1
            assert (await new.screen.picture()).startswith(b"\x89PNG")

    asyncio.run(check())


def test_a_killed_guest_is_noticed_at_once(bare_container: Any) -> None:
    async def check() -> None:
        async with _attached(bare_container) as guest:
            waiting = asyncio.create_task(_first_frame(guest))
            [number] = await asyncio.to_thread(_guests, bare_container)
            await waiting
            await asyncio.to_thread(bare_container.exec_run, ["kill", "-9", number])
            assert await asyncio.wait_for(guest.wait_lost(), 5) == "guest_ended"

    asyncio.run(check())


def test_a_host_that_vanishes_leaves_no_guest(bare_container: Any) -> None:
    """The connections break without a word, as when the window is killed."""

    async def check() -> None:
        guest = await attach(bare_container, {})
        assert len(await asyncio.to_thread(_guests, bare_container)) == 1
        for stream in guest._streams:
            stream._hijacked.abort()
        assert await guest.wait_lost() in ("guest_ended", "stream_ended")
        await guest.close()
        while await asyncio.to_thread(_guests, bare_container):
            pass

    asyncio.run(check())


def test_what_cannot_be_attached_says_why(bare_container: Any) -> None:
    async def check() -> None:
        class Gone:
            id = "0" * 64
            client = bare_container.client

        with pytest.raises(SandboxError) as failure:
            await attach(Gone(), {})
        assert failure.value.code == "guest_failed"
        assert "no such container" in str(failure.value.fields["reason"]).lower()

    asyncio.run(check())


def test_an_engine_reached_over_the_network(bare_container: Any, relay: str) -> None:
    import docker

    async def check() -> None:
        client = docker.DockerClient(base_url=relay, timeout=20)
        container = await asyncio.to_thread(client.containers.get, bare_container.id)
        async with _attached(container) as guest:
            frame = await _first_frame(guest)
            assert len(frame.pixels[0]) == 4 * 1280 * 800
        client.close()

    asyncio.run(check())


def test_an_engine_that_falls_silent_is_given_up(bare_container: Any, relay: str) -> None:
    """Its host still answers, but nothing comes through any more."""
    import docker

    async def check() -> None:
        client = docker.DockerClient(base_url=relay, timeout=2)
        container = await asyncio.to_thread(client.containers.get, bare_container.id)
        async with _attached(container, patience=3) as guest:
            _Relay.silent.set()
            assert await asyncio.wait_for(guest.wait_lost(), 20) == "engine_gone"
            _Relay.silent.clear()
        client.close()

    asyncio.run(check())


def test_an_engine_behind_tls(
    engine: Engine, bare_container: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import docker
    import docker.tls

    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    made, key = certificate(tmp_path)
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(made, key)
    relay = _Relay(engine, secure)

    async def check() -> None:
        tls = docker.tls.TLSConfig(ca_cert=str(made), verify=True)
        client = docker.DockerClient(base_url=f"https://127.0.0.1:{relay.port}", tls=tls, timeout=20)
        container = await asyncio.to_thread(client.containers.get, bare_container.id)
        async with _attached(container) as guest:
            for _ in range(3):
                frame = await _first_frame(guest)
                assert len(frame.pixels[0]) == 4 * 1280 * 800
        client.close()

    try:
        asyncio.run(check())
    finally:
        relay.close()


class _Relay:
    """A door of this machine's engine on the loopback network, as a remote engine would have."""

    silent = threading.Event()

    def __init__(self, engine: Engine, secure: ssl.SSLContext | None = None) -> None:
        self._secure = secure
        if not engine.host.startswith("unix://"):
            missing("a container engine on a socket of this machine")
        self._engine = engine.host.removeprefix("unix://")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._ends: list[socket.socket] = [self._listener]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
                if self._secure is not None:
                    near = self._secure.wrap_socket(near, server_side=True)
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self._engine)
            self._ends += [near, far]
            end: Any = near
            if isinstance(near, ssl.SSLSocket):
                near.settimeout(0)
                end = lines._Secured(near, near)
            for one, other in ((end, far), (far, end)):
                self._threads.append(threading.Thread(target=self._carry, args=(one, other)))
                self._threads[-1].start()

    def _carry(self, one: Any, other: Any) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65_536):
                if not self.silent.is_set():
                    other.sendall(data)
        with contextlib.suppress(OSError):
            getattr(other, "_under", other).shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        for thread in self._threads:
            thread.join(5)


@pytest.fixture
def relay(engine: Engine) -> Iterator[str]:
    found = _Relay(engine)
    yield f"tcp://127.0.0.1:{found.port}"
    found.silent.clear()
    found.close()
