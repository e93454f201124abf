"""Keeps the headers of model files, so that one is read once and not again by every start of the program."""

from __future__ import annotations

import contextlib
import json
import os
from array import array
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from models.gguf import Header, read_header

Stamp = tuple[tuple[int, int, int], ...]

_LONGEST_ARRAY = 1024
_LONGEST_TEXT = 1 << 20
_LARGEST = 64 << 20
_FORM = [1, [field.name for field in fields(Header)]]
"""What a stored file must begin with: other versions are forgotten, since everything can be read again."""


class Headers:
    """Headers by the files of a model, in memory and in the file at `path`, if any. May be used from several
    threads, the file by several processes; it is a cache, which may be deleted at any time."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[Path, tuple[Stamp, Header]] | None = None
        self._changed = False

    def read(self, files: tuple[Path, ...]) -> Header:
        """The header of the model in `files`, without its longest lists and texts.
        EngineError as read_header."""
        known = self._loaded()
        seen = stamp(files)
        found = known.get(files[0])
        if found is None or found[0] != seen:
            found = (seen, _slim(read_header(files[0])))
            known[files[0]] = found
            self._changed = True
        return found[1]

    def keep(self, files: Iterable[Path]) -> None:
        """Forget all but the headers of these first files, and store what is new."""
        kept, before = set(files), self._loaded().copy()
        known = {path: found for path, found in before.items() if path in kept}
        if self._path is None or not (self._changed or len(known) != len(before)):
            return
        self._known, self._changed = known, False
        told = {str(path): [seen, _written(header)] for path, (seen, header) in known.items()}
        part = self._path.with_name(f".{self._path.name}-{os.getpid()}.part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps({"form": _FORM, "headers": told}), encoding="ascii")
            os.replace(part, self._path)
        except (OSError, ValueError):
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)

    def _loaded(self) -> dict[Path, tuple[Stamp, Header]]:
        if self._known is None:
            self._known = _stored(self._path) if self._path else {}
        return self._known


def stamp(paths: Iterable[Path | None]) -> Stamp:
    """What differs when one of the files was changed or replaced: inode, time and size of each."""
    found: list[tuple[int, int, int]] = []
    for path in paths:
        if path is None:
            continue
        try:
            status = os.stat(path)
            found.append((status.st_ino, status.st_mtime_ns, status.st_size))
        except (OSError, ValueError):
            found.append((0, 0, 0))
    return tuple(found)


def _slim(header: Header) -> Header:
    kept = {
        key: value
        for key, value in header.metadata.items()
        if not isinstance(value, array | str)
        or len(value) <= (_LONGEST_TEXT if isinstance(value, str) else _LONGEST_ARRAY)
    }
    return replace(header, metadata=kept)


def _written(header: Header) -> dict[str, Any]:
    told = asdict(replace(header, metadata={}))
    told["metadata"] = {
        key: [value.typecode, value.tolist()] if isinstance(value, array) else value
        for key, value in header.metadata.items()
    }
    return told | {"path": str(header.path), "parts": [str(part) for part in header.parts]}


def _stored(path: Path) -> dict[Path, tuple[Stamp, Header]]:
    """What the file at `path` holds; nothing where it is not there, of another form or damaged."""
    try:
        if path.stat().st_size > _LARGEST:
            return {}
        told = json.loads(path.read_text("ascii"))
        if told["form"] != _FORM:
            return {}
        return {
            Path(name): (tuple(tuple(row) for row in seen), _read(header))
            for name, (seen, header) in told["headers"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _read(told: dict[str, Any]) -> Header:
    metadata = {
        key: array(value[0], value[1]) if isinstance(value, list) else value
        for key, value in told["metadata"].items()
    }
    parts = tuple(Path(part) for part in told["parts"])
    return Header(**told | {"path": Path(told["path"]), "parts": parts, "metadata": metadata})
