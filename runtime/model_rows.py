"""The models on this machine and the machine itself as plain rows for doors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.errors import OrionError
from runtime.exam_record import ExamRecord
from runtime.messages import JsonObject
from runtime.model_cards import fit_row, tail, untyped

if TYPE_CHECKING:
    from models.fitness import Machine
    from models.library import Library, ModelFile

DELETABLE = ("orion", "imported", "lmstudio")
"""Origins of which a model may be deleted; the bundled ones stay, and Ollama's are Ollama's to delete."""

_DEPTH = 2
"""Folders above a fetched file: the maker's and the repository's."""

_NAMELESS = ("model", "ggml-model", "ggml", "gguf")
"""Names of files that tell nothing of what is in them."""

RECOGNISER = "model.bin"
"""The weights of a recogniser of speech, as CTranslate2 keeps them beside its config.json."""


def machine_row(machine: Machine) -> JsonObject:
    """What a model may have here."""
    return {
        "processor": machine.hardware.processor,
        "cores": machine.cores,
        "memory": machine.hardware.memory_total,
        "memory_available": machine.hardware.memory_available,
        "cards": [{"name": card.name, "memory": card.free} for card in machine.cards],
        "disk_free": machine.disk_free,
        "bandwidth": machine.bandwidth,
    }


class InstalledRows:
    """Makes the rows of `library`; `exams` knows what they can do. Blocks: every header is read once."""

    def __init__(
        self, library: Library, exams: ExamRecord, titles: Callable[[], Mapping[str, str]], folder: Path
    ) -> None:
        """`titles` gives what the catalogue calls models, see model_cards.titles; `folder` is where models
        are fetched to."""
        self._library = library
        self._exams = exams
        self._titles = titles
        self._folder = folder

    def rows(self, machine: Machine, default: str, in_use: Callable[[Path], bool]) -> list[JsonObject]:
        """Every model file; `default` is the name of the one that new conversations use."""
        known = self._titles()
        rows = [self._row(model, machine, known) for model in self._library.list()]
        return [
            row | {"in_use": in_use(Path(row["path"])), "default": row["name"] == default} for row in rows
        ]

    def _row(self, model: ModelFile, machine: Machine, known: Mapping[str, str]) -> JsonObject:
        exam = self._exam(model)
        return {
            "name": model.name,
            "title": _title(model, known, self._folder),
            "path": str(model.path),
            "size": model.size,
            "parts": len(model.parts) or 1,
            "origin": model.origin,
            "kind": "vision" if model.kind == "language" and model.projector else model.kind,
            "architecture": model.architecture,
            "quantisation": model.quantisation,
            "parameters": round(model.parameters / 1e9, 3),
            "window": model.context,
            "tools": model.tools if model.kind == "language" and not model.error else None,
            "images": model.projector is not None,
            "error": model.error,
            "fields": dict(model.fields),
            "fit": None if model.error else self.fit(model, machine),
            "exam": exam,
            "roles": exam["roles"] if exam else [],
            "deletable": model.origin in DELETABLE,
        }

    def fit(self, model: ModelFile, machine: Machine) -> JsonObject | None:
        """How the model runs here, None for a file that went away."""
        from models.errors import EngineError
        from models.fitness import fitness
        from models.footprint import of_header

        try:
            beside = model.projector.stat().st_size if model.projector else 0
            return fit_row(fitness(of_header(self._library.header(model), beside), machine))
        except (EngineError, OSError):
            return None

    def _exam(self, model: ModelFile) -> JsonObject | None:
        if model.error:
            return None
        try:
            found = self._exams.of(model)
        except OrionError:  # it went away meanwhile
            return None
        return found.as_row() if found else None


def _title(model: ModelFile, known: Mapping[str, str], folder: Path) -> str:
    """What people know it by: the catalogue's name of it, that of the repository it was fetched from, the one
    other programs give it, or that of its file. The name inside the file is often that of its training."""
    from models.places import unquantised

    if told := known.get(tail(model.path.as_posix())):
        return told
    if model.origin in ("ollama", "lmstudio"):
        return model.title or model.name
    if model.path.is_relative_to(folder) and len(names := model.path.relative_to(folder).parts) > _DEPTH:
        return untyped(names[1])
    own = unquantised(model.path)
    return model.title or own if own.lower() in _NAMELESS else own


def recognisers(folders: list[Path]) -> Iterator[Path]:
    """The folders directly below `folders` that hold a recogniser of speech."""
    for folder in folders:
        for weights in sorted(folder.glob(f"*/{RECOGNISER}")):
            if (weights.parent / "config.json").is_file():
                yield weights.parent


def recogniser_row(folder: Path, machine: Machine, *, bundled: bool, chosen: bool) -> JsonObject:
    """A recogniser of speech as a row like those of model files."""
    from models.fitness import fitness
    from models.footprint import Load

    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    fit = fitness(Load(0, 0, 0, 0, 0, 0, 0, size), machine)
    return {
        "name": folder.name,
        "title": _spaced(folder.name),
        "path": str(folder),
        "size": size,
        "parts": 1,
        "origin": "bundled" if bundled else "orion",
        "kind": "speech",
        "architecture": "whisper",
        "quantisation": "",
        "parameters": 0.0,
        "window": 0,
        "tools": None,
        "images": False,
        "error": "",
        "fields": {},
        "fit": fit_row(fit),
        "exam": None,
        "roles": [],
        "in_use": False,
        "default": chosen,
        "deletable": not bundled,
    }


def _spaced(name: str) -> str:
    return re.sub(r"[-_]+", " ", name).strip().capitalize()
