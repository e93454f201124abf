"""Names the files of a model that was split into parts, and says which one is missing.

Format: llama.cpp's gguf-split: `<name>-00001-of-00003.gguf` and so on; all metadata stand in the first part,
and each part holds split.no (from 0), split.count and split.tensors.count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from models.errors import EngineError

MOST = 999
"""Parts that a model may have."""

_PART = re.compile(r"(?s)(.+)-(\d{5})-of-(\d{5})\.gguf")


@dataclass(frozen=True, slots=True)
class Part:
    """What the name of a part says: it is number `number` (from 1) of `count` parts of the model `stem`."""

    folder: Path
    stem: str
    number: int
    count: int

    def path(self, number: int) -> Path:
        """Where part `number` of the same model belongs."""
        return self.folder / f"{self.stem}-{number:05}-of-{self.count:05}.gguf"

    def paths(self) -> tuple[Path, ...]:
        """Where all parts belong, in order, whether they are there or not."""
        return tuple(self.path(number) for number in range(1, self.count + 1))


def part_of(path: Path) -> Part | None:
    """What the name of `path` says about a split model; None for any other file."""
    found = _PART.fullmatch(path.name)
    if found is None:
        return None
    stem, number, count = found[1], int(found[2]), int(found[3])
    return Part(path.parent, stem, number, count) if 1 <= number <= count <= MOST else None


def stem_of(path: Path) -> str:
    """The name of the model in `path` without its ending, and without the number of a part."""
    part = part_of(path)
    return part.stem if part else path.stem


def missing(path: Path, number: int, count: int) -> EngineError:
    """The error of part `number` of `count`, which should lie at `path`."""
    return EngineError("model_file_part_missing", path=str(path), number=number, count=count)


def grouped(paths: Iterable[Path]) -> list[tuple[Path, ...]]:
    """`paths` of one folder with the parts of a split model together, in their order; the order of the rest
    stays. A group whose parts are not all among them holds those that are."""
    groups: dict[object, list[Path]] = {}
    for path in paths:
        part = part_of(path)
        key: object = (part.folder, part.stem, part.count) if part and part.count > 1 else path
        groups.setdefault(key, []).append(path)
    return [tuple(sorted(group)) for group in groups.values()]
