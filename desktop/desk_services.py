"""What the window may ask about services and the network; questions to the desk like its own methods."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from runtime import services as known
from runtime.connections import known_services

if TYPE_CHECKING:
    from desktop.desk import Desk
    from runtime.assemble import Runtime

Plain = dict[str, Any]
LATEST = 60
"""Entries of the ledger that are shown."""


async def services(desk: Desk) -> list[Plain]:
    """Every service this installation knows or a profile names, see `known_services`. Never a key."""
    runtime = desk.runtime
    return await asyncio.to_thread(known_services, runtime.profiles, runtime.keys, runtime.network)


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
    """{"allowed": [{"host", "who", "since"}], "hosts": [Reached], "entries": [Entry], the latest first,
    "pulls"}, the last being how often the ledger knows of a server that was asked to fetch a model."""
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
        "pulls": runtime.network.pulls(),
    }
