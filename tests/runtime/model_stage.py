"""A home whose models come from a hub on loopback, with small model files to fetch and to find."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import resources
from models.bandwidth import FILE, timed
from tests.models.gguf_file import METADATA, whole
from tests.wire.hub import HubServer

REPOSITORY = "maker/Tiny-GGUF"
CATALOGUED = "Qwen/Qwen3-0.6B-GGUF"


@functools.cache
def _speeds() -> bytes:
    """How fast this machine is, measured once for all tests."""
    with tempfile.TemporaryDirectory() as folder:
        timed(Path(folder))
        return (Path(folder) / FILE).read_bytes()


def settle(home: Path, hub: HubServer | None = None) -> Path:
    """A home that knows how fast this machine is and fetches from `hub`."""
    (home / "cache").mkdir(parents=True, exist_ok=True)
    (home / "cache" / FILE).write_bytes(_speeds())
    address = hub.url if hub else "http://hub.example"
    (home / "settings.yaml").write_text(f"version: 1\nmodels:\n  hub: {address}\n", "utf-8")
    return home


def model(path: Path, name: str = "Tiny", more: int = 0) -> Path:
    """A small model file that the library takes for whole; `more` bytes follow."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole(path, METADATA | {"general.name": name})
    if more:
        with path.open("ab") as file:
            file.write(bytes(range(256)) * (more // 256))
    return path


def tiny_hub(folder: Path, *, rate: int = 0, more: int = 0, **about: object) -> HubServer:
    """A hub with two forms of a small model in REPOSITORY and one of the catalogue's models."""
    files = {name: model(folder / name, more=more) for name in ("Tiny-Q4_K_M.gguf", "Tiny-Q8_0.gguf")}
    known = {"Qwen3-0.6B-Q8_0.gguf": model(folder / "Qwen3-0.6B-Q8_0.gguf")}
    told = {REPOSITORY: {"license": "mit", **about}}
    return HubServer({REPOSITORY: files, CATALOGUED: known}, told, rate=rate)


def bundled() -> Path:
    """The model file that is shipped."""
    return next(iter(sorted(resources.weights_dir().glob("*.gguf"))))
