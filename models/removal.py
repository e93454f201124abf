"""Deletes models, and says beforehand what that frees."""

from __future__ import annotations

import contextlib
import os
import stat
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from models.errors import EngineError
from models.library import ModelFile
from models.places import real
from models.references import References


@dataclass(frozen=True, slots=True)
class Freed:
    """What deleting a model does: `files` go, and the disk has `bytes` more. Without files the program only
    forgets that it uses what lies elsewhere."""

    bytes: int
    files: tuple[Path, ...]


def frees(model: ModelFile, installed: Iterable[ModelFile], references: References | None = None) -> Freed:
    """What `delete` would do. `installed` is the library's list, which tells whether another model shares the
    projector. A file that has another name (hard link) outside of what goes frees nothing.

    EngineError model_bundled_kept or model_held_by_ollama (name) where it must not be done.
    """
    if model.origin == "bundled":
        raise EngineError("model_bundled_kept", name=model.name)
    if model.origin == "ollama":
        raise EngineError("model_held_by_ollama", name=model.name)
    if references is not None and _referred(model, references):
        return Freed(0, ())
    files = _files(model, installed)
    links: Counter[tuple[int, int]] = Counter()
    found: dict[tuple[int, int], os.stat_result] = {}
    for path in files:
        with contextlib.suppress(OSError):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                links[status.st_dev, status.st_ino] += 1
                found[status.st_dev, status.st_ino] = status
    gone = sum(_taken(status) for key, status in found.items() if status.st_nlink <= links[key])
    return Freed(gone, files)


def delete(
    model: ModelFile,
    installed: Iterable[ModelFile],
    folder: Path,
    references: References | None = None,
    *,
    agreed: bool = False,
) -> Freed:
    """Delete the files of `model`, and folders below `folder` that this empties; one that is only referred to
    is forgotten and its files stay. What was freed.

    EngineError as `frees`; model_held_by_lmstudio or model_in_own_folder (name, path) unless `agreed`, the
    latter also for what lies in `folder` by a link alone;
    model_delete_failed (path, reason), after which the rest can be deleted again.
    """
    freed = frees(model, installed, references)
    if references is not None and not freed.files:
        for path in _referred(model, references):
            references.remove(path)
        return freed
    if not agreed and (model.origin in ("lmstudio", "imported") or not _within(model.path.parent, folder)):
        code = "model_held_by_lmstudio" if model.origin == "lmstudio" else "model_in_own_folder"
        raise EngineError(code, name=model.name, path=str(model.path.parent))
    for path in freed.files:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise EngineError("model_delete_failed", path=str(path), reason=reason) from error
    for parent in model.path.parents:
        if folder not in parent.parents:
            break
        with contextlib.suppress(OSError):
            parent.rmdir()
    return freed


def _within(place: Path, folder: Path) -> bool:
    """Whether `place` is `folder` or below it once links are followed."""
    return Path(real(place)).is_relative_to(real(folder))


def _referred(model: ModelFile, references: References) -> list[Path]:
    """The remembered paths that mean `model`: any of its parts."""
    if model.origin != "imported":
        return []
    return [path for path in references.paths() if path == model.path or path in model.parts]


def _files(model: ModelFile, installed: Iterable[ModelFile]) -> tuple[Path, ...]:
    """What goes, the first part first, so the rest never looks whole; the projector if no other has it."""
    files = [path for path in model.parts or (model.path,) if os.path.isfile(path) or os.path.islink(path)]
    eye = model.projector
    if eye is not None and all(other.projector != eye for other in installed if other.path != model.path):
        files.append(eye)
    return tuple(files)


def _taken(status: os.stat_result) -> int:
    """Bytes on the disk, where the system tells; a file with holes takes less than its size."""
    blocks = getattr(status, "st_blocks", None)
    return status.st_size if blocks is None else min(status.st_size, 512 * int(blocks))
