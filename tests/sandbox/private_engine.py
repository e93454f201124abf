"""An engine of a test's own, in a network namespace of its own with neighbours, that may be killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from installer import containers

METADATA, NEIGHBOUR = "169.254.169.254", "192.168.77.1"
"""Addresses in the engine's namespace: where clouds keep a machine's secrets, and one of a home network."""

PATIENCE = 20.0


class PrivateEngine:
    """Made by `private_engine`. `address` stays the same when the engine is killed and started again."""

    def __init__(self, folder: Path, namespace: str) -> None:
        self._folder, self._namespace = folder, namespace
        self._stack = ExitStack()
        self.address = f"unix://{folder}/docker.sock"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it over the images that it had."""
        for name in ("docker.pid", "docker.sock", "exec/containerd/containerd.pid"):
            (self._folder / name).unlink(missing_ok=True)
        within = ["nsenter", f"--net=/run/netns/{self._namespace}"]
        images = self._folder / "images"
        images.mkdir(exist_ok=True)
        environment = dict(os.environ)
        _address, self._process = containers.start(self._stack, images, self._folder, environment, within)

    def kill(self) -> None:
        """End it as a crash would: the containers it runs notice nothing."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def outside(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the host in the engine's network namespace."""
        within = ["nsenter", f"--net=/run/netns/{self._namespace}", *command]
        return subprocess.run(within, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def close(self) -> None:
        """End it with all that it runs."""
        self._stack.close()


@contextmanager
def private_engine(folder: Path) -> Iterator[PrivateEngine]:
    """A running engine without images whose neighbours answer HTTP at METADATA and NEIGHBOUR."""
    namespace = f"orion-{os.getpid()}"
    with ExitStack() as stack:
        _run("ip", "netns", "add", namespace)
        stack.callback(_run, "ip", "netns", "delete", namespace)
        inside = ("ip", "-n", namespace)
        _run(*inside, "link", "set", "lo", "up")
        for address in (METADATA, NEIGHBOUR):
            _run(*inside, "address", "add", f"{address}/32", "dev", "lo")
        engine = PrivateEngine(folder, namespace)
        stack.callback(engine.close)
        stack.enter_context(_neighbours(engine, folder, namespace))
        engine.start()
        yield engine


def possible() -> bool:
    """Whether this machine can have one."""
    needed = ("dockerd", "ip", "nsenter")
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    return os.geteuid() == 0 and all(shutil.which(name, path=path) for name in needed)


def copy_image(source: Any, target: Any, name: str) -> None:
    """Bring an image from one engine to another (clients of docker-py)."""
    pieces = source.images.get(name).save(named=name)
    target.api.load_image(b"".join(pieces))


@contextmanager
def _neighbours(engine: PrivateEngine, folder: Path, namespace: str) -> Iterator[None]:
    """A server at every address of the namespace."""
    web = folder / "web"
    web.mkdir()
    (web / "index.html").write_text("a secret of the neighbour", encoding="utf-8")
    command = ["nsenter", f"--net=/run/netns/{namespace}", sys.executable, "-m", "http.server", "80"]
    server = subprocess.Popen(
        command, cwd=web, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while engine.outside("curl", "-sf", f"http://{METADATA}/").returncode:
            assert time.monotonic() < deadline, "the neighbours do not answer"
        yield
    finally:
        server.kill()
        server.wait()


def _run(*command: str) -> None:
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    done = subprocess.run(
        command,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
