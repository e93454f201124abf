"""A machine on a real Podman is as closed as one on Docker, and leaves as little behind."""

from __future__ import annotations

import asyncio
import json
import os
import textwrap
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest

from installer.podman import Podman
from sandbox.container import MachineConfig, code_machine
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.files import GuestFiles
from sandbox.image import ImageBuilder
from sandbox.machine import Machine
from sandbox.shell import GuestShell
from tests.sandbox.conftest import MARK
from tests.sandbox.test_walls import FENCED, HELPER, PROBES

Work = Callable[[Machine], Coroutine[Any, Any, None]]

LOOK = """
import json, os, stat
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
mounts = {line.split()[1]: line.split()[3].split(",") for line in open("/proc/mounts")}
print(json.dumps({
    "capabilities": [int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")],
    "privileges": status["NoNewPrivs"].strip(),
    "network": sorted(os.listdir("/sys/class/net")),
    "root": "ro" in mounts["/"],
    "sizes": {place: sum(option.startswith("size=") for option in mounts[place])
              for place in ("/tmp", "/var/tmp", "/run", "/home/orion", "/dev/shm")},
    "owners": [os.stat(place).st_uid for place in ("/run", "/run/orion", "/home/orion", "/workspace")],
    "shared": [oct(os.stat(place).st_mode & 0o7777) for place in ("/tmp", "/var/tmp")],
}))
"""

FORKS = """
import os, signal
made = 0
try:
    while True:
        if os.fork() == 0:
            signal.pause()
        made += 1
except OSError:
    print(made)
"""


def _with(address: str, name: str, work: Work, *, desktop: bool = True) -> None:
    unique = f"orion-test-{os.getpid()}-{name}"

    async def run() -> None:
        engine = await Engine.find(address)
        config = MachineConfig(name=unique, image=ImageBuilder().tag, volume=unique, labels=MARK)
        machine = Machine(engine, config if desktop else code_machine(config))
        try:
            await work(machine)
        finally:
            await machine.reset()
            await engine.close()

    asyncio.run(run())


def _inside(thing: Any, command: list[str], client: Any) -> Any:
    del client
    return thing.exec_run(command)


async def _run(machine: Machine, code: str) -> str:
    """What Python prints that the guest runs."""
    assert machine.guest is not None
    ran = await GuestShell(machine.guest.control).execute(code, "python", timeout=60)
    return ran.output.strip()


def test_the_desktop_comes_up_works_and_goes(podman: Podman) -> None:
    async def work(machine: Machine) -> None:
        guest = await machine.start()
        assert (guest.screen.width, guest.screen.height) == (1280, 800)
        assert await machine.settled()
        ran = await GuestShell(guest.control).run("id -un; echo kept >/workspace/kept; touch ~/x /var/tmp/x")
        assert (ran.output, ran.code) == ("orion\n", 0)
        assert (await GuestFiles(guest.bulk).read("kept")).data == b"kept\n"
        await machine.stop()
        assert (await machine.status()).phase == "absent"
        ran = await GuestShell((await machine.start()).control).run("cat /workspace/kept")
        assert ran.output == "kept\n"
        await machine.reset()
        found = await machine.status()
        assert (found.phase, found.volume_present, found.missing_limits) == ("absent", False, ())

    _with(podman.address, "whole", work)


def test_the_wall_stands_as_it_does_on_docker(podman: Podman) -> None:
    async def work(machine: Machine) -> None:
        await machine.start()
        found = json.loads(await _run(machine, LOOK))
        assert found == {
            "capabilities": [0, 0, 0, 0],
            "privileges": "1",
            "network": ["lo"],
            "root": True,
            "sizes": dict.fromkeys(("/tmp", "/var/tmp", "/run", "/home/orion", "/dev/shm"), 1),
            "owners": [1000] * 4,
            "shared": ["0o1777"] * 2,
        }

    _with(podman.address, "wall", work)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of the calls are those of x86-64")
def test_nothing_inside_gets_what_it_should_not_have(podman: Podman) -> None:
    async def work(machine: Machine) -> None:
        thing = await machine.up()
        for what, (action, ways) in PROBES.items():
            attempt = f"attempt(lambda: {action.removeprefix('time_was = ')})"
            command = [*FENCED, "python3", "-I", "-c", HELPER + textwrap.dedent(attempt)]
            done = await machine.engine.call(partial(_inside, thing, command))
            said = bytes(done.output).decode("utf-8", "replace").strip()
            way = "not allowed" if "not allowed" in said else said.rpartition("held ")[2]
            assert way in ways, f"{what}: {said}"

    _with(podman.address, "probes", work)


def test_memory_and_processes_are_limited(podman: Podman) -> None:
    async def work(machine: Machine) -> None:
        await machine.start()
        assert machine.guest is not None
        shell = GuestShell(machine.guest.control)
        ran = await shell.execute("x = bytearray(900_000_000)", "python", timeout=60)
        assert (ran.code, ran.out_of_memory) == (-9, True)
        ran = await shell.execute(FORKS, "python", timeout=60)
        assert 0 < int(ran.output) < 128
        assert await _run(machine, "print('here')") == "here"

    _with(podman.address, "small", work, desktop=False)


def test_a_killed_container_is_named(podman: Podman) -> None:
    async def work(machine: Machine) -> None:
        await machine.start()
        lost = asyncio.create_task(machine.wait_lost())
        await machine.engine.call(lambda client: client.api.kill(machine.config.name))
        assert (await lost).code == "container_gone"

    _with(podman.address, "killed", work, desktop=False)


def test_a_volume_of_somebody_else_is_left_alone(podman: Podman) -> None:
    async def work(machine: Machine) -> None:
        name = machine.config.workspace
        await machine.engine.call(lambda client: client.volumes.create(name=name, labels=MARK))
        with pytest.raises(SandboxError) as refused:
            await machine.start()
        assert refused.value.code == "name_taken"
        await machine.engine.call(lambda client: client.volumes.get(name).remove())

    _with(podman.address, "taken", work, desktop=False)
