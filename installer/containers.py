"""A container engine of the tests' own, and the Debian they build the sandbox's image on."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil

BASE = "orion-test-base:bookworm"
"""The image that tests name as BASE_IMAGE."""

PATIENCE = 600.0
"""Seconds that the base image may take; half a minute is usual."""

COMING_UP = 40.0
"""Seconds that the engine may take to answer."""

_DAEMON = "/usr/sbin/dockerd"
_ROOT = Path(__file__).resolve().parent.parent
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


class EngineError(Exception):
    """The engine could not be started; the text says why."""


class BaseImageError(Exception):
    """The base image could not be made; the text says why."""


def engine(stack: ExitStack, environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The variables that lead to an engine: none where one answers already or none can be started.

    The private one keeps its images in build/docker from run to run and everything else in `folder`; it
    has no network of its own, and `stack` ends it with all that it runs. Raises EngineError.
    """
    if answers(environment.get("DOCKER_HOST", "unix:///var/run/docker.sock")):
        return {}
    if os.geteuid() != 0 or not Path(_DAEMON).exists():
        return {}
    images = _ROOT / "build" / "docker"
    images.mkdir(parents=True, exist_ok=True)
    if not alone(stack, images):
        return {}
    address, _process = start(stack, images / "data", folder, environment)
    return {"DOCKER_HOST": address}


def start(
    stack: ExitStack,
    images: Path,
    folder: Path,
    environment: Mapping[str, str],
    within: Sequence[str] = (),
) -> tuple[str, subprocess.Popen[bytes]]:
    """Start an engine over the folder `images` and wait for it; returns its address and its process.
    `within` is a command that runs it elsewhere, for example in another network namespace."""
    address = f"unix://{folder}/docker.sock"
    command = [*within, _DAEMON, f"--host={address}", f"--data-root={images}", f"--exec-root={folder}/exec"]
    command += [f"--pidfile={folder}/docker.pid", "--bridge=none", "--iptables=false", "--ip-masq=false"]
    path = f"{environment.get('PATH', '')}:/usr/sbin:/sbin"
    log = stack.enter_context((folder / "dockerd.log").open("ab"))
    process = subprocess.Popen(
        command,
        env={**environment, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    stack.callback(stop, process, folder, images)
    deadline = time.monotonic() + COMING_UP
    while not answers(address):
        if process.poll() is not None or time.monotonic() > deadline:
            said = (folder / "dockerd.log").read_text("utf-8", "replace").strip()[-500:]
            raise EngineError(f"The container engine did not come up within {COMING_UP:.0f} s: {said}")
        time.sleep(0.05)
    return address, process


def stop(process: subprocess.Popen[bytes], folder: Path, images: Path) -> None:
    """End an engine that `start` began, its containers with it, and take away what it left mounted."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _end_orphans(folder)
    unmount(folder, images)


def unmount(*folders: Path) -> None:
    """Take away what is still mounted below `folders`."""
    left = [line.split()[1] for line in Path("/proc/mounts").read_text("utf-8", "replace").splitlines()]
    for place in sorted(left, key=len, reverse=True):
        if place.startswith(tuple(f"{folder}/" for folder in folders)):
            subprocess.run(["umount", "--lazy", place], capture_output=True, check=False)


def _end_orphans(folder: Path) -> None:
    """End what an engine that was killed left running: each container under a keeper that names `folder`."""
    for process in psutil.process_iter(["cmdline"]):
        if any(str(folder) in word for word in process.info["cmdline"] or ()) and process.pid != os.getpid():
            with suppress(psutil.NoSuchProcess):
                for one in (*process.children(recursive=True), process):
                    with suppress(psutil.NoSuchProcess):
                        one.kill()


def answers(address: str) -> bool:
    """Whether an engine answers at `address`."""
    if address.startswith("unix://"):
        return _pings(address.removeprefix("unix://"))
    import docker
    import docker.errors
    import requests.exceptions

    try:
        client = docker.DockerClient(base_url=address, timeout=5)
    except (docker.errors.DockerException, requests.exceptions.RequestException, OSError):
        return False
    client.close()
    return True


def _pings(place: str) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(5)
            line.connect(place)
            line.sendall(b"GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n")
            return b" 200 " in line.recv(256)
    except OSError:
        return False


def alone(stack: ExitStack, images: Path) -> bool:
    """Whether no other run uses the folder; it is ours until the stack ends."""
    lock = stack.enter_context((images / "lock").open("w"))
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def base_image(client: Any) -> str:
    """The name of the base image in the engine of `client` (docker-py), made and imported if missing.

    It trusts the certificates that this machine trusts, so that packages are found behind a proxy too.
    Raises BaseImageError.
    """
    import docker.errors

    try:
        client.images.get(BASE)
    except docker.errors.ImageNotFound:
        archive = _archive(_ROOT / "build" / "sandbox-base.tar")
        name, tag = BASE.split(":")
        changes = [f"ENV PIP_CERT={_CERTIFICATES}"]
        with archive.open("rb") as data:
            client.api.import_image_from_data(data, repository=name, tag=tag, changes=changes)
        with suppress(docker.errors.ImageNotFound):  # Podman 4.3 calls all that is imported the latest
            client.api.tag(f"{name}:latest", name, tag)
    return BASE


def _archive(place: Path) -> Path:
    if place.exists():
        return place
    if shutil.which("mmdebstrap") is None:
        raise BaseImageError("mmdebstrap is not installed")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        made = Path(folder) / "base.tar"
        command = ["mmdebstrap", "--quiet", "--variant=minbase", "--include=ca-certificates"]
        if _CERTIFICATES.exists():
            command.append(f"--customize-hook=copy-in {_CERTIFICATES} {_CERTIFICATES.parent}")
        command += ["bookworm", str(made)]
        environment = dict(os.environ, TMPDIR=folder)
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise BaseImageError(f"mmdebstrap took more than {PATIENCE:.0f} s") from error
        if done.returncode:
            raise BaseImageError(f"mmdebstrap failed: {done.stderr.strip()[-500:]}")
        made.replace(place)
    return place
