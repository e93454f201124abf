"""Fetches the bundled model files as data: downloaded by hash, unpacked, checked, never installed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LOCK = Path("resources/weights.lock")
FOLDER = Path("resources/weights")
CHUNK = 1 << 20


class WeightsError(Exception):
    """A file could not be fetched or is not the file it should be; the text is one sentence."""


def entries(root: Path) -> list[dict[str, Any]]:
    """The files named in weights.lock: name, size in bytes, sha256, licence, source, second_source."""
    found: list[dict[str, Any]] = json.loads((root / LOCK).read_text(encoding="utf-8"))["weights"]
    return found


def absent(root: Path) -> Iterator[dict[str, Any]]:
    """Entries whose file is not there in the right size; contents are checked once, when fetched."""
    for entry in entries(root):
        file = root / FOLDER / entry["name"]
        if not file.is_file() or file.stat().st_size != entry["size"]:
            yield entry


def packages(root: Path) -> list[list[dict[str, Any]]]:
    """The absent entries, those that come out of one package together."""
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in absent(root):
        found.setdefault(entry["source"]["sha256"], []).append(entry)
    return list(found.values())


def fetch(package: list[dict[str, Any]], root: Path, python: Path) -> None:
    """Put the files of one package in place, each whole or not at all; `python` has pip. Raises WeightsError.

    The package is downloaded once.
    """
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as passing:
        file = _download(package[0]["source"], Path(passing), python)
        with zipfile.ZipFile(file) as wheel:
            for entry in package:
                _unpack(wheel, entry, folder / entry["name"])


def _unpack(wheel: zipfile.ZipFile, entry: dict[str, Any], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    digest = hashlib.sha256()
    with wheel.open(entry["source"]["member"]) as source, part.open("wb") as copy:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            copy.write(chunk)
    if digest.hexdigest() != entry["sha256"]:
        part.unlink()
        raise WeightsError(f"The file {entry['name']} has changed at its source and was not kept.")
    os.replace(part, target)


def _download(source: dict[str, str], folder: Path, python: Path) -> Path:
    pinned = folder / "weights.txt"
    pinned.write_text(
        f"{source['distribution']}=={source['version']} --hash=sha256:{source['sha256']}\n", encoding="utf-8"
    )
    pip = [str(python), "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "--no-deps", "--require-hashes", "--dest", str(folder), "--requirement", str(pinned)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise WeightsError(f"The package {source['distribution']} could not be downloaded: {reason}")
    return wheels[0]
