"""The files of a repository: which of them make up one model, and which names may be used on a disk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from models import shards
from models.errors import EngineError

_QUANTISATION = re.compile(
    r"(?:^|[-._])((?:IQ|Q|TQ)\d(?:_[A-Z0-9]+)*|MXFP4(?:_MOE)?|BF16|F16|F32)(?=$|[-._])", re.IGNORECASE
)
_LONGEST_PART = 200
_LONGEST = 400
_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?:\..*)?", re.IGNORECASE
)
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\\\u202a-\u202e\u2066-\u2069\ud800-\udfff]')


@dataclass(frozen=True, slots=True)
class File:
    """A file in a repository: `name` is its path there, `size` in bytes, `sha256` in hexadecimal digits, ""
    where the hub keeps it as a small file without one; -1 is a size that is not known."""

    name: str
    size: int = -1
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class HubVariant:
    """One form of a model: its files, more than one where it was split; what its name says of the form."""

    quantisation: str
    files: tuple[File, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def variants(files: Sequence[File]) -> tuple[HubVariant, ...]:
    """The models among `files`, the smallest first, without projectors and without sets that lack a part."""
    by_name = {file.name: file for file in files}
    models = [Path(file.name) for file in files if is_model(file.name)]
    found = []
    for group in shards.grouped(models):
        part = shards.part_of(group[0])
        if part is None or part.count == len(group):
            members = tuple(by_name[path.as_posix()] for path in group)
            found.append(HubVariant(quantisation(shards.stem_of(group[0])), members))
    return tuple(sorted(found, key=lambda variant: (variant.size, variant.files[0].name)))


def projectors(files: Iterable[File]) -> tuple[File, ...]:
    """The files that let a model see pictures."""
    return tuple(file for file in files if file.name.lower().endswith(".gguf") and not is_model(file.name))


def is_model(name: str) -> bool:
    """Whether the name is that of a model file, or of a part of one."""
    last = PurePosixPath(name).name.lower()
    return last.endswith(".gguf") and "mmproj" not in last


def quantisation(stem: str) -> str:
    """The form of the weights that a file's name tells, as in "Q4_K_M", "" where it tells none."""
    found: list[str] = _QUANTISATION.findall(stem)
    return found[-1].upper() if found else ""


def below(name: str) -> PurePosixPath:
    """`name`, which came from elsewhere, as a path that stays below the folder it is put in, on every system.

    EngineError download_name_refused where it does not, or where a system could not store it.
    """
    parts = name.split("/")
    if not all(map(_harmless, parts)) or len(name.encode()) > _LONGEST:
        shown = name.encode("ascii", "backslashreplace").decode("ascii")[:_LONGEST]
        raise EngineError("download_name_refused", name=shown)
    return PurePosixPath(*parts)


def _harmless(part: str) -> bool:
    return not (
        not part
        or part.startswith((".", " "))
        or part.endswith((".", " "))
        or _FORBIDDEN.search(part)
        or _DEVICE.fullmatch(part)
        or len(part.encode()) > _LONGEST_PART
    )
