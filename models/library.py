"""Finds the model files on this machine and tells what each one is, or why it cannot be used."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from models import shards
from models.errors import EngineError, Field
from models.gguf import Header
from models.headers import Headers, Stamp, stamp
from models.places import Origin, Place, Walk, distinct, is_projector, projector_among, unquantised

BUNDLED = "bundled"
"""The name that stands for the model shipped with the program."""

Kind = Literal["language", "embedding", "reranker", "projector", "other"]
"""What a model is for: it answers, turns texts into vectors, ranks them, lets another see; or none."""

_EMBEDDING = (
    "bert",
    "eurobert",
    "gemma-embedding",
    "jina-bert-v2",
    "jina-bert-v3",
    "llama-embed",
    "modern-bert",
    "neo-bert",
    "nomic-bert",
    "nomic-bert-moe",
    "t5encoder",
)
"""Architectures (llama.cpp) that only turn texts into vectors."""

_VECTORS, _RANK = (1, 2, 3), 4
"""Values of <architecture>.pooling_type: mean, cls and last token; rank."""

_LONGEST_TITLE = 120
_MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model on this machine. `error` is empty, or the code of what is wrong with it, filled by `fields`.

    `path` is what an engine is given: the file, or the first part of a split model. `parts` are all its files
    in order and `size` their bytes; neither counts the `projector`, through which it sees. `context` is the
    trained window in tokens, `tools` whether its template speaks of them.
    """

    name: str
    path: Path
    size: int
    architecture: str = ""
    context: int = 0
    quantisation: str = ""
    error: str = ""
    fields: tuple[tuple[str, Field], ...] = ()
    kind: Kind = "language"
    origin: Origin = "orion"
    parts: tuple[Path, ...] = ()
    projector: Path | None = None
    title: str = ""
    parameters: int = 0
    tools: bool = False


class Store(Protocol):
    """What another program holds."""

    def places(self, walk: Walk) -> list[Place]:
        """The models in it, found through `walk` where they lie in folders. Never raises."""
        ...


class Library:
    """The GGUF models below `folders`, the first of which is that of the bundled ones; below the folders that
    `more` names; at the paths that `imported` gives; and in the `stores` of other programs.

    Looking again costs a look at each folder and file: folders are read again when their time of change
    differs, headers when size or time of a file does. A name that was found before costs a look at its files
    alone, until `list` sees other models. May be used from several threads.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        *,
        more: Callable[[], Iterable[Path]] = tuple,
        imported: Callable[[], Iterable[Path]] = tuple,
        stores: Sequence[Store] = (),
        cache: Path | None = None,
    ) -> None:
        """`cache` is a file in which headers are kept from one start of the program to the next."""
        self._folders = tuple(folders)
        self._more = more
        self._imported = imported
        self._stores = tuple(stores)
        self._walk = Walk()
        self._headers = Headers(cache)
        self._known: dict[Place, tuple[Stamp, ModelFile]] = {}
        self._listed: builtins.list[Place] = []
        self._found: dict[str, Place] = {}

    def list(self) -> builtins.list[ModelFile]:
        """Every model, bundled ones first, then the program's own, then those of others, each by name; broken
        ones have their error. Names are distinct. Projectors belong to models and are not listed."""
        places = self._places()
        found = [self._inspected(place) for place in places]
        known = self._known
        self._known = {place: known[place] for place in places if place in known}
        if places != self._listed:
            self._listed, self._found = places, {}
        self._headers.keep(place.files[0] for place in places)
        return [file for file in found if file.kind != "projector"]

    def empty(self) -> bool:
        """Whether there is no model file at all; opens none."""
        return not self._places()

    def find(self, name: str) -> ModelFile:
        """The usable model called `name`: a listed name, a file name or path, or "bundled" (also "") for the
        first one that answers.

        EngineError model_unknown (name, known), model_missing (path) or whatever is wrong with the file.
        """
        place = self._found.get(name)
        before = self._known.get(place) if place is not None else None
        if place is not None and before is not None and before[0] == _stamp_of(place) and not before[1].error:
            return before[1]
        place = self._sought(name)
        file = _usable(self._inspected(place))
        self._found[name] = place
        return file

    def _sought(self, name: str) -> Place:
        places = self._places()
        if name in ("", BUNDLED):
            return self._first(places)
        place = _named(name, places)
        if place is None:
            if "/" not in name and not name.lower().endswith(".gguf"):
                known = ", ".join(place.name for place in places[:_MOST_NAMED])
                raise EngineError("model_unknown", name=name, known=known)
            place = _at(Path(os.path.expanduser(name)), self._walk)
        return place

    def header(self, model: ModelFile) -> Header:
        """The header of a listed `model`, without its longest lists; read once per file. EngineError."""
        return self._headers.read(model.parts or (model.path,))

    def _places(self) -> builtins.list[Place]:
        found: builtins.list[Place] = []
        for number, folder in enumerate(self._folders):
            found += self._walk.places(folder, "orion" if number else "bundled")
        found += [_at(path, self._walk) for path in self._imported()]
        for folder in self._more():
            found += self._walk.places(folder, "imported")
        for store in self._stores:
            found += store.places(self._walk)
        return distinct(found)

    def _first(self, places: builtins.list[Place]) -> Place:
        """The first that answers; else the first broken one of the program's or the user's, whose fault is
        told."""
        broken: Place | None = None
        for place in places:
            file = self._inspected(place)
            if file.kind == "language" and not file.error:
                return place
            if broken is None and file.error and file.origin not in ("lmstudio", "ollama"):
                broken = place
        if broken is None:
            raise EngineError("model_missing", path=str(self._folders[-1]))
        return broken

    def _inspected(self, place: Place) -> ModelFile:
        seen = _stamp_of(place)
        known = self._known.get(place)
        if known is None or known[0] != seen:
            known = (seen, _inspect(place, self._headers))
            self._known[place] = known
        return known[1]


def inspect(path: Path) -> ModelFile:
    """What the header of one file, or of the split model it belongs to, says; never raises for a bad file."""
    return _inspect(_at(path, Walk()), Headers())


def kind_of(header: Header) -> Kind:
    """What the model of `header` is for."""
    sort = str(header.metadata.get("general.type", "model"))
    if header.architecture == "clip" or sort == "mmproj":
        return "projector"
    if sort != "model" or not header.metadata.get("tokenizer.ggml.tokens"):
        return "other"
    pooling = header.metadata.get(f"{header.architecture}.pooling_type")
    if pooling == _RANK:
        return "reranker"
    return "embedding" if pooling in _VECTORS or header.architecture in _EMBEDDING else "language"


def _named(name: str, places: builtins.list[Place]) -> Place | None:
    """The place that `name` means; its own name counts more than the others it goes by."""
    for place in places:
        if name == place.name:
            return place
    for place in places:
        if name in place.also or any(name in (file.name, str(file)) for file in place.files):
            return place
    return None


def _at(path: Path, walk: Walk) -> Place:
    """The model that the file at `path` belongs to, with its projector beside it."""
    part = shards.part_of(path)
    several = part is not None and part.count > 1 and os.path.isfile(part.path(1))
    files = part.paths() if part is not None and several else (path,)
    eye = None if is_projector(path) else projector_among(files[0], walk.beside(files[0]))
    return Place(shards.stem_of(path), files, "imported", eye)


def _inspect(place: Place, headers: Headers) -> ModelFile:
    file = ModelFile(
        name=place.name,
        path=place.files[0],
        size=place.size or sum(size for _, _, size in stamp(place.files)),
        origin=place.origin,
        parts=place.files,
        projector=place.projector if place.projector and os.path.isfile(place.projector) else None,
        title=place.title or place.name,
        error=place.error,
        fields=place.fields,
    )
    if place.error:
        return file
    try:
        return _described(file, headers.read(place.files), place)
    except EngineError as error:
        return replace(file, error=error.code, fields=tuple(error.fields.items()))


def _described(file: ModelFile, header: Header, place: Place) -> ModelFile:
    kind = kind_of(header)
    error: tuple[str, tuple[tuple[str, Field], ...]] = ("", ())
    if place.size and header.size != place.size:
        fields: dict[str, Field] = {"path": str(file.path), "size": header.size, "expected": place.size}
        error = ("model_file_truncated", tuple(fields.items()))
    elif kind == "other":
        held = str(header.metadata.get("general.type", "")) or header.architecture or "something else"
        error = ("model_file_other", (("path", str(file.path)), ("held", _plain(held))))
    elif kind == "language" and header.seeing:
        error = ("model_file_mixed", (("path", str(file.path)), ("name", file.name)))
    return replace(
        file,
        size=header.size,
        architecture=header.architecture,
        context=header.context_length,
        quantisation=header.quantisation,
        kind=kind,
        parts=header.parts,
        title=place.title or _title(file, header),
        parameters=header.parameters,
        tools="tools" in header.chat_template,
        error=error[0],
        fields=error[1],
    )


def _title(file: ModelFile, header: Header) -> str:
    """The name in the header; for what the program brings, the file's, which was chosen with care."""
    own = unquantised(file.path)
    return own if file.origin == "bundled" else _plain(header.name) or own


def _usable(file: ModelFile) -> ModelFile:
    if file.error:
        raise EngineError(file.error, **dict(file.fields))
    return file


def _plain(text: str) -> str:
    """`text` from a file as one short line."""
    shown = text[: 8 * _LONGEST_TITLE]
    return " ".join("".join(char if char.isprintable() else " " for char in shown).split())[:_LONGEST_TITLE]


def _stamp_of(place: Place) -> Stamp:
    return stamp((*place.files, place.projector))
