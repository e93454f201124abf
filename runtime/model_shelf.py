"""The models on this machine and those that can be fetched, as every door shows and handles them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import resources
from models.references import References
from runtime import services
from runtime.errors import OrionError
from runtime.exam.exam import Exam, Step
from runtime.messages import JsonObject
from runtime.model_arrivals import Arrivals
from runtime.model_cards import Cards, titles
from runtime.model_exams import ExamRoom
from runtime.model_faults import beside
from runtime.model_rows import InstalledRows, machine_row, recogniser_row, recognisers
from runtime.model_sources import DOWNLOAD, SEARCH, Sources
from runtime.model_uses import Uses
from runtime.model_wanted import ask_for_licence, wanted

if TYPE_CHECKING:
    from models.catalogue import Catalogue, Entry
    from models.fitness import Machine
    from models.hub import Described
    from models.library import ModelFile
    from runtime.assemble import Runtime

Mode = Literal["copy", "move", "in_place"]
Kind = Literal["", "language", "vision", "embedding", "speech"]
FOUND = 20
"""Repositories of the hub that a search shows at most."""


class ModelShelf:
    """Everything a door needs of models, as plain rows. Used from the runtime's loop and closed by it; what
    blocks runs in threads. Nothing is sent anywhere before the host was allowed.

    Rows: a CARD is a model that can be fetched with its variants and a FIT each, see Cards; an INSTALLED one
    is on this machine, see InstalledRows; a DOWNLOAD is on its way, see Arrivals; an EXAMRUN is an exam under
    way, see model_exams.Run.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        references = References(runtime.home.models_file)
        self._sources = Sources(runtime.network, runtime.keys, lambda: runtime.settings.models.hub)
        self._exams = ExamRoom(self._sit)
        self._uses = Uses(runtime, self._exams, references)
        self._arrivals = Arrivals(
            runtime.home,
            lambda: self._sources.hub(DOWNLOAD),
            runtime.library,
            references,
            self._uses.replaced,
        )
        self._rows = InstalledRows(runtime.library, runtime.exams, self._titles, runtime.home.weights)
        self._seen: Machine | None = None
        self._looking = asyncio.Lock()
        self._read: Catalogue | None = None
        self._reading = threading.Lock()

    # --- what there is --------------------------------------------------------------------------------

    async def machine(self) -> JsonObject:
        """{processor, cores, memory, memory_available, cards: [{name, memory}], disk_free, bandwidth}; bytes,
        and bytes a second. Takes about two seconds the first time on a machine."""
        return machine_row(await self._machine())

    async def installed(self) -> list[JsonObject]:
        """Every model on this machine: [INSTALLED], recognisers of speech last."""
        machine = await self._for_models()
        default = await asyncio.to_thread(self._uses.default)
        held = self._uses.held()
        rows = await asyncio.to_thread(self._rows.rows, machine, default, held.__contains__)
        return rows + await asyncio.to_thread(self._recognisers, machine)

    async def recommended(self, kind: Kind = "") -> list[JsonObject]:
        """The catalogue's models of `kind`, the best one for this machine first: [CARD]."""
        cards = await self._cards()
        return await asyncio.to_thread(cards.recommended, kind)

    async def search(self, words: str, *, offline: bool = False) -> JsonObject:
        """{"known": [CARD] of the catalogue, "found": [CARD] of the hub without variants, "refused": the host
        that was not asked because it was not allowed, else ""}. Raises OrionError where the hub fails."""
        cards = await self._cards()
        known = await asyncio.to_thread(cards.known, words)
        refused = self._sources.refused
        if offline or refused or not words.strip():
            return {"known": known, "found": [], "refused": refused}
        found = await beside(self._sources.hub(SEARCH).search, words.strip(), FOUND)
        named = {card["id"] for card in known}
        rows = [cards.of_found(one) for one in found if one.repository not in named]
        return {"known": known, "found": rows, "refused": ""}

    async def info(self, name: str, *, offline: bool = False) -> JsonObject:
        """The CARD of a model of the catalogue, of the hub ("maker/name") or on this machine, with every
        variant; one of the catalogue also where the hub fails. Raises OrionError `host_refused` (host),
        `catalogue_unknown` (name), or as the hub fails."""
        entry, cards = await self._entry(name), await self._cards()
        if entry is not None:
            described = None
            if not offline and not self._sources.refused:
                with suppress(OrionError):
                    described = await self._described(entry.repository, SEARCH)
            return await asyncio.to_thread(cards.of_entry, entry, described)
        model = await asyncio.to_thread(self._uses.here, name)
        if model is not None:
            return cards.of_file(model, self._rows.fit(model, await self._for_models()))
        if name.count("/") != 1 or offline:
            raise OrionError("catalogue_unknown", name=name)
        self._sources.check()
        return await asyncio.to_thread(cards.of_described, await self._described(name, SEARCH))

    async def allow(self, host: str) -> None:
        """Let models be looked for and fetched at `host`, which the user has just agreed to."""
        self._runtime.network.allow(host, services.HUB)

    # --- what comes ------------------------------------------------------------------------------------

    async def fetch(self, name: str, file: str = "", accepted: bool = False) -> JsonObject:
        """Begin to fetch a model, or go on where it was left: a DOWNLOAD. `name` is of the catalogue or
        "maker/name"; `file` a variant's file or quantisation, "" for the recommended one. `accepted` says
        that the user agreed to the licence. Raises OrionError `licence_not_accepted` (model, licence, url)
        and `host_refused` (host), which are questions to the user, or as the hub and the disk fail."""
        entry = await self._entry(name)
        repository = entry.repository if entry else name
        known = accepted or any(row["repository"] == repository for row in await self._arrivals.rows())
        ask_for_licence(entry, None, known)
        if entry is None and repository.count("/") != 1:
            raise OrionError("catalogue_unknown", name=name)
        self._sources.check()
        described = await self._described(repository, DOWNLOAD)
        ask_for_licence(entry, described, known)
        cards = await self._cards()
        card = cards.of_entry(entry, described) if entry else cards.of_described(described)
        return await self._arrivals.fetch(wanted(described, entry, card, file))

    async def pause(self, download: str) -> None:
        """Let a download rest; what was fetched stays. An import is ended."""
        await self._arrivals.pause(download)

    async def resume(self, download: str) -> JsonObject:
        """Go on with a download that rests or failed: its row."""
        return await self._arrivals.resume(download)

    async def stop(self, download: str) -> None:
        """Give a download or an import up and drop what came of it; takes one that has ended off the list."""
        await self._arrivals.stop(download)

    async def downloads(self) -> list[JsonObject]:
        """Everything on its way and what has ended since this process began: [DOWNLOAD]."""
        return await self._arrivals.rows()

    async def step(self, seen: int) -> JsonObject:
        """{"step", "downloads": [DOWNLOAD]} once something changed after step `seen`; at once for -1."""
        return await self._arrivals.step(seen)

    async def go_on(self) -> None:
        """Take up the downloads that ran when the program ended."""
        await self._arrivals.go_on()

    async def plan_import(self, paths: Sequence[str]) -> list[JsonObject]:
        """What taking in these files or folders would mean: [{path, name, size, modes, code, fields}]."""
        return await self._arrivals.plan(paths)

    async def take(self, paths: Sequence[str], mode: Mode = "copy") -> list[JsonObject]:
        """Begin to take in the usable ones among these files and folders: [DOWNLOAD] of kind "import"."""
        return await self._arrivals.take(paths, mode)

    # --- what is done with those that are here ---------------------------------------------------------

    async def frees(self, name: str) -> JsonObject:
        """{"bytes", "files"}: what deleting the model would free. Raises as `delete`, without model_busy."""
        return await self._uses.frees(name)

    async def delete(self, name: str, agreed: bool = False) -> JsonObject:
        """Delete a model from the disk, taking it out of memory and ending its exam first; what `frees` said.
        What was set to use it uses the bundled one. Raises OrionError `model_unknown`, `model_busy` while it
        answers, where it must not or cannot be deleted, and `model_held_by_lmstudio` or `model_in_own_folder`
        (name, path) unless the user `agreed` to delete what another program or they themselves put there."""
        freed = await self._uses.delete(name, agreed=agreed)
        self._arrivals.news.tell()
        return freed

    async def exam(self, name: str) -> JsonObject:
        """Begin to examine a model: an EXAMRUN. Raises OrionError `model_unknown`, `exam_busy` (model),
        `exam_not_for_kind` (name)."""
        model = await self._uses.find(name)
        if model.kind != "language":
            raise OrionError("exam_not_for_kind", name=model.name)
        return self._exams.begin(model).as_row()

    async def exam_step(self, seen: int) -> JsonObject:
        """{"step", "run": EXAMRUN or None} once something changed after step `seen`; at once for -1."""
        return await self._exams.step(seen)

    async def stop_exam(self) -> None:
        """End the exam that runs; nothing is kept of it."""
        await self._exams.stop()

    async def use(self, name: str, session: str = "") -> JsonObject:
        """Let new conversations, or the stored `session`, use a model of this machine or of a service; a
        recogniser is what listens from now on. The chosen row, with name, profile and, for a recogniser, the
        kind "speech". Raises OrionError `model_unknown`, `model_not_for_chat` (name)."""
        return await self._uses.use(name, session)

    async def close(self) -> None:
        """End exam, downloads and imports; what ran goes on when the program is started again."""
        await self._exams.stop()
        await self._arrivals.close()
        self._sources.close()

    # --- inside ----------------------------------------------------------------------------------------

    async def _machine(self) -> Machine:
        from models.fitness import Machine

        home = self._runtime.home
        async with self._looking:
            if self._seen is None:
                self._seen = await asyncio.to_thread(Machine.look, home.weights, home.cache)
            return await asyncio.to_thread(self._seen.again, home.weights)

    async def _for_models(self) -> Machine:
        """The machine as a model finds it that takes the place of the present one."""
        machine, held = await self._machine(), self._uses.memory()
        hardware = replace(machine.hardware, memory_available=machine.hardware.memory_available + held)
        return replace(machine, hardware=hardware)

    async def _cards(self) -> Cards:
        machine = await self._for_models()
        return await asyncio.to_thread(self._made_cards, machine)

    def _made_cards(self, machine: Machine) -> Cards:
        here = [(part, model.name) for model in self._runtime.library.list() for part in model.parts]
        for folder in recognisers(self._speech_folders):
            here += [(Path(folder.name, file.name), folder.name) for file in folder.iterdir()]
        return Cards(self._catalogue(), machine, here)

    @property
    def _speech_folders(self) -> list[Path]:
        return [resources.weights_dir(), self._runtime.home.weights]

    def _recognisers(self, machine: Machine) -> list[JsonObject]:
        chosen = self._runtime.settings.voice.recogniser
        own = resources.recogniser_dir()
        rows = []
        for folder in recognisers(self._speech_folders):
            used = chosen in (folder.name, str(folder)) if chosen else folder == own
            shipped = folder.parent == resources.weights_dir()
            with suppress(OSError):  # it may go away meanwhile
                rows.append(recogniser_row(folder, machine, bundled=shipped, chosen=used))
        return rows

    async def _entry(self, name: str) -> Entry | None:
        return (await asyncio.to_thread(self._catalogue)).find(name)

    def _catalogue(self) -> Catalogue:
        """Blocks for a fraction of a second the first time."""
        from models.catalogue import Catalogue

        with self._reading:
            self._read = self._read or Catalogue.load()
            return self._read

    def _titles(self) -> dict[str, str]:
        return titles(self._catalogue())

    async def _described(self, repository: str, purpose: str) -> Described:
        return await beside(self._sources.hub(purpose).describe, repository)

    async def _sit(self, model: ModelFile, told: Callable[[Step], None]) -> Exam:
        from runtime.exam.sitting import sit

        runtime = self._runtime
        return await sit(runtime.library, runtime.exams, runtime.settings.local_model, model.name, told)
