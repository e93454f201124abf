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

from installer.containers import COMING_UP, EngineError, alone, answers, unmount

IMAGES = Path(__file__).resolve().parent.parent / "build" / "podman"
"""Where its images stay from run to run."""

_PATH = "/usr/sbin:/sbin"

MOST = 20_000
"""Open files, and processes, that a container may have at most."""


def possible() -> bool:
    """Whether this machine can have one."""
    path = f"{os.environ.get('PATH', '')}:{_PATH}"
    return os.geteuid() == 0 and all(shutil.which(name, path=path) for name in ("podman", "catatonit"))


def start(stack: ExitStack, folder: Path, environment: Mapping[str, str]) -> str:
    """Start one over IMAGES, with everything else in `folder`, and wait for it; returns its address. `stack`
    ends it with all that it runs. Raises EngineError, also where another run has it."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    if not alone(stack, IMAGES):
        raise EngineError("another run of the tests uses its Podman")
    data, address = IMAGES / "data", f"unix://{folder}/podman.sock"
    for forgotten in ("libpod", "volumes"):  # it refuses what it remembers from another folder
        shutil.rmtree(data / forgotten, ignore_errors=True)
    told = folder / "containers.conf"
    told.write_text(_configuration(), encoding="utf-8")
    path = f"{environment.get('PATH', '')}:{_PATH}"
    mine = {**environment, "PATH": path, "CONTAINERS_CONF": str(told)}
    command = ["podman", f"--root={data}", f"--runroot={folder}/run", f"--tmpdir={folder}/podman"]
    command.append("--events-backend=file")
    log = stack.enter_context((folder / "podman.log").open("ab"))
    stack.callback(unmount, folder, data)
    process = subprocess.Popen(
        [*command, "system", "service", "--time=0", address],
        env=mine,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    stack.callback(_stop, process, command, mine)
    deadline = time.monotonic() + COMING_UP
    while not answers(address):
        if process.poll() is not None or time.monotonic() > deadline:
            said = (folder / "podman.log").read_text("utf-8", "replace").strip()[-500:]
            raise EngineError(f"Podman did not come up within {COMING_UP:.0f} s: {said}")
        time.sleep(0.05)
    return address


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


def _stop(process: subprocess.Popen[bytes], command: list[str], environment: Mapping[str, str]) -> None:
    """End it, and what it was made to run."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    all_of_it = [*command, "rm", "--all", "--force", "--time=0"]
    subprocess.run(all_of_it, env=environment, capture_output=True, timeout=60, check=False)
