"""Joins what a client of a service needs, its address, its key and the way out, and tells how that stands."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from runtime import services
from runtime.errors import OrionError
from runtime.keys import Keys
from runtime.messages import JsonObject
from runtime.network import SILENCE, Network
from runtime.permits import is_local
from runtime.profiles import Profile, Profiles
from runtime.providers.connection import Connection


def connect(profile: Profile, keys: Keys, network: Network) -> Connection:
    """The connection of the profile's provider; opens and reads nothing yet. The key is that of the address,
    so a profile that names another one gets another key or none. Raises OrionError `address_invalid`."""
    address = services.address(profile.provider, profile.base_url)
    who = profile.provider
    return Connection(
        provider=who,
        base_url=address,
        key=partial(keys.get, who, services.place(address)),
        client=partial(network.client, who, silence=SILENCE),
        old_client=partial(network.old_client, who, silence=SILENCE),
        silence=SILENCE,
    )


def known_services(profiles: Profiles, keys: Keys, network: Network) -> list[JsonObject]:
    """Every service known by name, but for one whose address is none, and every address that a profile names
    or a key is kept for, each {"provider", "title", "address", "host", "local", "allowed", "needs_key",
    "talks", "variable", "profiles", "key", "fault"}.

    "key" is as Keys.state gives it, "fault" a code and fields where the keyring did not answer, else None.
    May wait for the keyring, so not for an event loop. Raises OrionError where the index of keys is broken.
    """
    used: dict[tuple[str, str], list[str]] = {}
    named = [(provider, "", "") for provider in services.SERVICES]
    named += [(profile.provider, profile.base_url, profile.name) for profile in _of_services(profiles)]
    for provider, base_url, name in named:
        try:
            key = provider, services.address(provider, base_url)
        except OrionError:
            continue  # told where the address is used
        used.setdefault(key, []).extend([name] if name else [])
    there = {(provider, services.place(address)) for provider, address in used}
    for provider, place in keys.kept():
        if (provider, place) not in there:
            used[provider, place if "://" in place else f"https://{place}"] = []
    return [_service(keys, network, *key, names) for key, names in used.items()]


def _of_services(profiles: Profiles) -> Iterator[Profile]:
    for name in profiles.names():
        profile = profiles.get(name)
        if profile.provider in services.SERVICES or profile.base_url:
            yield profile


def _service(keys: Keys, network: Network, provider: str, address: str, profiles: list[str]) -> JsonObject:
    place = services.place(address)
    host = services.host_of(place)
    fault: JsonObject | None = None
    key: JsonObject = {"where": "none", "hint": ""}
    try:
        key = {**keys.state(provider, place)}
    except OrionError as error:
        fault = {"code": error.code, "fields": error.fields}
    return {
        "provider": provider,
        "title": services.title(provider),
        "address": address,
        "host": host,
        "local": is_local(host),
        "allowed": is_local(host) or network.permits(host),
        "needs_key": services.needs_key(provider, place),
        "talks": services.talks(provider),
        "variable": services.variables(provider, place)[0],
        "profiles": profiles,
        "key": key,
        "fault": fault,
    }
