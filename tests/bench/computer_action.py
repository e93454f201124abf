"""A click on a responsive program with its settle check, from call to verdict, beside `docker exec`."""

from __future__ import annotations

import asyncio
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from sandbox.audit import AuditLog
from sandbox.computer import Computer
from sandbox.errors import SandboxError
from tests.bench.figure import Figure, percentile
from tests.bench.sandbox_house import machine
from tests.sandbox.programs import Programs

ROUNDS = 60
GOAL = 150.0
DELAY = 2000.0
"""Milliseconds that the reference demo sleeps before the screenshot after each action."""


def measure(*, peers: bool = False) -> list[Figure]:
    """Milliseconds of a click on a button of the calculator, interleaved with one `docker exec` of xdotool.
    Nothing where there is no engine."""
    del peers
    try:
        return [asyncio.run(_measure())]
    except SandboxError as error:
        print(f"computer_action: no sandbox ({error}), nothing measured")
        return []


async def _measure() -> Figure:
    times: dict[str, list[float]] = {name: [] for name in ("click", "pictured", "nothing", "exec")}
    verdicts: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        async with machine() as (made, guest, container):
            programs = Programs(guest, Path(folder))
            await programs.start("galculator", "galculator")
            await programs.until(lambda _window, elements: any(e.name == "5" for e in elements))
            keys = {e.name: e for e in await programs.computer.elements()}
            computer = Computer(guest, AuditLog(Path(folder) / "log.jsonl"), lambda event: None)
            for number in range(ROUNDS):
                key = keys["5" if number % 2 else "8"]
                click = {"action": "left_click", "coordinate": list(key.centre)}
                outcome = await _timed(times["click"], computer.perform(click, picture=False))
                verdicts.append(outcome.verdict)
                click = {"action": "left_click", "coordinate": list(keys["C"].centre)}
                await _timed(times["pictured"], computer.perform(click))
                x, y = key.centre
                command = ["xdotool", "mousemove", str(x), str(y), "click", "1"]
                await _timed(times["exec"], made.engine.call(partial(_run, container, command)))
                if number < ROUNDS // 4:
                    nowhere = {"action": "mouse_move", "coordinate": [900 + number, 100]}
                    await _timed(times["nothing"], computer.perform(nowhere, picture=False))
    reference = {
        "p95": percentile(times["click"], 95),
        "least": min(times["click"]),
        "p50 with the picture for the model": percentile(times["pictured"], 50),
        "p50 of a move that changes nothing": percentile(times["nothing"], 50),
        "share of confirmed clicks (1 = all)": verdicts.count("confirmed") / len(verdicts),
        "p50 of one docker exec with xdotool": percentile(times["exec"], 50),
        "the same with the reference demo's fixed delay": percentile(times["exec"], 50) + DELAY,
    }
    return Figure("computer_action", percentile(times["click"], 50), "ms", GOAL, "lower", reference)


def _run(container: Any, command: list[str], client: Any) -> None:
    """What the engine's thread does for the reference."""
    del client
    container.exec_run(command)


async def _timed(times: list[float], work: Any) -> Any:
    """The result of `work`, whose milliseconds are added to `times`."""
    begun = time.perf_counter()
    found = await work
    times.append(1000 * (time.perf_counter() - begun))
    return found
