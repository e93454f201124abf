"""A certificate for this machine's own address, made for one test."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import missing


def certificate(folder: Path) -> tuple[Path, Path]:
    """The certificate, which is its own authority, and its key."""
    made, key = folder / "certificate.pem", folder / "key.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=engine",
    ]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(made)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        missing("openssl")
    return made, key
