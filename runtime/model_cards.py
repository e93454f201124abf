"""Cards of models that can be fetched: what catalogue and hub say of them, and how they would run here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from math import log
from pathlib import Path, PurePosixPath
from re import IGNORECASE, sub
from typing import TYPE_CHECKING, Literal

from runtime.messages import JsonObject

if TYPE_CHECKING:
    from models.catalogue import Catalogue, Entry, Kind, Variant
    from models.fitness import Fitness, Machine
    from models.footprint import Load
    from models.hub import Described, Found, Shape
    from models.hub_files import File, HubVariant
    from models.library import ModelFile

_PIPELINES = {
    "automatic-speech-recognition": "speech",
    "feature-extraction": "embedding",
    "image-text-to-text": "vision",
    "sentence-similarity": "embedding",
}
"""What the hub calls the tasks of models that do not only write."""

_LAST = ("embedding", "speech")
"""Kinds that are shown after those that answer."""

_USUAL, _USUAL_BYTES = "Q4_K_M", 0.6
"""The form of most files, and the bytes of a parameter in it."""

_TO_ACCEPT = ("gemma", "llama")
"""How the names of licences begin that the user has to accept by name."""


def fit_row(fit: Fitness) -> JsonObject:
    """A Fitness as plain values."""
    return asdict(fit)


def folder_of(repository: str, kind: str) -> str:
    """Where below the folder of models the files of `repository` go: "maker/name", but a recogniser directly
    where speech looks for it by its name."""
    return repository.rpartition("/")[2] if kind == "speech" else repository


class Cards:
    """Made for one answer from a look at the machine and at the models `here`. Blocks for milliseconds."""

    def __init__(self, catalogue: Catalogue, machine: Machine, here: Iterable[tuple[Path, str]]) -> None:
        """`here` are the files of models that are on this machine, with the models' names."""
        self._catalogue = catalogue
        self._machine = machine
        self._here = {tail(path.as_posix()): name for path, name in here}

    def recommended(self, kind: Kind | Literal[""]) -> list[JsonObject]:
        """The catalogue's models of `kind`, the best one for this machine first; of all kinds for "", those
        that answer first."""
        from models.fitness import recommended

        picks = recommended(self._catalogue.entries, self._machine, kind)
        if not kind:
            picks = sorted(
                picks, key=lambda pick: _LAST.index(pick.entry.kind) if pick.entry.kind in _LAST else -1
            )
        return [self.of_entry(pick.entry, suggested=pick.variant.file) for pick in picks]

    def known(self, words: str) -> list[JsonObject]:
        """The catalogue's models that have all of `words` in what is said of them."""
        wanted = words.lower().split()
        return [self.of_entry(entry) for entry in self._catalogue.entries if _has(entry, wanted)]

    def of_entry(self, entry: Entry, described: Described | None = None, suggested: str = "") -> JsonObject:
        """A model of the catalogue; files and sizes as the hub says them where it was asked."""
        variants = [self._listed(entry, variant) for variant in entry.variants]
        if described is not None and entry.kind != "speech":
            variants = [
                self._offered(described, variant, entry) for variant in described.variants
            ] or variants
        return {
            "id": entry.repository,
            "title": entry.title,
            "maker": entry.maker,
            "about": entry.about,
            "licence": entry.licence,
            "licence_url": entry.licence_url,
            "accept": entry.accept,
            "gated": described.gated if described else False,
            "kind": entry.kind,
            "parameters": entry.parameters,
            "window": entry.window,
            "tools": entry.tools,
            "vision": entry.vision,
            "reasoning": entry.reasoning,
            "downloads": None,
            "variants": _marked(variants, suggested),
        }

    def of_found(self, found: Found) -> JsonObject:
        """A search result of the hub; its files are not known before it is described."""
        kind = _PIPELINES.get(found.pipeline, "language")
        facts = _hub_facts(found.repository, found.licence, found.gated, found.shape, kind)
        return facts | {"title": found.title, "downloads": found.downloads, "variants": []}

    def of_described(self, described: Described) -> JsonObject:
        """A repository of the hub that the catalogue does not know."""
        kind = "vision" if described.projectors else "language"
        facts = _hub_facts(described.repository, described.licence, described.gated, described.shape, kind)
        variants = [self._offered(described, variant) for variant in described.variants]
        return facts | {"title": untyped(str(facts["title"])), "variants": _marked(variants)}

    def of_file(self, model: ModelFile, fit: JsonObject | None) -> JsonObject:
        """A model that is on this machine and in no catalogue."""
        variant = {
            "file": model.path.name,
            "files": [part.name for part in model.parts],
            "quantisation": model.quantisation,
            "size": model.size,
            "about": False,
            "fit": fit,
            "installed": model.name,
            "recommended": False,
        }
        return {
            "id": model.name,
            "title": model.title or model.name,
            "maker": "",
            "about": "",
            "licence": "",
            "licence_url": "",
            "accept": False,
            "gated": False,
            "kind": "vision" if model.kind == "language" and model.projector else model.kind,
            "parameters": round(model.parameters / 1e9, 3),
            "window": model.context,
            "tools": model.tools,
            "vision": model.projector is not None,
            "reasoning": None,
            "downloads": None,
            "variants": [variant],
        }

    def _listed(self, entry: Entry, variant: Variant) -> JsonObject:
        from models.fitness import of_variant

        here = self._installed(entry.repository, entry.kind, variant.file)
        fit = of_variant(entry, variant, self._machine, here=bool(here))
        return {
            "file": variant.file,
            "files": list(variant.files),
            "quantisation": variant.quantisation,
            "size": variant.size,
            "about": variant.about,
            "fit": fit_row(fit),
            "installed": here,
        }

    def _offered(self, described: Described, variant: HubVariant, entry: Entry | None = None) -> JsonObject:
        from models.fitness import fitness

        file, eye = variant.files[0].name, projector_for(described, entry)
        here = self._installed(described.repository, entry.kind if entry else "language", file)
        beside = max(0, eye.size) if eye else 0
        fit: JsonObject | None = None
        if variant.size > 0:  # nothing can be said of a file whose size the hub does not name
            load = replace(self._load(described, variant, entry), beside=beside)
            needed = 0 if here else variant.size + beside
            fit = fit_row(fitness(load, self._machine, disk_needed=needed))
        return {
            "file": file,
            "files": [part.name for part in variant.files],
            "quantisation": variant.quantisation,
            "size": max(0, variant.size),
            "about": False,
            "fit": fit,
            "installed": here,
        }

    def _load(self, described: Described, variant: HubVariant, entry: Entry | None) -> Load:
        """The load of a file of the hub: by the catalogue's shape of that model, else by the shape of the
        catalogue's model that has the nearest number of parameters."""
        from models.footprint import QUANTISATIONS, Load, of_shape

        form = variant.quantisation if variant.quantisation in QUANTISATIONS else _USUAL
        shapes = [known for known in self._catalogue.entries if known.shape and known.kind == "language"]
        wanted = described.shape.parameters / 1e9 or variant.size / _USUAL_BYTES / 1e9
        near = entry or min(shapes, key=lambda known: abs(log(known.parameters / wanted)), default=None)
        if near is None or near.shape is None:
            return Load(0, 0, 0, 0, 0, described.shape.window, 0, variant.size)
        window = entry.window if entry else described.shape.window
        share = near.active / near.parameters if entry else 1.0
        return of_shape(near.shape, variant.size, form, window, share)

    def _installed(self, repository: str, kind: str, file: str) -> str:
        return self._here.get(tail(f"{folder_of(repository, kind)}/{file}"), "")


def titles(catalogue: Catalogue) -> dict[str, str]:
    """What the catalogue calls the models whose files lie where this program puts them, by the last names of
    their paths; see `tail`."""
    return {
        tail(f"{folder_of(entry.repository, entry.kind)}/{variant.file}"): entry.title
        for entry in catalogue.entries
        for variant in entry.variants
    }


def licence_to_accept(entry: Entry | None, described: Described) -> bool:
    """Whether the user has to accept a licence by name before this is fetched."""
    if entry is not None:
        return entry.accept
    return described.licence.lower().startswith(_TO_ACCEPT)


def projector_for(described: Described, entry: Entry | None) -> File | None:
    """The projector to be fetched with a model: the catalogue's, else the smallest whose numbers have 16
    bits, else the smallest."""
    if entry is not None and entry.projector is not None:
        names = {file.name: file for file in described.projectors}
        if entry.projector.file in names:
            return names[entry.projector.file]
    rows = sorted(described.projectors, key=lambda file: ("f16" not in file.name.lower(), file.size))
    return rows[0] if rows else None


def _hub_facts(repository: str, licence: str, gated: bool, shape: Shape, kind: str) -> JsonObject:
    maker, _slash, name = repository.partition("/")
    return {
        "id": repository,
        "title": name,
        "maker": maker,
        "about": "",
        "licence": licence,
        "licence_url": "",
        "accept": licence.lower().startswith(_TO_ACCEPT),
        "gated": gated,
        "kind": kind,
        "parameters": round(shape.parameters / 1e9, 2),
        "window": shape.window,
        "tools": None,
        "vision": kind == "vision",
        "reasoning": None,
        "downloads": None,
    }


def _marked(variants: Sequence[JsonObject], suggested: str = "") -> list[JsonObject]:
    """`variants` with the one recommended: `suggested`, else the largest that runs well, else the smallest
    that runs at all."""
    judged = [v for v in variants if v["fit"]]
    brisk = [v for v in judged if v["fit"]["verdict"] == "good" and _is_brisk(v["fit"])]
    runs = [v for v in judged if v["fit"]["verdict"] in ("good", "tight", "slow")]
    best = max(brisk, key=_size, default=None) or min(runs, key=_size, default=None)
    chosen = suggested or (best["file"] if best else "")
    return [variant | {"recommended": variant["file"] == chosen} for variant in variants]


def _is_brisk(fit: JsonObject) -> bool:
    from models.fitness import BRISK

    speed = float(fit["tokens_per_second"])
    return speed == 0 or speed >= BRISK


def _size(variant: JsonObject) -> int:
    return int(variant["size"])


def _has(entry: Entry, wanted: Sequence[str]) -> bool:
    told = " ".join((entry.name, entry.title, entry.maker, entry.repository, entry.kind, entry.about)).lower()
    return all(word in told for word in wanted)


def untyped(repository: str) -> str:
    """The name of a repository without the kind of its files at the end."""
    return sub(r"[-_.]gguf$", "", repository, flags=IGNORECASE)


def tail(path: str) -> str:
    """The last three names of a path, which are maker, name and file."""
    return "/".join(PurePosixPath(path).parts[-3:])
