"""Finds where model files lie below a folder, without opening any, and again without reading folders anew."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from models import shards
from models.errors import Field

Origin = Literal["bundled", "orion", "imported", "lmstudio", "ollama"]
"""Who holds a model file: the program's own data, its folder of fetched models, a place the user named, or
the store of another program."""

_DEEPEST = 8
_MOST_FOLDERS = 20_000
_SETTLED = 3.0
"""Seconds after which a folder's time of change tells every further change; FAT counts in steps of two."""

_STALE = 60.0
"""Seconds after which a folder is read again all the same: some file systems keep no such time."""


@dataclass(frozen=True, slots=True)
class Place:
    """A model by its files, all parts in order; `also` are further names that mean it. With an `error` it
    cannot be used whatever the files hold."""

    name: str
    files: tuple[Path, ...]
    origin: Origin
    projector: Path | None = None
    also: tuple[str, ...] = ()
    title: str = ""
    size: int = 0
    error: str = ""
    fields: tuple[tuple[str, Field], ...] = ()


@dataclass(frozen=True, slots=True)
class _Folder:
    changed: int
    read: float
    files: tuple[Path, ...]
    folders: tuple[Path, ...]


class Walk:
    """Reads folders and remembers what they hold until their time of change differs, for a minute at most.
    What has a name that begins with a dot is passed over: there lies what is not whole yet."""

    def __init__(self) -> None:
        self._known: dict[Path, _Folder] = {}

    def places(self, root: Path, origin: Origin) -> list[Place]:
        """The models below `root`, by file name; projectors are told by their names and go to models."""
        found: list[Place] = []
        for folder in self._below(root):
            models = [path for path in folder.files if not is_projector(path)]
            for files in shards.grouped(models):
                eye = projector_among(files[0], folder.files)
                stem = shards.stem_of(files[0])
                deeper = files[0].parent.relative_to(root).as_posix()
                also = (f"{deeper}/{stem}",) if deeper != "." else ()
                found.append(Place(stem, files, origin, eye, also))
        return sorted(found, key=lambda place: (place.files[0].name.lower(), str(place.files[0])))

    def beside(self, path: Path) -> tuple[Path, ...]:
        """The GGUF files in the folder of `path`."""
        try:
            return self._folder(path.parent, path.parent.stat().st_mtime_ns).files
        except (OSError, ValueError):
            return ()

    def _below(self, root: Path) -> Iterator[_Folder]:
        waiting, met = [(root, 0)], set[tuple[int, int]]()
        while waiting and len(met) < _MOST_FOLDERS:
            path, depth = waiting.pop()
            try:
                status = path.stat()
                if (status.st_dev, status.st_ino) in met:
                    continue
                met.add((status.st_dev, status.st_ino))
                folder = self._folder(path, status.st_mtime_ns)
            except (OSError, ValueError):
                self._known.pop(path, None)
                continue
            yield folder
            if depth < _DEEPEST:
                waiting += [(deeper, depth + 1) for deeper in reversed(folder.folders)]

    def _folder(self, path: Path, changed: int) -> _Folder:
        known = self._known.get(path)
        settled = (
            known is not None and changed / 1e9 + _SETTLED < known.read < time.time() < known.read + _STALE
        )
        if known is None or known.changed != changed or not settled:
            known = _read(path, changed)
            self._known[path] = known
        return known


def _read(path: Path, changed: int) -> _Folder:
    now = time.time()
    files: list[Path] = []
    folders: list[Path] = []
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.name.lower().endswith(".gguf") and os.path.isfile(entry.path):
                files.append(path / entry.name)
            elif os.path.isdir(entry.path):
                folders.append(path / entry.name)
    return _Folder(changed, now, tuple(sorted(files)), tuple(sorted(folders)))


def is_projector(path: Path) -> bool:
    """Whether the name of `path` is that of a projector, through which a model sees."""
    return "mmproj" in path.name.lower()


def projector_among(model: Path, files: Iterable[Path]) -> Path | None:
    """The projector of `model` among the `files` of its folder: the one named mmproj that shares most of its
    name; none where several models share the folder and no name fits."""
    everything = sorted(path for path in files if path != model)
    found = [path for path in everything if is_projector(path)]
    if not found:
        return None
    stem = unquantised(model).lower()
    named = [path for path in found if stem in path.stem.lower()]
    if named:
        return named[0]
    others = [path for path in everything if not is_projector(path) and unquantised(path).lower() != stem]
    return found[0] if len(found) == 1 and not others else None


def unquantised(model: Path) -> str:
    """The name of a model file up to its quantisation."""
    return re.split(r"(?i)[-._](?=[qf]\d|bf16|iq\d|mxfp4)", shards.stem_of(model))[0]


def distinct(places: Iterable[Place]) -> list[Place]:
    """`places` with a name of their own each; of several that lead to the same file the first stays."""
    found: list[Place] = []
    names: set[str] = set()
    files: set[object] = set()
    for place in places:
        real = _identity(place.files[0])
        if real in files:
            continue
        files.add(real)
        choices = [place.name, *place.also, str(place.files[0])]
        name = next((choice for choice in choices if choice not in names), choices[-1])
        names.add(name)
        found.append(
            place if name == place.name else replace(place, name=name, also=(place.name, *place.also))
        )
    return found


def _identity(path: Path) -> object:
    """The same for all paths that lead to one file through links; names of their own (hard links) differ."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return str(path)
    return (status.st_dev, status.st_ino) if status.st_nlink == 1 else os.path.realpath(path)


def real(path: Path) -> str:
    """The path without links; as it is where it cannot be followed."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return str(path)
