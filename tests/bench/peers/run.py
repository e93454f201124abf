"""Runs the peers' scripts in their own environment and collects what they print."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.bench.figure import percentile

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / "build" / "peers" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LOOPS = {
    "smolagents": "loop_smolagents",
    "openai-agents": "loop_openai_agents",
    "pydantic-ai": "loop_pydantic_ai",
    "langgraph": "loop_langgraph",
}
TIMEOUT = 600


def available() -> bool:
    """Whether the peers' environment was built (`make bench-peers` does)."""
    return PYTHON.exists()


def loop_steps(steps: int, warm: int) -> dict[str, float]:
    """p95 milliseconds of a step through each framework, in memory, without a journal."""
    found: dict[str, float] = {}
    for name, script in LOOPS.items():
        times = call(script, str(steps))
        if times:
            found[f"{name} (keeps nothing)"] = percentile(times[warm:], 95)
    return found


def call(script: str, *arguments: str) -> list[float]:
    """The list of numbers that a script of this folder prints as its last line; empty when it fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"OPENAI_AGENTS_DISABLE_TRACING": "1", "HF_HUB_OFFLINE": "1"}
    try:
        done = subprocess.run(
            [str(PYTHON), str(ROOT / "tests" / "bench" / "peers" / f"{script}.py"), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f"{script} took longer than {TIMEOUT} s and is left out", file=sys.stderr)
        return []
    if done.returncode:
        print(f"{script} failed: {done.stderr.strip()[-800:]}", file=sys.stderr)
        return []
    numbers: list[float] = json.loads(done.stdout.strip().splitlines()[-1])
    return numbers
