"""Whatever is killed in the middle of the work, one error says what, and a new start works."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from installer import containers
from sandbox.channel import Guest
from sandbox.container import MachineConfig, code_machine
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.guest.call import PeerGone
from sandbox.image import ImageBuilder
from sandbox.machine import Machine
from sandbox.shell import GuestShell, Ran
from tests.conftest import missing
from tests.sandbox.conftest import MARK
from tests.sandbox.private_engine import (
    METADATA,
    NEIGHBOUR,
    PrivateEngine,
    copy_image,
    possible,
    private_engine,
)

Configure = Callable[[str], MachineConfig]
PATIENCE = 60.0

_SMALL = """
ARG BASE_IMAGE=none
FROM ${BASE_IMAGE}
RUN apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 1000 --create-home orion && mkdir /workspace && chown orion /workspace
ENV PYTHONPATH=/opt/orion
COPY start /opt/orion/start
COPY guest/ /opt/orion/sandbox/
USER orion
WORKDIR /workspace
CMD ["/opt/orion/start"]
"""


async def _busy(guest: Guest) -> asyncio.Task[Ran]:
    """A command that runs for long, and has begun."""
    begun = asyncio.Event()
    run = GuestShell(guest.control).run("echo begun; sleep 600", timeout=500, told=lambda _: begun.set())
    task = asyncio.create_task(run)
    await begun.wait()
    return task


def _lost(engine: Engine, config: MachineConfig, kill: Callable[[Machine], Coroutine[Any, Any, None]]) -> str:
    """Start, kill in the middle of a call, and start again; returns the code of the loss."""

    async def run() -> str:
        machine = Machine(engine, config)
        try:
            busy = await _busy(await machine.start())
            lost = asyncio.create_task(machine.wait_lost())
            await kill(machine)
            async with asyncio.timeout(PATIENCE):
                code = (await lost).code
                with pytest.raises(PeerGone):
                    await busy
                again = await machine.start()
                assert await again.control.call("desk") is not None
            return code
        finally:
            await machine.reset()

    return asyncio.run(run())


def test_a_killed_container_is_named(engine: Engine, config: Configure) -> None:
    async def kill(machine: Machine) -> None:
        await engine.call(lambda client: client.api.kill(machine.config.name))

    assert _lost(engine, code_machine(config("killed")), kill) == "container_gone"


def test_a_removed_container_is_named(engine: Engine, config: Configure) -> None:
    async def kill(machine: Machine) -> None:
        await engine.call(lambda client: client.api.remove_container(machine.config.name, force=True))

    assert _lost(engine, code_machine(config("removed")), kill) == "container_gone"


def test_a_killed_guest_is_named_and_the_desktop_stays(engine: Engine, config: Configure) -> None:
    numbers: list[str] = []

    async def kill(machine: Machine) -> None:
        numbers.append(machine._id)
        command = ["pkill", "-KILL", "-f", "sandbox.guest control"]
        thing = await machine.up()
        assert (await engine.call(lambda client: thing.exec_run(command))).exit_code == 0

    assert _lost(engine, config("guest"), kill) == "guest_gone"


def test_a_dead_screen_ends_the_container(engine: Engine, config: Configure) -> None:
    async def kill(machine: Machine) -> None:
        thing = await machine.up()
        await engine.call(lambda client: thing.exec_run(["pkill", "-KILL", "Xvfb"]))

    assert _lost(engine, config("screen"), kill) == "container_gone"


# --- the engine itself -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small_image(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An image that can only run code, small enough to be carried to another engine."""
    folder = tmp_path_factory.mktemp("small")
    room = Path(str(ImageBuilder.__init__.__globals__["_ROOM"]))
    (folder / "Dockerfile").write_text(_SMALL, encoding="utf-8")
    (folder / "start").write_bytes((room / "image" / "start").read_bytes())
    builder = ImageBuilder(image=folder, name="orion-test-small")

    async def build() -> str:
        base = await engine.call(containers.base_image)
        return await builder.build(engine, base=base, network="host", told=lambda line, part: None)

    yield asyncio.run(build())
    asyncio.run(engine.call(lambda client: client.images.remove("orion-test-small:latest", force=True)))


@pytest.fixture(scope="module")
def private(engine: Engine, small_image: str) -> Iterator[tuple[PrivateEngine, str]]:
    """An engine of this module's own that has the small image."""
    if not possible():
        missing("a container engine of the test's own (root, dockerd, ip, nsenter)")
    with tempfile.TemporaryDirectory(prefix="orion-engine-") as folder, private_engine(Path(folder)) as own:
        target = asyncio.run(_find(own))
        asyncio.run(engine.call(lambda client: copy_image(client, target.client, small_image)))
        asyncio.run(target.close())
        yield own, small_image


async def _find(own: PrivateEngine) -> Engine:
    return await Engine.find(own.address)


def _on(own: PrivateEngine, work: Callable[[Engine], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        engine = await _find(own)
        try:
            async with asyncio.timeout(PATIENCE):
                await work(engine)
        finally:
            await engine.close()

    asyncio.run(run())


def _config(image: str, name: str) -> MachineConfig:
    return code_machine(MachineConfig(name=name, image=image, volume=name, labels=MARK))


def _beside(client: Any, image: str, command: list[str]) -> bytes:
    """What a container says that is on the network of the engine's host."""
    mark = {**MARK, "orion": "1"}
    said = client.containers.run(image, command, network_mode="host", remove=True, labels=mark)
    return bytes(said)


def _inside(thing: Any, command: list[str], client: Any) -> Any:
    del client
    return thing.exec_run(command)


def test_the_machine_reaches_no_neighbour_of_the_engine(private: tuple[PrivateEngine, str]) -> None:
    """What the engine's host reaches, and a container on its network too, the machine does not."""
    own, image = private
    fetch = "import sys, urllib.request as r; r.install_opener(r.build_opener(r.ProxyHandler({})));"
    fetch += "print(r.urlopen('http://' + sys.argv[1], timeout=5).read())"

    async def work(engine: Engine) -> None:
        machine = Machine(engine, _config(image, "neighbour"))
        try:
            thing = await machine.up()
            for address in (METADATA, NEIGHBOUR):
                command = ["python3", "-c", fetch, address]
                seen = await engine.call(partial(_beside, image=image, command=command))
                assert b"secret of the neighbour" in seen
                tried = await engine.call(partial(_inside, thing, command))
                assert tried.exit_code != 0
                assert b"Network is unreachable" in tried.output
        finally:
            await machine.reset()

    _on(own, work)


def test_a_killed_engine_is_named_and_comes_back(private: tuple[PrivateEngine, str]) -> None:
    own, image = private

    async def work(engine: Engine) -> None:
        machine = Machine(engine, _config(image, "engine"))
        busy = await _busy(await machine.start())
        lost = asyncio.create_task(machine.wait_lost())
        await asyncio.to_thread(own.kill)
        assert (await lost).code == "engine_gone"
        with pytest.raises(PeerGone):
            await busy
        await machine.leave()
        with pytest.raises(SandboxError) as failed:
            await machine.start()
        assert failed.value.code == "engine_gone"

    async def again(engine: Engine) -> None:
        machine = Machine(engine, _config(image, "engine"))
        try:
            guest = await machine.start()
            assert await guest.control.call("desk") is not None
        finally:
            await machine.reset()

    _on(own, work)
    with pytest.raises(SandboxError) as failed:
        asyncio.run(_find(own))
    assert failed.value.code == "engine_unreachable"
    own.start()
    _on(own, again)
    own.close()
