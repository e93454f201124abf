"""Runs the kill campaigns one after the other: whole program, worker of the local model, downloads."""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """The exit code is 0 when no campaign found a loss."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--program", type=int, default=1000, help="kills of the whole program")
    parser.add_argument("--worker", type=int, default=200, help="kills of the worker")
    parser.add_argument("--downloads", type=int, default=100, help="kills of a program that downloads")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    chosen = parser.parse_args()
    print(f"--seed {chosen.seed}", flush=True)
    codes = [
        _campaign("program_kills", chosen.program, chosen.seed),
        _campaign("worker_kills", chosen.worker, chosen.seed),
        _campaign("download_kills", chosen.downloads, chosen.seed),
    ]
    return max(codes)


def _campaign(name: str, kills: int, seed: int) -> int:
    if not kills:
        return 0
    command = [sys.executable, "-m", f"tests.soak.{name}", "--kills", str(kills), "--seed", str(seed)]
    return subprocess.call(command, cwd=ROOT)


if __name__ == "__main__":
    raise SystemExit(main())
