"""The speech services as a program of its own: `orion voice serve` on free ports, ended with Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.runtime.cli.commands import command

PATIENCE = 30.0


@dataclass(frozen=True)
class Running:
    """The addresses of the services, with /v1 at their end, and the process."""

    speech: str
    transcription: str
    child: subprocess.Popen[str]

    def stop(self, number: int = signal.SIGINT) -> tuple[int, float]:
        """Send a signal; the exit code and the seconds until the end."""
        begun = time.monotonic()
        self.child.send_signal(number)
        code = self.child.wait(PATIENCE)
        return code, time.monotonic() - begun


@contextmanager
def running(home: Path, *options: str, **env: str) -> Iterator[Running]:
    """The services with `home` as their ORION_HOME; they take connections when the block begins."""
    ports = () if "--speech-port" in options else ("--speech-port", "0", "--transcription-port", "0")
    child = subprocess.Popen(
        command("voice", "serve", "--json", *ports, *options),
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"ORION_HOME": str(home)} | env,
    )
    assert child.stdout is not None
    try:
        told = child.stdout.readline()
        assert told, f"it ended with {child.wait(PATIENCE)}"
        yield Running(**json.loads(told), child=child)
    finally:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(PATIENCE)
        finally:
            child.kill()
            child.wait()
            child.stdout.close()
