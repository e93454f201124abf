"""Pins every dependency with its hashes: run, dev on top of run, build, and the peers of the benchmarks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = Path("installer/locks")
PEERS = ("smolagents", "openai-agents", "pydantic-ai-slim", "langgraph", "xllamacpp")
COMPILE = [".venv/bin/uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
CACHE = ["--cache-dir", "build/lock-cache"]
"""Resolving makes uv forget the engine it has built, so it happens in a cache of its own."""

PLAIN = ["--generate-hashes", "--no-emit-index-url", "--no-header", "--no-annotate"]


def compile_lock(name: str, *sources: str, given: str = "") -> None:
    """Write installer/locks/`name` from `sources`; `given` is read as requirements from "-"."""
    command = [*COMPILE, *CACHE, *PLAIN, *sources, "--output-file", str(LOCKS / name)]
    subprocess.run(command, cwd=ROOT, input=given, text=True, check=True)


def main(chosen: list[str]) -> int:
    """Remake all locks, or only those named; `--upgrade` before the names takes the newest versions."""
    upgrade = ["--upgrade"] if "--upgrade" in chosen else []
    names = [name for name in chosen if not name.startswith("-")] or ["run", "dev", "build", "peers"]
    if "run" in names:
        compile_lock("run.lock", "pyproject.toml", *upgrade)
    if "dev" in names:
        compile_lock("dev.lock", "pyproject.toml", "--group", "dev", "-c", str(LOCKS / "run.lock"), *upgrade)
    if "build" in names:
        compile_lock("build.lock", "--group", "build", *upgrade)
    if "peers" in names:
        compile_lock("peers.lock", "-", *upgrade, given="\n".join(PEERS))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
