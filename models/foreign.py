"""Finds the models that LM Studio and Ollama hold, to use them where they lie; nothing here writes.

Formats: LM Studio keeps `<models>/<publisher>/<repository>/<file>.gguf`, and names another folder in
settings.json (downloadsFolder). Ollama keeps manifests/<host>/<namespace>/<model>/<tag>, JSON in the form of
a Docker image manifest, and the files they speak of as blobs/sha256-<64 hexadecimal digits>.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from models.errors import Field
from models.places import Place, Walk

_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_LAYER = "application/vnd.ollama.image."
_UNUSABLE = {
    f"{_LAYER}tensor": "its weights are not in the GGUF format",
    f"{_LAYER}adapter": "it changes a model by an adapter, which only Ollama applies",
}
_PIECE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
"""A host, namespace, model or tag in Ollama's own rules."""

_HOST, _NAMESPACE = "registry.ollama.ai", "library"
_LARGEST = 1 << 20
_MOST = 5_000
"""Manifests that are looked at."""

_Stamp = tuple[int, int, int]


def stores(environment: Mapping[str, str] | None = None, home: Path | None = None) -> tuple[LmStudio, Ollama]:
    """The stores of both programs for the user whose home is `home`; they need not be there. OLLAMA_MODELS of
    `environment` names Ollama's."""
    environment = os.environ if environment is None else environment
    home = Path.home() if home is None else home
    named = environment.get("OLLAMA_MODELS", "").strip()
    usual = (home / ".ollama" / "models", Path("/usr/share/ollama/.ollama/models"))
    return LmStudio(home), Ollama((Path(os.path.expanduser(named)),) if named else usual)


class LmStudio:
    """The models below the folders of LM Studio, old and new, of the user whose home is `home`."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._known: dict[Path, tuple[_Stamp, Path | None]] = {}

    def folders(self) -> list[Path]:
        """Where models may lie."""
        bases = [self._home / ".lmstudio", self._home / ".cache" / "lm-studio"]
        moved = _text(self._home / ".lmstudio-home-pointer").strip()
        if moved and "\0" not in moved and Path(moved).is_absolute():
            bases.insert(0, Path(moved))
        chosen = [self._chosen(base / "settings.json") for base in bases]
        return list(dict.fromkeys([*filter(None, chosen), *(base / "models" for base in bases)]))

    def places(self, walk: Walk) -> list[Place]:
        """See models.library.Store."""
        return [place for folder in self.folders() for place in walk.places(folder, "lmstudio")]

    def _chosen(self, settings: Path) -> Path | None:
        """The folder that the settings name, read again when they change."""
        stamp = _stamp(settings)
        if stamp is None:
            return None
        known = self._known.get(settings)
        if known is None or known[0] != stamp:
            named = _json(settings).get("downloadsFolder")
            usable = isinstance(named, str) and "\0" not in named and Path(named).is_absolute()
            known = (stamp, Path(str(named)) if usable else None)
            self._known[settings] = known
        return known[1]


class Ollama:
    """The models in Ollama's stores at `roots`. Manifests are not trusted: a digest must have its form, the
    blob must be there in the size that was told, and a manifest that says otherwise is listed as broken."""

    def __init__(self, roots: tuple[Path, ...]) -> None:
        self._roots = roots
        self._known: dict[Path, tuple[_Stamp, Place | None]] = {}

    def places(self, walk: Walk) -> list[Place]:
        """See models.library.Store. Tags of the same file are one model, named by the most telling tag."""
        del walk
        manifests = [(root, path) for root in self._roots for path in _manifests(root / "manifests")]
        found = [place for root, path in manifests if (place := self._place(root, path)) is not None]
        seen = {path for _, path in manifests}
        self._known = {path: known for path, known in self._known.items() if path in seen}
        return _merged(found)

    def _place(self, root: Path, manifest: Path) -> Place | None:
        stamp = _stamp(manifest)
        if stamp is None:
            return None
        known = self._known.get(manifest)
        if known is None or known[0] != stamp:
            known = (stamp, _read(root, manifest))
            self._known[manifest] = known
        return known[1]


def _manifests(folder: Path) -> list[Path]:
    """The files exactly four folders deep, in order."""
    found = [folder]
    for depth in range(4):
        deeper: list[Path] = []
        for place in found:
            try:
                with os.scandir(place) as entries:
                    names = sorted(
                        entry.name
                        for entry in entries
                        if _PIECE.fullmatch(entry.name)
                        and (os.path.isdir(entry.path) if depth < 3 else os.path.isfile(entry.path))
                    )
            except OSError:
                continue
            deeper += [place / name for name in names[:_MOST]]
        found = deeper[:_MOST]
    return found


def _read(root: Path, manifest: Path) -> Place | None:
    """The model of a manifest; None where it has none, as those of models in the cloud."""
    name = _name(manifest)
    found = _json(manifest)
    layers = found.get("layers")
    if not isinstance(layers, list):
        return _broken(name, manifest, "it is no manifest")
    model: Path | None = None
    eye: Path | None = None
    size = 0
    for layer in layers:
        kind = layer.get("mediaType") if isinstance(layer, dict) else None
        if kind in _UNUSABLE:
            return _broken(name, manifest, _UNUSABLE[kind])
        if kind not in (f"{_LAYER}model", f"{_LAYER}projector"):
            continue
        digest = _DIGEST.fullmatch(str(layer.get("digest", "")))
        if digest is None:
            return _broken(name, manifest, "it names a file by something that is no SHA-256 sum")
        blob = root / "blobs" / f"sha256-{digest[1]}"
        if kind == f"{_LAYER}projector":
            eye = eye or blob
        elif model is not None:
            return _broken(name, manifest, "it names several model files")
        else:
            told = layer.get("size")
            model, size = blob, told if isinstance(told, int) and 0 < told < 1 << 50 else 0
    if model is None:
        return None
    return Place(name, (model,), "ollama", eye, title=name, size=size)


def _broken(name: str, manifest: Path, reason: str) -> Place:
    fields: dict[str, Field] = {"name": name, "path": str(manifest), "reason": reason}
    return Place(
        name,
        (manifest,),
        "ollama",
        title=name,
        error="ollama_manifest_broken",
        fields=tuple(fields.items()),
    )


def _name(manifest: Path) -> str:
    """As Ollama writes it: the host and the namespace only where they are not its own."""
    host, namespace, model, tag = manifest.parts[-4:]
    short = f"{model}:{tag}"
    if host != _HOST:
        return f"{host}/{namespace}/{short}"
    return short if namespace == _NAMESPACE else f"{namespace}/{short}"


def _merged(places: list[Place]) -> list[Place]:
    """One place for each file; names that end with latest tell the least, short ones the most."""
    found: dict[tuple[Path, ...], Place] = {}
    for place in sorted(
        places, key=lambda place: (place.name.endswith(":latest"), len(place.name), place.name)
    ):
        first = found.get(place.files)
        if first is None:
            also = (place.name.removesuffix(":latest"),) if place.name.endswith(":latest") else ()
            found[place.files] = _with(place, also)
        else:
            found[place.files] = _with(first, (place.name, place.name.removesuffix(":latest")))
    return sorted(found.values(), key=lambda place: place.name)


def _with(place: Place, names: tuple[str, ...]) -> Place:
    return replace(place, also=tuple(dict.fromkeys((*place.also, *names))))


def _json(path: Path) -> dict[str, Any]:
    """The object in the file at `path`; an empty one where there is none."""
    try:
        found = json.loads(_text(path))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(path: Path) -> str:
    """The text of an ordinary small file; "" of anything else."""
    try:
        if not os.path.isfile(path) or path.stat().st_size > _LARGEST:
            return ""
        return path.read_text("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
