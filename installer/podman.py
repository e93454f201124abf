"""A Podman of the tests' own, with what a machine without systemd has to tell it."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from installer.containers import COMING_UP, EngineError, alone, answers, unmount

IMAGES = Path(__file__).resolve().parent.parent / "build" / "podman"
"""Where its images stay from run to run."""

_DATA = IMAGES / "data"
_PATH = "/usr/sbin:/sbin"

MOST = 20_000
"""Open files, and processes, that a container may have at most."""


def possible() -> bool:
    """Whether this machine can have one."""
    path = f"{os.environ.get('PATH', '')}:{_PATH}"
    return os.geteuid() == 0 and all(shutil.which(name, path=path) for name in ("podman", "catatonit"))


class Podman:
    """Its service over IMAGES, with everything else in `folder`. Made by `start`, whose stack closes it;
    `address` stays the same when it is killed and started again."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.address = f"unix://{folder}/podman.sock"
        self._folder = folder
        path = f"{environment.get('PATH', '')}:{_PATH}"
        self._environment = {**environment, "PATH": path, "CONTAINERS_CONF": f"{folder}/containers.conf"}
        self._command = ["podman", f"--root={_DATA}", f"--runroot={folder}/run", f"--tmpdir={folder}/podman"]
        self._command += ["--events-backend=file", f"--storage-driver={_driver(folder)}"]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the service and wait until it answers. Raises EngineError."""
        with (self._folder / "podman.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*self._command, "system", "service", "--time=0", self.address],
                env=self._environment,
                cwd=self._folder,  # its keepers of containers leave notes where they stand
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + COMING_UP
        while not answers(self.address):
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = (self._folder / "podman.log").read_text("utf-8", "replace").strip()[-500:]
                raise EngineError(f"Podman did not come up within {COMING_UP:.0f} s: {said}")
            time.sleep(0.05)

    def kill(self) -> None:
        """End the service as a crash would: the containers notice nothing."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the service, and what it was made to run."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        everything = [*self._command, "rm", "--all", "--force", "--time=0"]
        subprocess.run(everything, env=self._environment, capture_output=True, timeout=60, check=False)
        unmount(self._folder, _DATA)


def start(stack: ExitStack, folder: Path, environment: Mapping[str, str]) -> Podman:
    """One that runs. Raises EngineError, also where another run of the tests has it."""
    _DATA.mkdir(parents=True, exist_ok=True)
    if not alone(stack, IMAGES):
        raise EngineError("another run of the tests uses its Podman")
    for forgotten in ("libpod", "volumes"):  # it refuses what it remembers from another folder
        shutil.rmtree(_DATA / forgotten, ignore_errors=True)
    (folder / "containers.conf").write_text(_configuration(), encoding="utf-8")
    made = Podman(folder, environment)
    stack.callback(made.close)
    made.start()
    return made


def _driver(folder: Path) -> str:
    """How layers lie on each other over IMAGES; Podman itself only looks for overlays and gives up."""
    with TemporaryDirectory(dir=IMAGES) as name:
        parts = {part: Path(name, part) for part in ("lower", "upper", "work")}
        for part in parts.values():
            part.mkdir()
        place = folder / "overlay"
        place.mkdir(exist_ok=True)
        options = ",".join(f"{key}dir={part}" for key, part in parts.items())
        command = ["mount", "-t", "overlay", "-o", options, "overlay", str(place)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return "vfs"
        subprocess.run(["umount", str(place)], capture_output=True, check=True)
        return "overlay"


def _configuration() -> str:
    """Limits that this process may hand on, the runtime that is there, and control groups without systemd."""
    limits = []
    for name, number in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC)):
        hard = resource.getrlimit(number)[1]
        most = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
        limits.append(f'"{name}={most}:{most}"')
    runtime = "crun" if shutil.which("crun") else "runc"
    return (
        f"[containers]\ndefault_ulimits = [{', '.join(limits)}]\n"
        f'[engine]\nruntime = "{runtime}"\ncgroup_manager = "cgroupfs"\n'
    )
