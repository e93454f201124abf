"""Keeps what exams found out about the model files on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.errors import OrionError
from runtime.exam.exam import VERSION, Exam, ModelKey, Score, merged
from runtime.locks import Lock
from runtime.messages import JsonObject

if TYPE_CHECKING:
    from models.library import ModelFile

FORMAT = 1
SAMPLE = 1 << 20
"""Bytes of the beginning and of the end of a file that its hash covers: header, words, and some weights."""

PATIENCE = 2.0
"""Seconds that a change waits for another process that changes the file too."""

_Signature = tuple[int, int, int]


class ExamRecord:
    """The exams in the file at `path` (JSON, versioned), one for each model file; shared by all processes.

    Reading costs a look at the file while it stays the same. A file that cannot be read counts as empty and
    is named by `notices`; one of a newer program is left untouched.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: _Signature | None = None
        self._exams: dict[str, Exam] = {}
        self._fault: OrionError | None = None
        self._keys: dict[tuple[Path, int, int], str] = {}

    def of(self, model: ModelFile) -> Exam | None:
        """What is known of this file; None where it was never examined, has changed since, or only by the
        questions of another version. Reads 2 MB of a model file the first time it is asked about it."""
        self._refresh()
        if not any(exam.model.size == model.size for exam in self._exams.values()):
            return None
        exam = self._exams.get(self.key(model).sha256)
        return exam if exam is not None and exam.version == VERSION else None

    def key(self, model: ModelFile) -> ModelKey:
        """What names this file's content. Raises OrionError `model_file_missing` (path)."""
        digest = hashlib.sha256()
        for path in _files(model):
            digest.update(self._digest(path).encode("ascii"))
        return ModelKey(model.name, model.size, digest.hexdigest())

    def put(self, exam: Exam) -> Exam:
        """Store an exam and return what now counts: see `merged`. Raises OrionError `file_unwritable`,
        `file_busy`, `format_newer`."""
        lock = self._lock()
        try:
            self._seen = None
            self._refresh()
            if self._fault is not None and self._fault.code == "format_newer":
                raise self._fault
            result = merged(self._exams.get(exam.model.sha256), exam)
            self._write(self._exams | {exam.model.sha256: result})
            self._seen = None
        finally:
            lock.release()
        return result

    def notices(self) -> list[tuple[str, dict[str, str | int | float]]]:
        """Code and fields of what keeps the file from being read; empty when all is well."""
        self._refresh()
        return [(self._fault.code, self._fault.fields)] if self._fault else []

    def _digest(self, path: Path) -> str:
        try:
            status = path.stat()
            known = (path, status.st_mtime_ns, status.st_size)
            if known not in self._keys:
                self._keys[known] = _sampled(path, status.st_size)
        except OSError as error:
            raise OrionError("model_file_missing", path=str(path)) from error
        return self._keys[known]

    def _refresh(self) -> None:
        """Read the file again if it is not the one that was read. What was read counts until then, since
        other threads may ask meanwhile."""
        try:
            found = self._path.stat()
        except OSError:
            self._exams, self._fault, self._seen = {}, None, None
            return
        signature = found.st_mtime_ns, found.st_size, found.st_ino
        if signature == self._seen:
            return
        exams: dict[str, Exam] = {}
        fault: OrionError | None = None
        try:
            data = json.loads(self._path.read_text("utf-8"))
            if (version := int(data["v"])) > FORMAT:
                fault = OrionError("format_newer", path=str(self._path), found=version, known=FORMAT)
            else:
                exams = {exam.model.sha256: exam for exam in map(_exam, data["exams"])}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            fault = OrionError("exams_unreadable", path=str(self._path), reason=str(error))
        self._exams, self._fault, self._seen = exams, fault, signature

    def _write(self, exams: dict[str, Exam]) -> None:
        """Replace the file at once, so that no reader ever sees a part of it."""
        data = {"v": FORMAT, "exams": [asdict(exam) for exam in exams.values()]}
        temporary = ""
        try:
            handle, temporary = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                json.dump(data, out, indent=1)
                out.flush()
                os.fsync(out.fileno())
            os.replace(temporary, self._path)
        except OSError as error:
            if temporary:
                Path(temporary).unlink(missing_ok=True)
            reason = error.strerror or type(error).__name__
            raise OrionError("file_unwritable", path=str(self._path), reason=reason) from error

    def _lock(self) -> Lock:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return Lock(self._path.with_name(f".{self._path.name}.lock"), "change", "file_unwritable")
            except OrionError:
                if time.monotonic() > deadline:
                    raise OrionError("file_busy", path=str(self._path)) from None
                time.sleep(0.005)
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise OrionError("file_unwritable", path=str(self._path), reason=reason) from error


def _files(model: ModelFile) -> list[Path]:
    """Everything that decides what the model answers."""
    return [*(model.parts or (model.path,)), *([model.projector] if model.projector else [])]


def _sampled(path: Path, size: int) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256(f"{size}:".encode("ascii"))
        digest.update(file.read(SAMPLE))
        if size > SAMPLE:
            file.seek(max(SAMPLE, size - SAMPLE))
            digest.update(file.read(SAMPLE))
    return digest.hexdigest()


def _exam(data: JsonObject) -> Exam:
    scores = {name: Score(**score) for name, score in data["scores"].items()}
    return Exam(**data | {"model": ModelKey(**data["model"]), "scores": scores})
