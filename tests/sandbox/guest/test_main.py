"""The guest as a process: greeted over two streams, alone in its folder, gone with all it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from sandbox.guest.peer import Peer
from sandbox.guest.streams import streams
from sandbox.shell import GuestShell

ROOT = Path(__file__).resolve().parents[3]


class Started:
    """A guest of two processes, with this end of its streams."""

    def __init__(self, folder: Path, token: str, program: tuple[str, ...] = ("-m", "sandbox.guest")) -> None:
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "ORION_RUN": str(folder)}
        environment["ORION_GUEST"] = f"{folder}|{token}"
        self.processes = [
            subprocess.Popen(
                [sys.executable, "-s", "-P", *program, role, token],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                cwd="/",
            )
            for role in ("control", "bulk")
        ]
        self.tasks: list[asyncio.Task[None]] = []
        self.control: Any = None
        self.bulk: Any = None

    async def begin(self) -> None:
        """Greet it and wait until it serves."""
        self.control, self.bulk = [await self._peer(process) for process in self.processes]
        self.tasks = [asyncio.create_task(peer.run()) for peer in (self.control, self.bulk)]
        await self.control.ready()
        await self.bulk.ready()
        assert await self.control.call("desk") == {"screen": None}

    async def _peer(self, process: subprocess.Popen[bytes]) -> Peer:
        assert process.stdin is not None
        assert process.stdout is not None
        ends = os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno())
        process.stdin.close()
        process.stdout.close()
        return Peer(*await streams(*ends), {}, leads=True)

    async def gone(self) -> None:
        """Wait until both processes have ended."""
        for process in self.processes:
            await asyncio.to_thread(process.wait, 10)


@asynccontextmanager
async def _started(folder: Path, token: str) -> AsyncIterator[Started]:
    found = Started(folder, token)
    try:
        await found.begin()
        yield found
    finally:
        for peer in (found.control, found.bulk):
            peer.close()
        await asyncio.gather(*found.tasks)
        with contextlib.suppress(subprocess.TimeoutExpired):
            await found.gone()
        for process in found.processes:
            process.kill()


async def _sleeper(guest: Started, command: str = "sleep 1000 & echo $!") -> psutil.Process:
    """A process that the guest's shell leaves in the background."""
    ran = await GuestShell(guest.control).run(command)
    return psutil.Process(int(ran.output.split()[-1]))


def test_the_end_of_either_stream_ends_the_guest_and_all_it_started(tmp_path: Path) -> None:
    async def check() -> None:
        for end in ("control", "bulk"):
            async with _started(tmp_path, f"t{end}") as guest:
                child = await _sleeper(guest)
                apart = await _sleeper(guest, "setsid nohup sleep 1000 >/dev/null 2>&1 & echo $!")
                getattr(guest, end).close()
                await guest.gone()
                await asyncio.to_thread(psutil.wait_procs, [child, apart], 10)
                assert not child.is_running()
                assert not apart.is_running()
        assert list(tmp_path.iterdir()) == []

    asyncio.run(check())


def test_a_new_guest_ends_the_one_before_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with _started(tmp_path, "old") as old:
            child = await _sleeper(old)
            async with _started(tmp_path, "new") as new:
                await old.gone()
                assert await asyncio.wait_for(old.control.wait_ended(), 10) == "ended"
                assert not child.is_running()
                assert await new.control.call("desk") == {"screen": None}

    asyncio.run(check())


def test_what_a_killed_guest_started_ends_when_the_next_begins(tmp_path: Path) -> None:
    async def check() -> None:
        async with _started(tmp_path, "old") as old:
            child = await _sleeper(old)
            old.processes[0].kill()
            assert await asyncio.wait_for(old.control.wait_ended(), 10) == "ended"
            assert await asyncio.wait_for(old.bulk.wait_ended(), 10) == "ended"
            assert child.is_running()
            async with _started(tmp_path, "new"):
                await asyncio.to_thread(psutil.wait_procs, [child], 10)
                assert not child.is_running()

    asyncio.run(check())


def test_guests_of_different_folders_leave_one_another_alone(tmp_path: Path) -> None:
    async def check() -> None:
        folders = [tmp_path / "one", tmp_path / "two"]
        for folder in folders:
            folder.mkdir()
        async with _started(folders[0], "one") as one, _started(folders[1], "two"):
            assert await one.control.call("desk") == {"screen": None}

    asyncio.run(check())


def test_it_ends_on_a_request_to_end(tmp_path: Path) -> None:
    async def check() -> None:
        async with _started(tmp_path, "t") as guest:
            guest.processes[0].terminate()
            assert await asyncio.wait_for(guest.control.wait_ended(), 10) == "ended"
            await guest.gone()
            assert guest.processes[0].returncode == 0

    asyncio.run(check())


_STUBBORN = """
import asyncio, sys, types
import sandbox.guest.__main__ as guest

async def never(call):
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass

area = types.ModuleType("stubborn")
area.operations = lambda desk: {"never": never}
sys.modules["sandbox.guest.stubborn"] = area
guest.AREAS, guest.LAST = {"stubborn": False}, 1.0
guest.main(sys.argv[1:])
"""


def test_work_that_cannot_be_cancelled_does_not_keep_it_alive(tmp_path: Path) -> None:
    async def check() -> None:
        guest = Started(tmp_path, "t", ("-c", _STUBBORN))
        await guest.begin()
        call = await guest.control.open("never")
        await call.send(b"begin")
        for peer in (guest.control, guest.bulk):
            peer.close()
        await asyncio.gather(*guest.tasks)
        await guest.gone()

    asyncio.run(check())


def test_it_is_silent_until_it_is_greeted_and_ends_without(tmp_path: Path) -> None:
    guest = Started(tmp_path, "t")
    out, _ = guest.processes[0].communicate(b"", timeout=20)
    assert out == b""
    for process in guest.processes:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()
        process.wait(15)
