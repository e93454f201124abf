"""A child process that is llama.cpp's own server on loopback; ends when its standard input does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WINDOW = 2048


@contextmanager
def llama_server(model: Path) -> Iterator[str]:
    """Its address while `model` is served."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).resolve()), str(model)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert address, f"the server ended with {process.wait()}"
        yield address
    finally:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main(model: str) -> None:
    """One thread, because several wait for one another without end on a busy machine."""
    import xllamacpp

    door = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the library writes there
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx, parameters.n_parallel = WINDOW, 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    os.write(door, f"{server.listening_address}\n".encode())
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
