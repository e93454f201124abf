"""Who uses a model of this machine: it is chosen here, and deleted only once nothing holds it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import resources
from models.errors import EngineError
from runtime.errors import OrionError
from runtime.messages import JsonObject
from runtime.model_exams import ExamRoom
from runtime.model_faults import beside, failed
from runtime.model_rows import recognisers

if TYPE_CHECKING:
    from models.library import ModelFile
    from models.references import References
    from models.worker_client import LocalEngine
    from runtime.assemble import Runtime


class Uses:
    """Knows who uses a model of this machine and lets it go. Used from the runtime's loop."""

    def __init__(self, runtime: Runtime, exams: ExamRoom, references: References) -> None:
        self._runtime = runtime
        self._exams = exams
        self._references = references

    async def find(self, name: str) -> ModelFile:
        """The usable model called `name`. Raises OrionError `model_unknown` or what is wrong with it."""
        return await beside(self._runtime.library.find, name)

    def here(self, name: str) -> ModelFile | None:
        """The model on this machine that is listed as `name`, also a broken one. Blocks."""
        return next((model for model in self._runtime.library.list() if model.name == name), None)

    def default(self) -> str:
        """The name of the model that new conversations use, "" where none on this machine answers. Blocks."""
        settings, library = self._runtime.settings, self._runtime.library
        try:
            profile = self._runtime.profiles.get(settings.agent.profile)
        except OrionError:
            return ""
        if profile.provider != "local":
            return ""
        chosen = settings.agent.model or profile.model
        try:
            found = library.find(settings.local_model.model if chosen in ("", "bundled") else chosen)
        except EngineError:
            return ""
        return found.name

    def held(self) -> frozenset[Path]:
        """The files of the models that engines of this process hold in memory."""
        return frozenset(Path(engine.info.path) for engine in self._engines() if engine.info)

    def memory(self) -> int:
        """Bytes that become free when the models in memory leave it, as they do for another one; what is
        mapped from files counts as free already. 0 where the system does not tell these apart."""
        import psutil

        found = 0
        for engine in self._engines():
            with suppress(psutil.Error):
                if pid := engine.pid:
                    info = psutil.Process(pid).memory_info()
                    found += info.rss - getattr(info, "shared", info.rss)
        return found

    async def frees(self, name: str) -> JsonObject:
        """{"bytes", "files"}: what deleting the model would free. Raises OrionError `model_unknown`,
        `model_bundled_kept` and `model_held_by_ollama` (name)."""
        from models.removal import frees

        if folder := self._recogniser(name):
            return await beside(_held_in, folder)
        model = await self._any(name)
        installed = await asyncio.to_thread(self._runtime.library.list)
        freed = await beside(frees, model, installed, self._references)
        return {"bytes": freed.bytes, "files": [str(file) for file in freed.files]}

    async def delete(self, name: str, *, agreed: bool) -> JsonObject:
        """Delete the model; see ModelShelf.delete."""
        from models.removal import delete

        freed = await self.frees(name)
        if folder := self._recogniser(name):
            await beside(_remove, folder, list(freed["files"]))
            if self._runtime.settings.voice.recogniser in (folder.name, str(folder)):
                self._runtime.save_settings({"voice.recogniser": ""})
            return freed
        model = await self._any(name)
        chosen = await asyncio.to_thread(lambda: list(self._settings_of(model)))
        if self._exams.examines(model.name):
            await self._exams.stop()
        await self._unload(model)
        installed = await asyncio.to_thread(self._runtime.library.list)
        folder = self._runtime.home.weights
        gone = await beside(delete, model, installed, folder, self._references, agreed=agreed)
        if chosen:
            self._runtime.save_settings(dict.fromkeys(chosen, ""))
        return {"bytes": gone.bytes, "files": [str(file) for file in gone.files]}

    async def use(self, name: str, session: str) -> JsonObject:
        """Choose the model; see ModelShelf.use."""
        if folder := self._recogniser(name, bundled=True):
            own = folder == resources.recogniser_dir()
            self._runtime.save_settings({"voice.recogniser": "" if own else folder.name})
            return {"name": folder.name, "profile": "", "kind": "speech"}
        model = await asyncio.to_thread(self.here, name.removeprefix("local/"))
        if model is None:
            return await self._runtime.choose(name, session)
        if model.error:
            raise failed(model.error, dict(model.fields))
        if model.kind != "language":
            raise OrionError("model_not_for_chat", name=model.name)
        return await self._runtime.choose(f"local/{model.name}", session)

    async def replaced(self, path: Path) -> None:
        """The file at `path` is another one now: an engine that still holds the old one lets it go as soon as
        its answer is complete."""
        for engine in self._engines():
            if _holds(engine, path):
                await engine.unload()

    async def _any(self, name: str) -> ModelFile:
        """The model called `name`, also a broken one, which can be deleted too."""
        found = await asyncio.to_thread(self.here, name)
        return found or await self.find(name)

    def _recogniser(self, name: str, *, bundled: bool = False) -> Path | None:
        """The folder of the recogniser called `name`. Raises OrionError `model_bundled_kept` for one that was
        shipped, unless `bundled`."""
        own = next((f for f in recognisers([resources.weights_dir()]) if f.name == name), None)
        if own is not None and not bundled:
            raise OrionError("model_bundled_kept", name=name)
        fetched = recognisers([self._runtime.home.weights])
        return own or next((folder for folder in fetched if folder.name == name), None)

    def _settings_of(self, model: ModelFile) -> Iterator[str]:
        """The settings that name `model`. Blocks."""
        settings = self._runtime.settings
        named = (("agent.model", settings.agent.model), ("local_model.model", settings.local_model.model))
        for setting, value in named:
            try:
                if value and self._runtime.library.find(value).path == model.path:
                    yield setting
            except EngineError:
                continue

    async def _unload(self, model: ModelFile) -> None:
        """Take it out of the memory. Raises OrionError `model_busy` (name) while it answers."""
        for engine in self._engines():
            if engine.busy and (engine.info is None or _holds(engine, model.path)):
                raise OrionError("model_busy", name=model.name)
            if _holds(engine, model.path):
                await engine.unload()

    def _engines(self) -> list[LocalEngine]:
        from runtime.providers.local import LocalProvider

        made = self._runtime.made("local")
        return [client.engine for client in made if isinstance(client, LocalProvider)]


def _holds(engine: LocalEngine, path: Path) -> bool:
    return engine.info is not None and engine.info.path == str(path)


def _held_in(folder: Path) -> JsonObject:
    """What deleting a recogniser frees: the files in its folder, without what lies in folders below; of one
    that is a link, nothing but the link."""
    if folder.is_symlink():
        return {"bytes": 0, "files": [str(folder)]}
    files = sorted(file for file in folder.iterdir() if file.is_file() or file.is_symlink())
    size = sum(file.lstat().st_size for file in files)
    return {"bytes": size, "files": list(map(str, files))}


def _remove(folder: Path, files: Sequence[str]) -> None:
    """Delete the `files` of a recogniser, and its `folder` unless something else lies in it."""
    try:
        for file in files:
            Path(file).unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise EngineError("model_delete_failed", path=str(folder), reason=reason) from error
