"""Where models come from: the hub at the address of the settings, asked only where that was allowed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from runtime import services
from runtime.errors import OrionError
from runtime.keys import Keys
from runtime.network import Network
from runtime.permits import is_local
from runtime.providers.connection import HostRefused
from runtime.redaction import conceal

if TYPE_CHECKING:
    from models.hub import Hub

SEARCH, DOWNLOAD = "search", "download"
"""Purposes in the network ledger."""

SILENCE = 20.0
"""Seconds without a byte after which the hub is given up."""


class Sources:
    """The hubs that this process asks: one for each purpose and address. `address` reads the setting, empty
    for the hub's own. Used from the runtime's loop; what is asked of a hub blocks and belongs into a thread.
    The owner closes it.
    """

    def __init__(self, network: Network, keys: Keys, address: Callable[[], str]) -> None:
        self._network = network
        self._keys = keys
        self._address = address
        self._hubs: dict[tuple[str, str], Hub] = {}

    @property
    def endpoint(self) -> str:
        """The hub's address. Raises OrionError `address_invalid`."""
        return services.address(services.HUB, self._address())

    @property
    def refused(self) -> str:
        """The host that would have to be allowed first, "" where the hub may be asked."""
        host = services.host_of(services.place(self.endpoint))
        return "" if is_local(host) or self._network.permits(host) else host

    def check(self) -> None:
        """Raises OrionError `host_refused` (host) where the hub may not be asked."""
        if host := self.refused:
            raise OrionError("host_refused", host=host)

    def hub(self, purpose: str) -> Hub:
        """The hub for `purpose`; nothing is opened yet."""
        from models.hub import Hub

        endpoint = self.endpoint
        if (endpoint, purpose) not in self._hubs:
            client = partial(self._network.blocking_client, services.HUB, purpose=purpose, silence=SILENCE)
            token = partial(self._token, services.place(endpoint))
            self._hubs[endpoint, purpose] = Hub(client, endpoint, token, refused=HostRefused)
        return self._hubs[endpoint, purpose]

    def _token(self, place: str) -> str:
        """The user's token for the hub at `place`, "" without one. It never shows in a log."""
        found = self._keys.get(services.HUB, place)
        conceal(found)
        return found

    def close(self) -> None:
        """Close every connection, which also ends what is being asked."""
        for hub in self._hubs.values():
            hub.close()
        self._hubs.clear()
