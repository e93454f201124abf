"""A machine starts, is taken over, stops and is reset, and touches nothing that is not its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from sandbox.container import FENCED, SPEC, MachineConfig, code_machine, create_arguments
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.machine import Machine
from tests.sandbox.conftest import MARK

Configure = Callable[[str], MachineConfig]


def _with(
    engine: Engine, config: MachineConfig, work: Callable[[Machine], Coroutine[Any, Any, None]]
) -> None:
    """Run `work` on a machine that is reset in the end."""

    async def run() -> None:
        machine = Machine(engine, config)
        try:
            async with asyncio.timeout(60):
                await work(machine)
        finally:
            await machine.reset()

    asyncio.run(run())


async def _inspect(engine: Engine, name: str) -> dict[str, Any]:
    return await engine.call(lambda client: dict(client.api.inspect_container(name)))


def test_it_goes_from_nothing_to_running_and_back(engine: Engine, config: Configure) -> None:
    async def work(machine: Machine) -> None:
        assert (await machine.status()).phase == "absent"
        assert await machine.logs() == ""
        told: list[str] = []
        guest = await machine.start(told.append)
        assert told[-1] == "attaching"
        assert guest.screen.width == 1280
        status = await machine.status()
        assert (status.phase, status.volume_present, status.image_present) == ("running", True, True)
        await machine.stop()
        await machine.stop()
        status = await machine.status()
        assert (status.phase, status.volume_present) == ("absent", True)
        await machine.reset()
        assert not (await machine.status()).volume_present

    _with(engine, config("machine"), work)


def test_the_engine_got_every_limit(engine: Engine, config: Configure) -> None:
    chosen = config("limits")

    async def work(machine: Machine) -> None:
        await machine.up()
        made = (await _inspect(engine, chosen.name))["HostConfig"]
        assert made["NetworkMode"] == "none"
        assert made["CapDrop"] == ["ALL"] or "SETUID" in made["CapDrop"]  # Podman names each of them
        assert not made["CapAdd"]
        assert made["SecurityOpt"] == ["no-new-privileges"]
        assert made["ReadonlyRootfs"] is True
        assert made["Privileged"] is False
        assert made["PidsLimit"] == 512
        assert 0 < made["Memory"] <= 4096 << 20
        assert 0 < made["NanoCpus"] <= 4_000_000_000
        (bound,) = made["Binds"] or [f"{chosen.volume}:/workspace:rw"]
        assert bound.split(",")[0] == f"{chosen.volume}:/workspace:rw"
        assert not made["Devices"]
        assert made["Init"] is False

    _with(engine, chosen, work)


def test_the_workspace_is_filled_once_and_outlives_the_container(engine: Engine, config: Configure) -> None:
    async def work(machine: Machine) -> None:
        thing = await machine.up()
        folders = {"code", "experiments", "notes", "self_modifications", "logs"}
        listed = await engine.call(lambda client: thing.exec_run(["ls", "/workspace"]).output)
        assert set(listed.decode().split()) == folders
        identity = machine.volume_identity
        kept = ["sh", "-c", "echo kept > notes/mine && rmdir code"]
        assert (await engine.call(lambda client: thing.exec_run(kept))).exit_code == 0
        await machine.stop()
        thing = await machine.up()
        read = await engine.call(lambda client: thing.exec_run(["sh", "-c", "cat notes/mine; ls"]).output)
        assert read.decode().split() == ["kept", "experiments", "logs", "notes", "self_modifications"]
        assert machine.volume_identity == identity
        await machine.reset()
        await machine.up()
        assert machine.volume_identity not in ("", identity)

    _with(engine, config("workspace"), work)


def test_a_running_machine_is_taken_over_and_an_outdated_one_replaced(
    engine: Engine, config: Configure
) -> None:
    chosen = config("taken")

    async def work(machine: Machine) -> None:
        first = await machine.up()
        assert (await Machine(engine, chosen).up()).id == first.id
        smaller = MachineConfig(**{**vars(chosen), "memory_mb": 1024})
        second = await Machine(engine, smaller).up()
        assert second.id != first.id
        made = await _inspect(engine, chosen.name)
        wanted = create_arguments(smaller, chosen.image, await engine.info())
        assert made["Config"]["Labels"][SPEC] == wanted["labels"][SPEC]

    _with(engine, chosen, work)


def test_another_ones_container_and_volume_are_left_alone(engine: Engine, config: Configure) -> None:
    chosen = config("other")

    async def run() -> None:
        def place(client: Any) -> Any:
            client.volumes.create(chosen.workspace, labels=MARK)
            return client.containers.create(chosen.image, ["true"], name=chosen.name, labels=MARK)

        thing = await engine.call(place)
        machine = Machine(engine, chosen)
        try:
            for work in (machine.up, machine.stop, machine.reset, machine.status, machine.logs):
                with pytest.raises(SandboxError) as failed:
                    await work()
                assert failed.value.code == "name_taken"
            assert (await _inspect(engine, chosen.name))["Id"] == thing.id
        finally:
            await engine.call(lambda client: thing.remove(force=True))
            await engine.call(lambda client: client.volumes.get(chosen.workspace).remove())

    asyncio.run(run())


def test_a_machine_of_another_home_is_left_alone(engine: Engine, config: Configure) -> None:
    mine, theirs = (replace(config("home"), owner=owner) for owner in ("mine", "theirs"))

    async def run() -> None:
        machine, other = Machine(engine, mine), Machine(engine, theirs)
        try:
            await machine.up()
            for work in (other.up, other.stop, other.reset, other.status, other.logs):
                with pytest.raises(SandboxError) as failed:
                    await work()
                assert failed.value.code == "name_taken"
            await machine.stop()
            with pytest.raises(SandboxError) as failed:
                await other.up()
            assert failed.value.code == "name_taken"
            assert (await machine.status()).volume_present
        finally:
            await machine.reset()

    asyncio.run(run())


def test_an_image_that_is_not_there_is_named(engine: Engine, config: Configure) -> None:
    async def work(machine: Machine) -> None:
        with pytest.raises(SandboxError) as failed:
            await machine.up()
        assert failed.value.code == "image_missing"
        assert failed.value.fields["image"] == "orion-sandbox:none"

    _with(engine, MachineConfig(**{**vars(config("imageless")), "image": "orion-sandbox:none"}), work)


def test_a_container_that_ends_at_once_says_so(engine: Engine, config: Configure) -> None:
    """Where the screen cannot come up, the container ends and its own words are kept."""
    broken = MachineConfig(**{**vars(config("broken")), "screen": (0, 0)})

    async def work(machine: Machine) -> None:
        with pytest.raises(SandboxError) as failed:
            await machine.start()
        assert failed.value.code in ("guest_failed", "start_failed")
        assert machine.guest is None
        assert "server error" in await machine.logs()

    _with(engine, broken, work)


def test_two_starts_at_once_end_with_one_machine(engine: Engine, config: Configure) -> None:
    chosen = config("twice")

    async def work(machine: Machine) -> None:
        both = await asyncio.gather(machine.up(), Machine(engine, chosen).up())
        assert both[0].id == both[1].id

    _with(engine, chosen, work)


def test_the_machine_for_code_has_no_screen(engine: Engine, config: Configure) -> None:
    async def work(machine: Machine) -> None:
        guest = await machine.start()
        assert guest.screen.width == 0
        assert "Xvfb" not in await _processes(engine, machine)

    _with(engine, code_machine(config("coding")), work)


def test_what_runs_from_the_start_stands_behind_the_fence_and_buries_the_dead(
    engine: Engine, config: Configure
) -> None:
    """A program could make the first process do what the fence keeps from itself."""
    script = """
        for n in 1 2 3; do (setsid true &); done
        grep -h Seccomp_filters: /proc/1/status /proc/self/status
        timeout 20 sh -c 'while cat /proc/[0-9]*/status 2>&- | grep -q "^State:.*Z"; do sleep 0.05; done'
        echo $?
    """

    async def work(machine: Machine) -> None:
        thing = await machine.up()
        said = await engine.call(lambda client: thing.exec_run([*FENCED, "sh", "-c", script]).output)
        first, own, left = said.decode().strip().splitlines()
        assert first == own
        assert left == "0"

    _with(engine, code_machine(config("fenced")), work)


async def _processes(engine: Engine, machine: Machine) -> str:
    top = await engine.call(lambda client: client.containers.get(machine.config.name).top())
    return " ".join(" ".join(row) for row in top["Processes"])


def test_a_desktop_says_when_it_stands_complete(engine: Engine, config: Configure) -> None:
    """The panel is there, whose strip no maximised window may cover."""

    async def work(machine: Machine) -> None:
        thing = await machine.up()
        assert await machine.settled()
        seen = await engine.call(lambda client: thing.exec_run(["xprop", "-root", "_NET_WORKAREA"]).output)
        assert seen.decode().split("=")[1].split() == ["0,", "0,", "1280,", "766"]

    _with(engine, config("complete"), work)


def test_what_the_workspace_takes_is_known_also_when_nothing_runs(engine: Engine, config: Configure) -> None:
    async def work(machine: Machine) -> None:
        assert (await machine.status()).workspace_mb is None
        thing = await machine.up()
        fill = ["head", "-c", "20000000", "/dev/zero"]
        command = ["sh", "-c", f"{' '.join(fill)} >/workspace/fill; sync"]
        await engine.call(lambda client: thing.exec_run(command))
        assert 19 <= ((await machine.status()).workspace_mb or 0) <= 25
        await machine.stop()
        found = await machine.status()
        assert found.phase == "absent"
        assert 19 <= (found.workspace_mb or 0) <= 25

    _with(engine, code_machine(config("takes")), work)
