"""How soon a picture of the sandbox's screen is in the host's hands, beside a process started for each."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Literal

from sandbox.channel import Guest
from sandbox.errors import SandboxError
from sandbox.machine import Machine
from tests.bench.figure import Figure, percentile
from tests.bench.sandbox_house import elapse, machine, program

ROUNDS = 60

_GRAB = """
import io, sys
from PIL import ImageGrab
ImageGrab.grab(xdisplay="").save(sys.stdout.buffer, "PNG", compress_level=1)
"""
"""A screenshot by a process of its own."""

_OPEN = """
import subprocess
for command in (['lxterminal', '-e', 'sh -c "ls -la /usr/bin; sleep 1000"'], ['pcmanfm', '/usr']):
    subprocess.Popen(command, start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
"""


def measure(*, peers: bool = False) -> list[Figure]:
    """Nothing where there is no engine."""
    del peers
    try:
        return asyncio.run(_measured())
    except SandboxError as error:
        print(f"screenshot: no sandbox ({error}), nothing measured")
        return []


async def _measured() -> list[Figure]:
    async with machine() as (made, guest, container):
        await program(made, container, _OPEN)
        await elapse(4)
        found = await _rounds(made, guest, container)
        size = len(await guest.screen.picture()) / 1000
    reference = {f"{name}, p50": percentile(times, 50) for name, times in found.items() if name != "png"}
    reference |= {"p95": percentile(found["png"], 95), "fastest": min(found["png"]), "size (kB)": size}
    return [Figure("screenshot", percentile(found["png"], 50), "ms", 30.0, "lower", reference)]


async def _rounds(made: Machine, guest: Guest, container: Any) -> dict[str, list[float]]:
    """Milliseconds of each way, taken in turn."""
    times: dict[str, list[float]] = {
        "png": [],
        "JPEG": [],
        "half the size": [],
        "docker exec of a screenshot": [],
    }
    for n in range(ROUNDS):
        for name in times:
            begun = time.perf_counter()
            form: Literal["png", "jpeg"] = "jpeg" if name == "JPEG" else "png"
            if name.startswith("docker"):
                if n % 6:
                    continue
                await made.engine.call(lambda client: container.exec_run(["python3", "-c", _GRAB]))
            else:
                await guest.screen.picture(form=form, size=(640, 400) if name.startswith("half") else None)
            times[name].append(1000 * (time.perf_counter() - begun))
    return times
