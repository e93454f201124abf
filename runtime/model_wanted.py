"""What is to be fetched of a repository when a user names a model: its files, with its projector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.errors import OrionError
from runtime.messages import JsonObject
from runtime.model_cards import folder_of, licence_to_accept, projector_for

if TYPE_CHECKING:
    from models.catalogue import Entry
    from models.download import Wanted
    from models.hub import Described
    from models.hub_files import File


def ask_for_licence(entry: Entry | None, described: Described | None, accepted: bool) -> None:
    """Raises OrionError `licence_not_accepted` (model, licence, url) where it has to be and was not."""
    if accepted:
        return
    if entry is not None and entry.accept:
        url = entry.licence_url
        raise OrionError("licence_not_accepted", model=entry.title, licence=entry.licence, url=url)
    if entry is None and described is not None and licence_to_accept(entry, described):
        page = f"https://huggingface.co/{described.repository}"
        name = described.repository.rpartition("/")[2]
        raise OrionError("licence_not_accepted", model=name, licence=described.licence, url=page)


def wanted(described: Described, entry: Entry | None, card: JsonObject, file: str) -> Wanted:
    """The files of the variant `file` of `card`, which is a file's name or a quantisation, "" for the one
    that is recommended. Raises OrionError `model_file_not_offered` (name, file, known)."""
    from models.download import Wanted

    variant = _chosen(card, _renamed(card, entry, file))
    there = {one.name: one for one in described.files}
    files: list[File] = [there[name] for name in variant["files"] if name in there]
    if len(files) < len(variant["files"]):
        missing = next(name for name in variant["files"] if name not in there)
        raise _not_offered(card, missing)
    kind = str(card["kind"])
    if kind in ("language", "vision") and (eye := projector_for(described, entry)) is not None:
        files.append(eye)
        kind = "vision"
    form = f" {variant['quantisation']}" if variant["quantisation"] else ""
    return Wanted(
        repository=described.repository,
        revision=described.revision,
        files=tuple(files),
        title=f"{card['title']}{form}",
        kind=kind,
        into=folder_of(described.repository, kind),
    )


def _renamed(card: JsonObject, entry: Entry | None, file: str) -> str:
    """`file`, or its quantisation where the catalogue calls it so and the hub has another name for it by
    now."""
    if entry is None or any(variant["file"] == file for variant in card["variants"]):
        return file
    return next((known.quantisation for known in entry.variants if known.file == file), "") or file


def _chosen(card: JsonObject, file: str) -> JsonObject:
    """The variant that `file` means."""
    variants: list[JsonObject] = card["variants"]
    meant = file.lower()
    for variant in variants:
        names = {str(variant["file"]).lower(), str(variant["file"]).lower().rpartition("/")[2]}
        if meant in names or (meant and meant == str(variant["quantisation"]).lower()):
            return variant
    if not file:
        for variant in variants:
            if variant["recommended"]:
                return variant
        if variants:
            return min(variants, key=lambda variant: int(variant["size"]))
    raise _not_offered(card, file)


def _not_offered(card: JsonObject, file: str) -> OrionError:
    known = ", ".join(str(variant["quantisation"] or variant["file"]) for variant in card["variants"][:12])
    return OrionError("model_file_not_offered", name=str(card["id"]), file=file or "GGUF", known=known or "–")
