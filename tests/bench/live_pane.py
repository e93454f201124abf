"""How soon a change on the sandbox's screen is painted in the window, how smooth a moving page is there, and
what an open pane costs while nothing changes.

The guest's clock and the host's must be one: the engine has to run on this machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox.container import MachineConfig
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.machine import Machine
from tests.bench.figure import Figure, percentile
from tests.bench.live_frames import _BROWSER, _PAGE, _PAINTER, CHANGES
from tests.bench.sandbox_house import program
from tests.bench.window_house import ROOT, scripted_home

SECONDS = 8.0
QUIET = 15.0
PATIENCE = 100
"""Half seconds until the page moves."""
MARKED = 77 << 16
"""The red of the colours with which the page counts its frames."""


class Window:
    """A running window with the pane open."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def next(self, name: str) -> dict[str, Any]:
        """The next line that tells `name`; RuntimeError when the window ended before."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{") and name in (facts := json.loads(line)):
                return dict(facts)
        raise RuntimeError(f"the window ended with {self._process.wait()} and never told {name!r}")

    def told(self, after: float = 0.0) -> dict[str, Any]:
        """What it painted since the last time, until so many seconds from now."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{after}\n")
        self._process.stdin.flush()
        return self.next("seen")


@contextmanager
def window(home: Path, name: str) -> Iterator[Window]:
    """The window on the test-bed's screen, its sandbox in the container `name`; ended politely."""
    environment = os.environ | {"ORION_HOME": str(home), "COMPUTER_USE_CONTAINER": name}
    environment["QT_QPA_PLATFORM"] = "xcb" if "TESTBED" in os.environ else "offscreen"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.live_window"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Window(process)
    finally:
        try:
            process.communicate("\n", timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def measure(*, peers: bool = False) -> list[Figure]:
    """Nothing where there is no engine."""
    del peers
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        home = Path(folder)
        scripted_home(home)
        try:
            return asyncio.run(_measured(home))
        except SandboxError as error:
            print(f"live_pane: no sandbox ({error}), nothing measured")
            return []


async def _measured(home: Path) -> list[Figure]:
    name = f"orion-bench-{os.getpid()}-pane"
    engine = await Engine.find()
    made = Machine(engine, MachineConfig(name=name, volume=f"{name}-workspace"))
    try:
        with window(home, name) as shown:
            if not shown.next("running")["running"]:
                raise SandboxError("start_failed", reason="the pane")
            container = await engine.call(lambda client: client.containers.get(name))
            shown.told()
            delays = await _delays(made, shown, container)
            shown.told()
            idle = shown.told(QUIET)
            moving = await _moving(made, shown, container)
    finally:
        await made.reset()
        await engine.close()
    frames = {int(c) & 0xFFFF: when for c, when in moving["seen"]["scrolled"].items() if _marked(int(c))}
    first, last = min(frames), max(frames)
    seconds = frames[last] - frames[first]
    rate, drawn = (len(frames) - 1) / seconds, (last - first) / seconds
    rounds = moving["beats"]
    return [
        Figure("live_pane_p50", percentile(delays, 50), "ms", 60.0, "lower", {}),
        Figure("live_pane_p95", percentile(delays, 95), "ms", 120.0, "lower", {}),
        Figure("live_pane_rate", rate, "1/s", 20.0, "higher", {"drawn by the page": drawn}),
        Figure("live_pane_stall", max(rounds), "ms", 50.0, "lower", {"p99": percentile(rounds, 99)}),
        Figure(
            "live_pane_idle",
            100 * idle["processor"] / QUIET,
            "%",
            3.0,
            "lower",
            {
                "painted meanwhile": float(idle["painted"]),
                "while it moves": 100 * moving["processor"] / SECONDS,
            },
        ),
    ]


async def _delays(made: Machine, shown: Window, container: Any) -> list[float]:
    """Milliseconds from a drawing in the guest until it was painted in the pane."""
    said = await program(made, container, _PAINTER, str(CHANGES))
    seen = {int(colour): when for colour, when in shown.told(0.5)["seen"]["drawn"].items()}
    drawn = {int(n): float(when) for n, when in (line.split() for line in said.splitlines())}
    delays = [1000 * (seen[0x800000 + n] - when) for n, when in drawn.items() if 0x800000 + n in seen]
    if len(delays) < 0.9 * CHANGES:
        raise RuntimeError(f"only {len(delays)} of {CHANGES} changes were seen")
    return delays


async def _moving(made: Machine, shown: Window, container: Any) -> dict[str, Any]:
    """What was painted in SECONDS of a page that scrolls."""
    await program(made, container, _BROWSER, _PAGE)
    for _ in range(PATIENCE):
        if sum(_marked(int(colour)) for colour in shown.told(0.5)["seen"]["scrolled"]) >= 10:
            break
    else:
        raise RuntimeError("the page never moved in the pane")
    shown.told(2.0)
    return shown.told(SECONDS)


def _marked(colour: int) -> bool:
    return colour & 0xFF0000 == MARKED
