"""What can be chosen: the models of every provider that a profile names."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from runtime.errors import OrionError
from runtime.messages import JsonObject
from runtime.profiles import Profile, Profiles
from runtime.providers.provider import ModelInfo, Provider, Traits

if TYPE_CHECKING:
    from models.library import Library

FRESH = 600.0
"""Seconds for which a list that a service gave is not asked for again."""

PATIENCE = 8.0
"""Seconds after which a service that does not send its list is passed over."""


class Offers:
    """Lists models. Used from the runtime's loop. `local` gives the rows of the files on this machine;
    `provider` makes the client of a profile, which asks its service only where that was allowed."""

    def __init__(
        self,
        profiles: Profiles,
        provider: Callable[[Profile, str], Provider],
        local: Callable[[], list[JsonObject]],
    ) -> None:
        self._profiles = profiles
        self._provider = provider
        self._local = local
        self._known: dict[tuple[str, str], tuple[float, list[ModelInfo]]] = {}

    async def all(self) -> list[JsonObject]:
        """The models of every service once, those on this machine first; see `of`."""
        lists = await asyncio.gather(*(self.of(profile) for profile in self._services()))
        return [row for rows in lists for row in rows]

    def _services(self) -> list[Profile]:
        """A profile of each service, this machine first."""
        first: dict[tuple[str, str], Profile] = {}
        for name in self._profiles.names():
            profile = self._profiles.get(name)
            if profile.provider != "scripted":
                first.setdefault((profile.provider, profile.base_url), profile)
        return sorted(first.values(), key=lambda profile: (profile.provider != "local", profile.name))

    async def find(self, name: str) -> JsonObject:
        """The row of the model `name`, "provider/name" or "profile/name", on this machine where several
        have it; services are asked only if it is not here. One whose list is not known is believed to have
        what is asked of it by its own name. Raises OrionError `model_unknown` (name, known)."""
        for profile in self._services():
            if profile.provider == "local" and (here := _called(name, await self.of(profile))):
                return here
        rows = await self.all()
        if found := _called(name, rows):
            return found
        where, _slash, model = name.partition("/")
        for row in rows:
            if row["error"] and model and where in (row["provider"], row["profile"]):
                return row | {"name": model, "default": False}
        known = ", ".join(f"{row['provider']}/{row['name']}" for row in rows[:12])
        raise OrionError("model_unknown", name=name, known=known)

    def forget(self, provider: str) -> None:
        """Ask the services of `provider` anew: they have other models than before."""
        self._known = {key: found for key, found in self._known.items() if key[0] != provider}

    async def of(self, profile: Profile) -> list[JsonObject]:
        """The models of the profile's service: {name, size, window, images, tools, provider, profile, local,
        host, default, error, fields}. `default` marks the profile's own; a service that cannot be asked gives
        that one alone, with the code and fields of why."""
        if profile.provider == "local":
            return [row | {"profile": profile.name} for row in self._local()]
        code, fields = "", {}
        found: list[ModelInfo] = []
        try:
            found = await self._ask(profile)
        except OrionError as error:
            code, fields = error.code, error.fields
        except TimeoutError:
            code, fields = "provider_timeout", {"provider": profile.provider, "seconds": round(PATIENCE)}
        if all(model.name != profile.model for model in found):
            found = [ModelInfo(profile.model), *found]
        return [self._row(profile, model, code, fields) for model in found]

    async def _ask(self, profile: Profile) -> list[ModelInfo]:
        key = (profile.provider, profile.base_url)
        when, known = self._known.get(key, (0.0, []))
        if not known or time.monotonic() - when > FRESH:
            async with asyncio.timeout(PATIENCE):
                known = await self._provider(profile, profile.model).models()
            self._known[key] = (time.monotonic(), known)
        return list(known)

    def _row(self, profile: Profile, model: ModelInfo, code: str, fields: JsonObject) -> JsonObject:
        try:
            traits = self._provider(profile, model.name).traits(model.name)
        except OrionError:
            traits = Traits(profile.provider, local=False)
        return {
            "name": model.name,
            "size": model.size,
            "window": model.window,
            "images": model.images,
            "tools": model.tools,
            "provider": profile.provider,
            "profile": profile.name,
            "local": traits.local,
            "host": traits.host,
            "default": model.name == profile.model,
            "error": code,
            "fields": fields,
        }


def _called(name: str, rows: list[JsonObject]) -> JsonObject | None:
    """The row that `name` means."""
    for row in rows:
        if name in (row["name"], f"{row['provider']}/{row['name']}", f"{row['profile']}/{row['name']}"):
            return row
    return None


def files(library: Library, chosen: str) -> list[JsonObject]:
    """The model files on this machine that can answer, as {name, path, size, provider, local, default, error,
    fields}; `default` is the one that profiles mean by "bundled", which is `chosen` unless that is empty."""
    from models.errors import EngineError

    try:
        default = library.find(chosen).path
    except EngineError:
        default = None
    return [
        {
            "name": model.name,
            "path": str(model.path),
            "size": model.size,
            "provider": "local",
            "local": True,
            "default": model.path == default,
            "error": model.error,
            "fields": dict(model.fields),
        }
        for model in library.list()
        if model.kind == "language"
    ]
