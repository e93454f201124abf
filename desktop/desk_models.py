"""What the window may ask about the models here and elsewhere; questions to the desk like its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from runtime.errors import OrionError

if TYPE_CHECKING:
    from desktop.desk import Desk

Plain = dict[str, Any]
Kind = Literal["", "language", "vision", "embedding", "speech"]
Mode = Literal["copy", "move", "in_place"]


async def models_here(desk: Desk) -> Plain:
    """{"machine": MACHINE, "installed": [INSTALLED]} as runtime/model_shelf.py tells them."""
    shelf = desk.runtime.shelf
    return {"machine": await shelf.machine(), "installed": await shelf.installed()}


async def models_go_on(desk: Desk) -> list[Plain]:
    """Take up the downloads that ran when the program ended; all there are: [DOWNLOAD]."""
    await desk.runtime.shelf.go_on()
    return await desk.runtime.shelf.downloads() if desk.runtime.home.downloads.is_dir() else []


async def models_recommended(desk: Desk, kind: Kind) -> list[Plain]:
    """The catalogue's models of a `kind` (empty: all), the best one for this machine first: [CARD]."""
    return await desk.runtime.shelf.recommended(kind)


async def models_search(desk: Desk, words: str) -> Plain:
    """{"known": [CARD], "found": [CARD], "refused": host or "", "code", "fields"}; the hub only where it is
    allowed. `code` and `fields` say why the hub told nothing; the catalogue's part is there all the same."""
    shelf = desk.runtime.shelf
    try:
        return {**await shelf.search(words), "code": "", "fields": {}}
    except OrionError as error:
        known = await shelf.search(words, offline=True)
        return {**known, "code": error.code, "fields": dict(error.fields)}


async def model_info(desk: Desk, name: str) -> Plain:
    """One model with all its files: a CARD. Raises OrionError as a download does."""
    return await desk.runtime.shelf.info(name)


async def model_fetch(desk: Desk, name: str, file: str, accepted: bool) -> Plain:
    """Begin to fetch `file` of the repository `name`: a DOWNLOAD. Raises OrionError `licence_not_accepted`
    and `host_refused` (host), which are questions to the user, and what else keeps it from beginning."""
    return await desk.runtime.shelf.fetch(name, file, accepted=accepted)


async def model_pause(desk: Desk, download: str) -> None:
    """Let a download rest; what was fetched stays."""
    await desk.runtime.shelf.pause(download)


async def model_resume(desk: Desk, download: str) -> None:
    """Go on with a download, also with one that failed."""
    await desk.runtime.shelf.resume(download)


async def model_stop(desk: Desk, download: str) -> None:
    """Give a download up and drop what was fetched; takes one that has ended off the list."""
    await desk.runtime.shelf.stop(download)


async def models_step(desk: Desk, seen: int) -> Plain:
    """{"step", "downloads": [DOWNLOAD]} once something moved on from step `seen`; at once for -1."""
    return await desk.runtime.shelf.step(seen)


async def models_allow(desk: Desk, host: str) -> None:
    """Let models be looked for and fetched at `host` from now on, which the user has just agreed to."""
    await desk.runtime.shelf.allow(host)


async def models_plan(desk: Desk, paths: list[str]) -> list[Plain]:
    """What taking these in would mean: [{"path", "name", "size", "modes", "code", "fields"}]."""
    return await desk.runtime.shelf.plan_import(paths)


async def models_take(desk: Desk, paths: list[str], mode: Mode) -> list[Plain]:
    """Take the files in; how far that is comes by `models_step`, with the kind "import"."""
    return await desk.runtime.shelf.take(paths, mode)


async def model_frees(desk: Desk, name: str) -> Plain:
    """{"bytes", "files": paths}: what deleting the model would free."""
    return await desk.runtime.shelf.frees(name)


async def model_delete(desk: Desk, name: str, agreed: bool) -> None:
    """Delete an installed model from the disk; `agreed` also where it lies in a folder that is not ours.
    Raises OrionError `model_held_by_lmstudio` and `model_in_own_folder`, which are questions to the user."""
    await desk.runtime.shelf.delete(name, agreed=agreed)


async def model_exam(desk: Desk, name: str) -> Plain:
    """Begin to examine an installed model: an EXAMRUN."""
    return await desk.runtime.shelf.exam(name)


async def models_exam_step(desk: Desk, seen: int) -> Plain:
    """{"step", "run": EXAMRUN or None} once the exam moved on from step `seen`; at once for -1."""
    return await desk.runtime.shelf.exam_step(seen)


async def model_stop_exam(desk: Desk) -> None:
    """End the exam that runs; nothing is kept of it."""
    await desk.runtime.shelf.stop_exam()


async def model_use(desk: Desk, name: str) -> Plain:
    """Let new conversations use the model: {"profile", "model"}, with which an open one can be told too."""
    row = await desk.runtime.shelf.use(name)
    return {"profile": str(row["profile"]), "model": str(row["name"])}


async def models_menu(desk: Desk) -> list[Plain]:
    """The rows of the model menu as they are now."""
    return desk.runtime.models()
