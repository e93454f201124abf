"""Takes model files from anywhere into the library: copied, moved, or used where they lie."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from models import shards
from models.errors import EngineError, Field
from models.library import Kind, ModelFile, inspect
from models.places import Walk, is_projector, projector_among, real
from models.references import References
from models.transfer import Job, Stop, Told, transfer

Mode = Literal["copy", "move", "in_place"]

_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_BLOB = re.compile(r"sha256-[0-9a-f]{64}")
"""The name of a file in Ollama's store, which must stay there."""

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Intake:
    """A model that may be taken in: its `files` in order, its projector, their bytes and the ways there are.
    With an `error` there are none."""

    path: Path
    name: str
    size: int
    files: tuple[Path, ...] = ()
    projector: Path | None = None
    kind: Kind = "language"
    modes: tuple[Mode, ...] = ()
    error: str = ""
    fields: tuple[tuple[str, Field], ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """A model that was taken in: what an engine is given, and sources that could not be removed."""

    path: Path
    left: tuple[Path, ...] = ()


def plan(paths: Iterable[Path], installed: Sequence[ModelFile] = ()) -> list[Intake]:
    """What can be taken in of files and folders that a person chose, each model once; reads headers.

    A part stands for its whole set; a projector goes with the model beside it, or with the only model among
    `paths`; a folder stands for all in it. What cannot be taken says why.
    """
    models: dict[str, ModelFile] = {}
    refused: list[Intake] = []
    eyes: list[Path] = []
    for path in dict.fromkeys(Path(os.path.abspath(os.path.expanduser(path))) for path in paths):
        if os.path.isdir(path):
            found = [inspect(place.files[0]) for place in Walk().places(path, "imported")]
            if not found:
                refused.append(_refused(path, EngineError("import_nothing", path=str(path))))
        else:
            found = [inspect(path)]
        for file in found:
            if file.kind == "projector" or is_projector(file.path):
                eyes.append(file.path)
            else:
                models.setdefault(real(file.path), file)
    intakes = [_intake(file, installed) for file in models.values()]
    for eye in eyes:
        intakes = _with_eye(intakes, eye)
        if all(intake.projector != eye for intake in intakes):
            refused.append(_refused(eye, EngineError("projector_alone", path=str(eye))))
    return intakes + refused


def take(
    intake: Intake, mode: Mode, folder: Path, references: References, told: Told, stop: Stop = lambda: False
) -> Taken:
    """Take `intake` into the library's `folder` (in_place: into `references`). Blocks; `told` hears of each
    step in the same thread, and `stop` says whether to break off.

    What is not whole has a name that no library lists, so nothing that looks whole is ever half; a moved file
    leaves its old place only when the new one is whole and on the disk. EngineError: the intake's own,
    import_mode (name, mode), model_file_exists (path), import_disk_full (name, path, needed_mb, free_mb),
    import_changed (path), import_failed (path, reason), import_cancelled (name), references_unwritable.
    """
    if intake.error:
        raise EngineError(intake.error, **dict(intake.fields))
    if mode not in intake.modes:
        raise EngineError("import_mode", name=intake.name, mode=mode)
    if mode == "in_place":
        references.add(intake.path)
        return Taken(intake.path)
    sources = [*intake.files, *([intake.projector] if intake.projector else [])]
    names = _names(intake)
    target = folder / names[0] if len(names) == 1 else folder / _safe(intake.name)
    leaving = tuple(path for path in sources if path != intake.projector or not _shared(intake))
    job = Job(intake.name, tuple(sources), tuple(names), target, mode == "move", leaving)
    left = transfer(job, told, stop)
    return Taken(target if len(names) == 1 else target / names[0], left)


def _shared(intake: Intake) -> bool:
    """Whether another model beside the projector of `intake` sees through it."""
    if intake.projector is None:
        return False
    beside = sorted(intake.projector.parent.glob("*.gguf"))
    others = [path for path in beside if path not in intake.files and not is_projector(path)]
    return any(projector_among(path, beside) == intake.projector for path in others)


def _intake(file: ModelFile, installed: Sequence[ModelFile]) -> Intake:
    here = real(file.path)
    known = next((other for other in installed if real(other.path) == here), None)
    eye = file.projector or (known.projector if known else None)
    made = Intake(file.path, file.name, file.size, file.parts, eye, file.kind, ("copy", "move", "in_place"))
    if file.error:
        return replace(made, modes=(), error=file.error, fields=file.fields)
    if known is not None:
        made = replace(made, name=known.name)
        if known.origin in ("bundled", "orion", "imported"):
            fields = (("name", known.name), ("path", str(file.path)))
            return replace(made, modes=(), error="model_already_here", fields=fields)
        made = replace(made, modes=("copy",) if known.origin == "ollama" else ("copy", "move"))
    elif _BLOB.fullmatch(file.path.name) and file.path.parent.name == "blobs":
        made = replace(made, modes=("copy",))
    return replace(made, size=made.size + (_size(eye) if eye else 0))


def _with_eye(intakes: list[Intake], eye: Path) -> list[Intake]:
    """`intakes` with the projector `eye` at the model it belongs to, if that is clear."""
    if any(intake.projector == eye for intake in intakes):
        return intakes
    blind = [intake for intake in intakes if intake.projector is None and not intake.error]
    named = [intake for intake in blind if len(blind) == 1 or _alike(intake.path, eye)]
    if len(named) != 1:
        return intakes
    chosen = replace(
        named[0],
        projector=eye,
        size=named[0].size + _size(eye),
        modes=tuple(mode for mode in named[0].modes if mode != "in_place"),
    )
    return [chosen if intake is named[0] else intake for intake in intakes]


def _alike(model: Path, eye: Path) -> bool:
    """Whether `eye` would be chosen for `model` beside any other."""
    return projector_among(model, [model, model.with_name("-.gguf"), eye]) is not None


def _names(intake: Intake) -> list[str]:
    """The file names in the library, the projector last."""
    stem = _safe(intake.name)
    count = len(intake.files)
    names = [f"{stem}.gguf"] if count == 1 else []
    names += [f"{stem}-{number:05}-of-{count:05}.gguf" for number in range(1, count + 1) if count > 1]
    if intake.projector:
        eye = intake.projector.name
        names.append(
            _safe(shards.stem_of(Path(eye)) if is_projector(Path(eye)) else f"mmproj-{stem}") + ".gguf"
        )
    return names


def _safe(name: str) -> str:
    """`name` as a file name that every system takes, without an ending."""
    plain = (
        re.sub(r"[^\w.()+@ -]+", "-", name, flags=re.ASCII).strip(" .-")[:_LONGEST].rstrip(" .") or "model"
    )
    return f"model-{plain}" if _DEVICES.fullmatch(plain) else plain


def _refused(path: Path, error: EngineError) -> Intake:
    return Intake(path, path.name, 0, error=error.code, fields=tuple(error.fields.items()))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
