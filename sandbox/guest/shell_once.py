"""Programs that run once: code given as text, in a process of its own that nothing outlives."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sandbox.guest import shell_processes
from sandbox.guest.call import Call, PeerError
from sandbox.guest.shell_bash import HOME, environment, folder_or_near
from sandbox.guest.shell_pipe import Pipe
from sandbox.guest.shell_watch import Watch, bounds, received, unhurried

PROGRAMS = {"python": ("python3", "main.py"), "bash": ("bash", "main.sh")}

# Where memory ends, the kernel takes the code and not the guest.
_FIRST_TO_GO = '{ builtin printf 1000 >/proc/self/oom_score_adj; } 2>/dev/null; exec "$@"'


class Once:
    """Runs code. `alone`: nothing else lives in this container, so one run goes after the other and every
    process that a run leaves is killed, wherever it hid."""

    def __init__(self, *, alone: bool, home: str = HOME) -> None:
        self._alone = alone
        self._home = home
        self._turn = asyncio.Lock()

    async def run(self, call: Call) -> dict[str, Any]:
        """`process.run`; see `sandbox.guest.shell.operations`."""
        program = PROGRAMS.get(str(call.arguments.get("language", "")))
        if program is None:
            raise PeerError("language", ", ".join(PROGRAMS))
        code = await received(call)
        halted = asyncio.Event()
        return await unhurried(self._in_turn(call, program, code, halted), halted)

    async def _in_turn(
        self, call: Call, program: tuple[str, str], code: str, halted: asyncio.Event
    ) -> dict[str, Any]:
        if not self._alone:
            return await self._placed(call, program, code, halted)
        async with self._turn:
            return await self._placed(call, program, code, halted)

    async def _placed(
        self, call: Call, program: tuple[str, str], code: str, halted: asyncio.Event
    ) -> dict[str, Any]:
        try:
            place = Path(tempfile.mkdtemp(prefix="run-"))
        except OSError as error:
            raise PeerError("program_start", error.strerror or str(error)) from error
        try:
            file = place / program[1]
            file.write_bytes(code.encode("utf-8", "surrogateescape"))
            return await self._ran(call, (program[0], str(file)), halted)
        except OSError as error:
            raise PeerError("program_start", error.strerror or str(error)) from error
        finally:
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

    async def _ran(self, call: Call, program: tuple[str, str], halted: asyncio.Event) -> dict[str, Any]:
        timeout, limit = bounds(call)
        before = frozenset(shell_processes.ids(shell_processes.table().values()))
        kills, started = shell_processes.killed_for_memory(), time.monotonic()
        watch = Watch(limit, call.send, halted)
        pipe = Pipe(watch.heard)
        pipe.paced = lambda: watch.output.flooded
        try:
            process = await self._process(program, pipe)
            pipe.close_inlet()
            done = asyncio.create_task(process.wait())
            why = await watch.until(done, timeout)
            with suppress(ProcessLookupError):
                if process.returncode is None:
                    process.kill()
            await self._swept(process.pid, before)
            await done
            pipe.drain()
        finally:
            pipe.close()
            await watch.finish()
        return {
            "code": done.result(),
            "stopped": why,
            "omitted": watch.output.omitted,
            "out_of_memory": shell_processes.killed_for_memory() > kills,
            "seconds": round(time.monotonic() - started, 3),
        }

    async def _process(self, program: tuple[str, str], pipe: Pipe) -> asyncio.subprocess.Process:
        home = folder_or_near(self._home)
        return await asyncio.create_subprocess_exec(
            *("/bin/bash", "--noprofile", "--norc", "-c", _FIRST_TO_GO, "bash", *program),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe.inlet,
            stderr=pipe.inlet,
            start_new_session=True,
            env=environment() | {"PYTHONPATH": home, "PYTHONUNBUFFERED": "1"},
            cwd=home,
        )

    async def _swept(self, root: int, before: frozenset[tuple[int, int]]) -> None:
        await asyncio.to_thread(shell_processes.kill_family, root)
        if self._alone:
            await asyncio.to_thread(shell_processes.kill_newer, before)
