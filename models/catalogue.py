"""The catalogue of models that are worth fetching: who made them, what they can do, and in which sizes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import resources
from models.footprint import QUANTISATIONS, Shape

Kind = Literal["language", "vision", "embedding", "speech"]

FILE = "catalogue.yaml"
VERSION = 1

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
_FILE = re.compile(r"[A-Za-z0-9][\w.-]{0,200}(/[A-Za-z0-9][\w.-]{0,200})?")
_MONTH = re.compile(r"20\d\d-(0[1-9]|1[0-2])")
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")


class CatalogueError(ValueError):
    """The catalogue is wrong; the text says where and how. A fault of the program, not of its user."""


_STRICT = {"extra": "forbid", "strict": True}


@dataclass(frozen=True, slots=True)
class Part:
    """A file beside the model with its bytes."""

    __pydantic_config__: ClassVar[Any] = _STRICT
    file: str
    size: int


@dataclass(frozen=True, slots=True)
class Variant:
    """One size of a model: the files to fetch, in order, and their bytes; `about` where these were reckoned
    and not read. The files of a speech model are all that it needs."""

    __pydantic_config__: ClassVar[Any] = _STRICT
    quantisation: str
    files: tuple[str, ...]
    size: int
    about: bool = False

    @property
    def file(self) -> str:
        """The file that an engine is given, and the name of the variant."""
        return self.files[0]


@dataclass(frozen=True, slots=True)
class Entry:
    """A model. Parameters in billions, `active` those that one token goes through; `window` in tokens;
    `accept` says that its maker wants the licence accepted; `strength` is the catalogue's own order within a
    kind, 1 to 100, until an exam has been taken. Without `shape` there is no network whose speed can be told.
    """

    __pydantic_config__: ClassVar[Any] = _STRICT
    name: str
    title: str
    maker: str
    licence: str
    licence_url: str
    accept: bool
    kind: Kind
    parameters: float
    active: float
    window: int
    tools: bool
    vision: bool
    reasoning: bool
    languages: tuple[str, ...]
    repository: str
    projector: Part | None
    variants: tuple[Variant, ...]
    shape: Shape | None
    released: str
    about: str
    strength: int


class Catalogue:
    """The entries in the order of the file."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self.entries = entries

    @classmethod
    def load(cls, path: Path | None = None) -> Catalogue:
        """The catalogue in `path`, else the shipped one. CatalogueError for anything that is not as it should
        be; nothing is passed over."""
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        path = path or resources.path(FILE)
        try:
            data = YAML(typ="safe", pure=True).load(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, YAMLError) as error:
            raise CatalogueError(f"{path.name}: {error}") from error
        entries = _entries(data, path.name)
        for complaint in _complaints(entries):
            raise CatalogueError(f"{path.name}: {complaint}")
        return cls(entries)

    def find(self, name: str) -> Entry | None:
        """The entry of that name, repository or title, in any case; None for one nobody knows."""
        wanted = name.strip().lower()
        for entry in self.entries:
            if wanted in (entry.name.lower(), entry.repository.lower(), entry.title.lower()):
                return entry
        return None


def _entries(data: Any, name: str) -> tuple[Entry, ...]:
    from pydantic import TypeAdapter, ValidationError

    if (
        not isinstance(data, dict)
        or set(data) != {"version", "models"}
        or not isinstance(data["models"], list)
    ):
        raise CatalogueError(f"{name}: it must hold a version and a list of models")
    if data["version"] != VERSION:
        raise CatalogueError(f"{name}: version {data['version']} is not known")
    rows = [_filled(row) if isinstance(row, dict) else row for row in data["models"]]
    try:
        return TypeAdapter(tuple[Entry, ...]).validate_json(json.dumps(rows))
    except ValidationError as error:
        fault = error.errors()[0]
        row = rows[int(fault["loc"][0])] if fault["loc"] else {}
        which = row.get("name", "?") if isinstance(row, dict) else "?"
        where = ".".join(str(part) for part in fault["loc"][1:])
        raise CatalogueError(f"{name}: {which}: {where}: {fault['msg']}") from error
    except TypeError as error:  # a date or a set: nothing that JSON has
        raise CatalogueError(f"{name}: {error}") from error


def _filled(row: dict[str, Any]) -> dict[str, Any]:
    """A row with what may be left out."""
    usual: dict[str, Any] = {
        "accept": False,
        "active": row.get("parameters"),
        "tools": False,
        "vision": False,
        "reasoning": False,
        "projector": None,
        "shape": None,
    }
    return usual | row


def _complaints(entries: tuple[Entry, ...]) -> Iterator[str]:
    """What the types alone do not say, one sentence each."""
    names: set[str] = set()
    for entry in entries:
        if entry.name in names:
            yield f"{entry.name}: there are two of this name"
        names.add(entry.name)
        for complaint in _complaints_of(entry):
            yield f"{entry.name}: {complaint}"


def _complaints_of(entry: Entry) -> Iterator[str]:
    checks = {
        "the name is made of small letters, digits, dots and dashes": _NAME.fullmatch(entry.name),
        "the repository is maker/name": _REPOSITORY.fullmatch(entry.repository),
        "the licence's address begins with https://": entry.licence_url.startswith("https://"),
        "released is a year and a month": _MONTH.fullmatch(entry.released),
        "strength is 1 to 100": 1 <= entry.strength <= 100,
        "parameters and active are more than nothing": 0 < entry.active <= entry.parameters < 1000,
        "the window is 128 tokens or more, of speech 0": entry.window >= 128 or entry.kind == "speech",
        "title, maker, licence, languages and about say something": all(
            (entry.title, entry.maker, entry.licence, entry.languages, entry.about)
        ),
        "there is a variant": entry.variants,
        "no two variants have the same file": len({one.file for one in entry.variants if one.files})
        == len(entry.variants),
        "a model that sees has a projector": entry.vision == (entry.projector is not None),
        "a model of the kind vision sees": entry.vision or entry.kind != "vision",
        "all but speech have a shape": (entry.shape is None) == (entry.kind == "speech"),
    }
    yield from (f"not so: {told}" for told, right in checks.items() if not right)
    for variant in entry.variants:
        yield from _complaints_about(entry, variant)
    if entry.projector is not None and not _FILE.fullmatch(entry.projector.file):
        yield "the projector's file name is not a plain one"


def _complaints_about(entry: Entry, variant: Variant) -> Iterator[str]:
    for file in variant.files:
        if not _FILE.fullmatch(file) or ".." in file:
            yield f"{file} is not a plain file name"
        elif entry.kind != "speech" and not file.endswith(".gguf"):
            yield f"{file} is not a GGUF file"
    if entry.kind == "speech":
        return
    if variant.quantisation not in QUANTISATIONS:
        yield f"the quantisation {variant.quantisation} is not known"
    bits = 8 * variant.size / (entry.parameters * 1e9)
    if not 2 <= bits <= 17:
        yield f"{variant.file} has {bits:.1f} bits a parameter"
