"""Starts the window's probe in homes made for measuring."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runtime.journal import Journal
from runtime.sessions import SessionStore
from tests.runtime.scripted_house import Steps, write_profile

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120


class Probe:
    """A running window; `next` reads what it tells."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.pid = process.pid
        self._process = process

    def next(self, name: str) -> dict[str, Any]:
        """The next line with the key `name`; RuntimeError when the window ended before."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{") and name in (facts := json.loads(line)):
                return dict(facts)
        raise RuntimeError(f"the window ended with {self._process.wait()} and never told {name!r}")


@contextmanager
def probe(home: Path, kind: str, *rest: str) -> Iterator[Probe]:
    """The probe of `kind` on the test-bed's screen, or on none where there is no test-bed."""
    environment = os.environ | {"ORION_HOME": str(home)}
    environment["QT_QPA_PLATFORM"] = "xcb" if "TESTBED" in os.environ else "offscreen"
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a second start finds its modules compiled
    command = [sys.executable, "-m", "tests.bench.window_probe", kind, str(time.monotonic()), *rest]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield Probe(process)
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def scripted_home(home: Path, answer: str = "Hello.", delay: float = 0.0) -> None:
    """A home whose first chat speaks with a script that says `answer` again and again."""
    steps: Steps = [{"say": {"text": answer, "delay": delay}}]
    write_profile(home, steps, name="bench", loop=True)
    (home / "settings.yaml").write_text("version: 1\nagent:\n  profile: bench\n", "utf-8")


def long_session(home: Path, messages: int, title: str) -> str:
    """A stored session of `messages` messages, questions and answers with Markdown in them."""
    journal = Journal(None)
    journal.append("session", title=title)
    journal.append("mode", profile="bench", model="")
    for number in range(messages // 2):
        journal.append("user", text=f"Question {number}: what about the {number}th thing?", source="window")
        text = f"Answer **{number}**: it is `thing({number})`, and so on for a line or two.\n\n- yes\n- no"
        if not number % 10:
            text += f"\n\n```python\nprint({number})\n```"
        journal.append("assistant", text=text, reasoning=[], calls=[], complete=True, stop_reason="stop")
        journal.append("done", reason="complete")
    store = SessionStore(home / "sessions", home / "index.db", "bench")
    (home / "sessions").mkdir(parents=True, exist_ok=True)
    records = [json.loads(record.line()) for record in journal.records]
    try:
        return store.import_(json.dumps({"format": "orion-session", "v": 1, "records": records}))
    finally:
        store.close()


def memory(pid: int) -> dict[str, float]:
    """Pss, Rss and private memory of a process in MB (Linux)."""
    found: dict[str, float] = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()[1:]:
        name, size = line.split(":")
        found[name] = int(size.split()[0]) / 1024
    private = found["Private_Clean"] + found["Private_Dirty"]
    return {"Pss": found["Pss"], "Rss": found["Rss"], "private": private}
