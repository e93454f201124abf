"""A real engine, the real image and started machines; what a test makes is labelled, and none of it stays."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psutil
import pytest

import installer.podman
from installer import containers
from installer.podman import Podman
from sandbox import container
from sandbox.container import MachineConfig
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.machine import Machine
from tests.conftest import missing
from tests.sandbox.prepared import built

if TYPE_CHECKING:
    from sandbox.channel import Guest

T = TypeVar("T")

MARK = {"orion.test": str(os.getpid())}
"""Lies on every container and volume of this run."""

PATIENCE = 60.0
"""Seconds that one step on a machine may take."""


class Stage:
    """A machine on an event loop that lives as long as a module's tests; `run` carries a coroutine there."""

    def __init__(self, engine: Engine, config: MachineConfig) -> None:
        self.machine = Machine(engine, config)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="stage")
        self._thread.start()
        self.run(_warm_up(self._loop))

    @property
    def guest(self) -> Guest:
        """The attached guest."""
        assert self.machine.guest is not None
        return self.machine.guest

    def run(self, work: Coroutine[Any, Any, T], timeout: float = PATIENCE) -> T:
        """The result of `work`, done on the stage's loop."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            raise

    def close(self) -> None:
        """Remove the machine with its volume and end the loop."""
        try:
            self.run(self.machine.stop())
        finally:
            self.run(self._loop.shutdown_default_executor())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(PATIENCE)
            self._loop.close()


async def _warm_up(loop: asyncio.AbstractEventLoop) -> None:
    """Start the threads that work on this loop may need, so that none appears in the middle of a test."""
    count = min(32, (os.cpu_count() or 1) + 4)
    meeting = threading.Barrier(count)
    await asyncio.gather(*(loop.run_in_executor(None, meeting.wait) for _ in range(count)))


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """The container engine; what this run made and left is removed at the end, and named as a failure."""

    async def find() -> Engine:
        engine = await Engine.find()
        meeting = threading.Barrier(4)
        await asyncio.gather(*(engine.call(lambda client: meeting.wait()) for _ in range(4)))
        return engine

    try:
        found = asyncio.run(find())
    except SandboxError as error:
        missing(f"a container engine ({error.code})")
        raise
    asyncio.run(found.call(_bury))
    yield found
    left = asyncio.run(found.call(_clear))
    asyncio.run(found.close())
    assert not left, f"left behind: {', '.join(left)}"


def _bury(client: Any) -> None:
    """Remove what runs on this machine left that were killed: their mark names a process that is gone."""
    everything = {"label": ["orion.test"]}
    made = [(thing, thing.labels) for thing in client.containers.list(all=True, filters=everything)]
    made += [(thing, thing.attrs["Labels"]) for thing in client.volumes.list(filters=everything)]
    for thing, labels in made:
        mark = labels["orion.test"]
        if mark.isdigit() and not psutil.pid_exists(int(mark)):
            thing.remove(force=True)


def _clear(client: Any) -> list[str]:
    """Remove what this run made; returns the names."""
    mark = {"label": [f"{key}={value}" for key, value in MARK.items()]}
    left = []
    for thing in client.containers.list(all=True, filters=mark):
        left.append(f"container {thing.name}")
        thing.remove(force=True, v=True)
    for thing in client.volumes.list(filters=mark):
        left.append(f"volume {thing.name}")
        thing.remove(force=True)
    return left


@pytest.fixture(scope="session")
def image(engine: Engine) -> str:
    """The name of the real image, built from the test-bed's base image where it is not there yet."""
    try:
        return asyncio.run(built(engine))
    except containers.BaseImageError as problem:
        missing(f"the base image of the sandbox ({problem})")
        raise


@pytest.fixture(scope="module")
def podman() -> Iterator[Podman]:
    """A Podman of this module's own that has the image; nothing may be left in it. Who kills it closes it."""
    if not installer.podman.possible():
        missing("Podman for root, with catatonit")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="orion-podman-")))
        made = installer.podman.start(stack, folder, os.environ)
        asyncio.run(_on(made.address, built))
        yield made
        if containers.answers(made.address):
            left = asyncio.run(_on(made.address, lambda engine: engine.call(_clear)))
            assert not left, f"left behind in Podman: {', '.join(left)}"


async def _on(address: str, work: Callable[[Engine], Coroutine[Any, Any, T]]) -> T:
    engine = await Engine.find(address)
    try:
        return await work(engine)
    finally:
        await engine.close()


@pytest.fixture(scope="session")
def config(image: str, request: pytest.FixtureRequest) -> Callable[[str], MachineConfig]:
    """Configurations of machines under names of this run, each with a volume of its own."""

    def make(name: str) -> MachineConfig:
        unique = f"orion-test-{os.getpid()}-{name}"
        return MachineConfig(name=unique, image=image, volume=unique, labels=MARK)

    return make


@pytest.fixture(scope="module")
def guest_machine(
    engine: Engine, config: Callable[[str], MachineConfig], request: pytest.FixtureRequest
) -> Iterator[Stage]:
    """A started desktop machine with its guest attached, for one module."""
    yield from _staged(engine, config(_short(request)))


@pytest.fixture(scope="module")
def code_machine(
    engine: Engine, config: Callable[[str], MachineConfig], request: pytest.FixtureRequest
) -> Iterator[Stage]:
    """A started machine that only runs code, with its guest attached, for one module."""
    yield from _staged(engine, container.code_machine(config(_short(request))))


@pytest.fixture(scope="module")
def bare_container(
    engine: Engine, config: Callable[[str], MachineConfig], request: pytest.FixtureRequest
) -> Iterator[Any]:
    """A running desktop container (docker-py) without a guest, for tests that attach themselves."""
    machine = Machine(engine, config(f"{_short(request)}-bare"))
    thing = asyncio.run(machine.up())
    try:
        yield thing
    finally:
        asyncio.run(machine.reset())


@pytest.fixture
def machine(image: str, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of the container that the whole program makes in this test, with a volume of its own."""
    name = f"orion-test-{os.getpid()}-whole"
    monkeypatch.setenv("COMPUTER_USE_CONTAINER", name)
    monkeypatch.setenv("COMPUTER_USE_IMAGE", image)
    monkeypatch.setenv("ORION_SANDBOX_MARK", str(os.getpid()))
    yield name
    left = Machine(engine, MachineConfig(name=name, volume=f"{name}-workspace"))
    asyncio.run(left.reset())


def _staged(engine: Engine, config: MachineConfig) -> Iterator[Stage]:
    stage = Stage(engine, config)
    try:
        stage.run(stage.machine.start())
        yield stage
    finally:
        stage.close()
        asyncio.run(Machine(engine, config).reset())


def _short(request: pytest.FixtureRequest) -> str:
    return str(request.module.__name__).rpartition(".")[2].removeprefix("test_").replace("_", "-")
