"""The base image of the sandbox for tests: a Debian made by mmdebstrap, no registry is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

BASE = "orion-test-base:bookworm"
"""The image that tests name as BASE_IMAGE."""

PATIENCE = 600.0
"""Seconds that the base image may take; half a minute is usual."""

_ROOT = Path(__file__).resolve().parent.parent
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


class BaseImageError(Exception):
    """The base image could not be made; the text says why."""


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
