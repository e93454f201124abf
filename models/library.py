"""Finds the model files on this machine and tells what each one is, or why it cannot be used."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from models.errors import EngineError, Field
from models.gguf import read_header

BUNDLED = "bundled"
"""The name that stands for the model shipped with the program."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file. `error` is empty, or the code of what is wrong with it, filled by `fields`."""

    name: str
    path: Path
    size: int
    architecture: str = ""
    context: int = 0
    quantisation: str = ""
    error: str = ""
    fields: tuple[tuple[str, Field], ...] = ()


class Library:
    """The GGUF files below `folders`; the first folder is that of the bundled models.

    Headers are read once per file and again when size or time of change differ, also those of files elsewhere
    that `find` is given the path of.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._known: dict[tuple[Path, int, int], ModelFile] = {}
        self._elsewhere: dict[tuple[Path, int, int], ModelFile] = {}

    def list(self) -> builtins.list[ModelFile]:
        """Every model file, bundled ones first, then by name; broken ones are listed with their error.
        Projectors, which have mmproj in their names, belong to models and are not listed."""
        found: dict[tuple[Path, int, int], ModelFile] = {}
        for folder in self._folders:
            for path in sorted(_files(folder), key=lambda path: path.name.lower()):
                key = _key(path)
                if key is not None:
                    found[key] = self._known.get(key) or inspect(path)
        self._known = found
        return [*found.values()]

    def find(self, name: str) -> ModelFile:
        """The usable model called `name`: a listed name or file name, a path, or "bundled" (also "").

        EngineError model_unknown (name, known), model_missing (path) or whatever is wrong with the file.
        """
        files = self.list()
        chosen = None
        if name in ("", BUNDLED):
            whole = [file for file in files if not file.error]
            chosen = next(iter(whole or files), None)
            if chosen is None:
                raise EngineError("model_missing", path=str(self._folders[-1]))
        else:
            chosen = next(
                (file for file in files if name in (file.name, file.path.name, str(file.path))), None
            )
            if chosen is None and ("/" in name or name.lower().endswith(".gguf")):
                chosen = self._inspected(Path(name).expanduser())
        if chosen is None:
            raise EngineError("model_unknown", name=name, known=", ".join(file.name for file in files))
        if chosen.error:
            raise EngineError(chosen.error, **dict(chosen.fields))
        return chosen

    def _inspected(self, path: Path) -> ModelFile:
        """A file outside the folders."""
        key = _key(path)
        if key is None:
            return inspect(path)
        if key not in self._elsewhere:
            self._elsewhere[key] = inspect(path)
        return self._elsewhere[key]


def inspect(path: Path) -> ModelFile:
    """What the header of one file says; never raises for a bad file."""
    try:
        header = read_header(path)
    except EngineError as error:
        key = _key(path)
        return ModelFile(
            path.stem, path, key[2] if key else 0, error=error.code, fields=tuple(error.fields.items())
        )
    return ModelFile(
        name=path.stem,
        path=path,
        size=header.size,
        architecture=header.architecture,
        context=header.context_length,
        quantisation=header.quantisation,
    )


def _files(folder: Path) -> builtins.list[Path]:
    try:
        return [
            path
            for path in folder.rglob("*")
            if path.suffix.lower() == ".gguf" and "mmproj" not in path.name.lower() and path.is_file()
        ]
    except OSError:
        return []


def _key(path: Path) -> tuple[Path, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return path, status.st_mtime_ns, status.st_size
