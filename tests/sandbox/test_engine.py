"""An engine is found where it is, and each way of not having one has its own code."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import Engine
from sandbox.errors import SandboxError


def _code(host: str = "", env: dict[str, str] | None = None) -> str:
    async def find() -> None:
        await (await Engine.find(host, env or {})).close()

    with pytest.raises(SandboxError) as failed:
        asyncio.run(find())
    return failed.value.code


@contextmanager
def _engine_of(version: str, place: Path) -> Iterator[str]:
    """A server that says of itself that it is an engine of that version; nothing else."""
    answer = json.dumps({"ApiVersion": version, "Version": "0"}).encode()
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    head += f"Api-Version: {version}\r\nContent-Length: {len(answer)}\r\n\r\n"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        server.listen()

        def serve() -> None:
            while True:
                try:
                    line, _ = server.accept()
                except OSError:
                    return
                with line:
                    while data := line.recv(65_536):
                        if b"\r\n\r\n" in data:
                            line.sendall(head.encode() + answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"unix://{place}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_an_address_where_nothing_listens_is_named(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "dead.sock"))
    assert _code(f"unix://{tmp_path}/dead.sock") == "engine_unreachable"
    assert _code(f"unix://{tmp_path}/absent.sock") == "engine_unreachable"
    assert _code("tcp://127.0.0.1:9") == "engine_unreachable"
    assert _code(env={"DOCKER_HOST": f"unix://{tmp_path}/absent.sock"}) == "engine_unreachable"


def test_an_address_that_makes_no_sense_is_an_error_of_ours(tmp_path: Path) -> None:
    assert _code("nonsense://x") == "engine_unreachable"


def test_an_old_engine_is_told_from_none(tmp_path: Path) -> None:
    with _engine_of("1.24", tmp_path / "old.sock") as address:
        assert _code(address) == "engine_old"


def test_a_socket_without_rights_is_told_from_none(tmp_path: Path) -> None:
    """Root may open every socket, so another user looks."""
    if os.geteuid() != 0:
        place = tmp_path / "engine.sock"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(place))
            server.listen()
            place.chmod(0)
            assert _code(f"unix://{place}") == "engine_refused"
        return
    assert _refused_to_a_stranger(tmp_path) == "engine_refused"


def _refused_to_a_stranger(folder: Path) -> str:
    place = folder / "engine.sock"
    folder.chmod(0o755)
    for parent in folder.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o005)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        server.listen()
        place.chmod(0o600)
        found: list[str] = []

        def look() -> None:
            # Only this thread changes its user (the call below is the kernel's, not the C library's).
            import ctypes

            libc = ctypes.CDLL(None)
            assert libc.syscall(117, -1, 65534, -1) == 0  # setresuid
            found.append(_code(f"unix://{place}"))

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    return found[0]


def test_the_usual_places_are_tried_in_turn(tmp_path: Path, engine: Engine) -> None:
    """The socket that the engine of this run listens on is found as Podman's of a user."""
    (tmp_path / "podman").mkdir()
    (tmp_path / "podman" / "podman.sock").symlink_to(engine.host.removeprefix("unix://"))

    async def find() -> str:
        found = await Engine.find("", {"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)})
        try:
            assert await found.answers()
            return found.host
        finally:
            await found.close()

    assert asyncio.run(find()) in (f"unix://{tmp_path}/podman/podman.sock", "unix:///var/run/docker.sock")


def test_docker_host_goes_before_the_usual_places(engine: Engine) -> None:
    async def find() -> str:
        found = await Engine.find("", {"DOCKER_HOST": engine.host})
        await found.close()
        return found.host

    assert asyncio.run(find()) == engine.host


def test_a_request_that_fails_has_a_code_and_the_loop_goes_on(engine: Engine) -> None:
    async def ask() -> None:
        with pytest.raises(SandboxError) as failed:
            await engine.call(lambda client: client.api.inspect_image("no/such/image"))
        assert failed.value.code == "engine_failed"
        assert "no such image" in str(failed.value).lower()

    asyncio.run(ask())


def test_a_full_disk_of_the_engine_is_named(engine: Engine) -> None:
    import docker.errors

    def fill(client: Any) -> None:
        raise docker.errors.APIError("write /var/lib/x: no space left on device")

    async def ask() -> None:
        with pytest.raises(SandboxError) as failed:
            await engine.call(fill)
        assert failed.value.code == "engine_disk_full"

    asyncio.run(ask())


def test_what_an_engine_says_of_itself_is_asked_once(engine: Engine) -> None:
    async def ask() -> None:
        assert await engine.info() is await engine.info()
        assert (await engine.info())["NCPU"] >= 1

    asyncio.run(ask())
