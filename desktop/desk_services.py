"""What the window may ask about services and the network; questions to the desk like its own methods."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from runtime import services as known
from runtime.errors import OrionError
from runtime.permits import is_local

if TYPE_CHECKING:
    from desktop.desk import Desk
    from runtime.assemble import Runtime
    from runtime.profiles import Profile

Plain = dict[str, Any]
LATEST = 60
"""Entries of the ledger that are shown."""


async def services(desk: Desk) -> list[Plain]:
    """Every service this installation knows or a profile names, each {"provider", "title", "address", "host",
    "local", "allowed", "needs_key", "variable", "profiles", "key", "fault"}; "key" is as Keys.state gives it,
    "fault" a code and fields where the keyring did not answer, else None. Never a key."""
    return await asyncio.to_thread(_services, desk.runtime)


async def keep_key(desk: Desk, provider: str, address: str, key: str) -> list[Plain]:
    """Put a key into the keyring; what `services` returns. Raises OrionError as Keys.set."""
    await asyncio.to_thread(desk.runtime.keys.set, provider, known.place(address), key)
    return await services(desk)


async def remove_key(desk: Desk, provider: str, address: str) -> list[Plain]:
    """Take a key out of the keyring; what `services` returns."""
    await asyncio.to_thread(desk.runtime.keys.remove, provider, known.place(address))
    return await services(desk)


async def allow_service(desk: Desk, provider: str, address: str) -> list[Plain]:
    """Let `provider` send to the host of `address`; what `services` returns."""
    desk.runtime.network.allow(address, provider)
    return await services(desk)


async def revoke_service(desk: Desk, address: str) -> list[Plain]:
    """Send nothing more to the host of `address`; what `services` returns."""
    desk.runtime.network.revoke(address)
    return await services(desk)


async def try_service(desk: Desk, provider: str, address: str) -> Plain:
    """Ask the service for its models: {"host", "seconds", "models": names}. Raises OrionError as a call."""
    begun = time.monotonic()
    found = await desk.runtime.try_service(provider, address)
    seconds = round(time.monotonic() - begun, 2)
    return {
        "host": known.host_of(known.place(address)),
        "seconds": seconds,
        "models": [model.name for model in found],
    }


async def network(desk: Desk) -> Plain:
    """{"allowed": [{"host", "who", "since"}], "hosts": [Reached], "entries": [Entry], the latest first}."""
    return await asyncio.to_thread(_network, desk.runtime)


async def revoke_host(desk: Desk, host: str) -> Plain:
    """Send nothing more to `host`; what `network` returns."""
    desk.runtime.network.revoke(host)
    return await network(desk)


def _network(runtime: Runtime) -> Plain:
    return {
        "allowed": [known.model_dump(mode="json") for known in runtime.network.allowed()],
        "hosts": [asdict(reached) for reached in runtime.network.summary()],
        "entries": [asdict(entry) for entry in reversed(runtime.network.entries()[-LATEST:])],
    }


def _services(runtime: Runtime) -> list[Plain]:
    used: dict[tuple[str, str], list[str]] = {
        (provider, known.address(provider)): [] for provider in known.SERVICES
    }
    for profile in _profiles(runtime):
        try:
            used.setdefault((profile.provider, known.address(profile.provider, profile.base_url)), []).append(
                profile.name
            )
        except OrionError:
            continue  # the profile's own fault is told where it is used
    return [_service(runtime, *key, names) for key, names in used.items()]


def _profiles(runtime: Runtime) -> Iterator[Profile]:
    for name in runtime.profiles.names():
        profile = runtime.profiles.get(name)
        if profile.provider in known.SERVICES or profile.base_url:
            yield profile


def _service(runtime: Runtime, provider: str, address: str, profiles: list[str]) -> Plain:
    place = known.place(address)
    host = known.host_of(place)
    local = is_local(host)
    fault = None
    key: Plain = {"where": "none", "hint": ""}
    try:
        key = {**runtime.keys.state(provider, place)}
    except OrionError as error:
        fault = {"code": error.code, "fields": error.fields}
    return {
        "provider": provider,
        "title": known.title(provider),
        "address": address,
        "host": host,
        "local": local,
        "allowed": local or runtime.network.permits(host),
        "needs_key": known.needs_key(provider, place),
        "variable": known.variables(provider, place)[0],
        "profiles": profiles,
        "key": key,
        "fault": fault,
    }
