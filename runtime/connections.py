"""Joins what a client of a service needs: its address, its key and the way onto the network."""

from __future__ import annotations

from functools import partial

from runtime import services
from runtime.keys import Keys
from runtime.network import SILENCE, Network
from runtime.profiles import Profile
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
