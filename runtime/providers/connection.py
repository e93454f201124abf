"""How a client reaches its service: the address, the key, and the one way onto the network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runtime.errors import OrionError
from runtime.redaction import conceal
from runtime.services import title

if TYPE_CHECKING:
    import httpx
    import httpx2


@dataclass(frozen=True, slots=True)
class Connection:
    """Given to a provider when it is made; nothing is read or opened before the first call.

    `provider` is the name under which the service is known to the user and in the ledger, `base_url` its
    address. `key` reads the key anew at each call, so that a change holds at once; it raises OrionError
    `key_missing`, or `key_unfit` for one that no header can carry, and gives "" where the service needs none.
    What it gives is hidden from then on in all that this process logs or says of faults. `client` and
    `old_client` make an HTTP client that the provider closes: it writes every host it reaches into the
    network ledger, refuses hosts that were not allowed with HostRefused before anything is sent, and never
    retries; they differ in the library for which the official client of the service is written. `silence` is
    after how many seconds without a byte a call is given up.
    """

    provider: str
    base_url: str
    key: Callable[[], str]
    client: Callable[[], httpx2.AsyncClient]
    old_client: Callable[[], httpx.AsyncClient]
    silence: float = 120.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", _careful(self.provider, self.key))


def _careful(provider: str, key: Callable[[], str]) -> Callable[[], str]:
    """`key`, concealed when it is read and refused where a client would choke on it and print it."""

    def read() -> str:
        found = key()
        conceal(found)
        if not (found.isascii() and found.isprintable()) or " " in found:
            raise OrionError("key_unfit", provider=title(provider))
        return found

    return read


class HostRefused(Exception):
    """Nothing was sent, because the user has not allowed `host`."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.host = host
