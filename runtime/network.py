"""The one way onto the network: to allowed hosts, by the system's proxies and certificates, recorded."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from resources.translation import ngettext
from runtime.errors import Field
from runtime.ledger import Entry, Ledger, Reached
from runtime.metering import MeteredTransport
from runtime.paths import Home
from runtime.permits import Permission, Permits

if TYPE_CHECKING:
    import ssl

    import httpx
    import httpx2

PULL = "pull"
"""The purpose of asking an Ollama server to fetch a model. The server then goes out to the network by itself,
which no ledger of this program can count; the entry says only what went to the server and came from it."""

SILENCE = 120.0
CONNECTING = 15.0
"""Seconds a host may take to answer the call to connect."""


class Network:
    """Clients for the other parts of the program, the permissions they need and what they did.

    Made by `assemble`; nothing is read or opened before it is used. Clients but the blocking one are used
    from one event loop; those who asked for them close them. Everything else may be called from any thread.
    """

    def __init__(self, home: Home) -> None:
        self.ledger = Ledger(home.audit)
        self._permits = Permits(home.network_file)
        self._tls: ssl.SSLContext | None = None
        self._making = threading.Lock()

    def client(self, who: str, *, purpose: str = "model", silence: float = SILENCE) -> httpx2.AsyncClient:
        """A client through which `who` reaches hosts for `purpose`; both are written into the ledger.

        It raises HostRefused for a host that was not allowed, before anything is sent, also when another
        host redirects there; a host on this machine needs no permission and is written as local. It follows
        no redirect by itself, sends no credentials of its own, and gives up after `silence` seconds without
        a byte.
        """
        import httpx2

        client: httpx2.AsyncClient = self._client(httpx2, who, purpose, silence)
        return client

    def old_client(self, who: str, *, purpose: str = "model", silence: float = SILENCE) -> httpx.AsyncClient:
        """The same for libraries that are written for httpx."""
        import httpx

        client: httpx.AsyncClient = self._client(httpx, who, purpose, silence)
        return client

    def blocking_client(self, who: str, *, purpose: str, silence: float = SILENCE) -> httpx2.Client:
        """The same for work in threads, any number of which may use it at a time."""
        import httpx2

        from runtime.blocking_metering import BlockingMeteredTransport

        return httpx2.Client(
            transport=BlockingMeteredTransport(self, who, purpose),
            timeout=httpx2.Timeout(silence, connect=min(CONNECTING, silence)),
            trust_env=False,
        )

    def _client(self, library: Any, who: str, purpose: str, silence: float) -> Any:
        # Without trust_env the library reads neither ~/.netrc nor the proxies, which the transport sees to.
        return library.AsyncClient(
            transport=MeteredTransport(library, self, who, purpose),
            timeout=library.Timeout(silence, connect=min(CONNECTING, silence)),
            trust_env=False,
        )

    async def tls(self) -> ssl.SSLContext:
        """What certificates are checked against: SSL_CERT_FILE or SSL_CERT_DIR, else those of the system.

        Raises OSError where they cannot be read.
        """
        if self._tls is not None:
            return self._tls
        return await asyncio.to_thread(self.tls_now)

    def tls_now(self) -> ssl.SSLContext:
        """The same for a thread that may wait for the disk."""
        import httpx2

        with self._making:
            made: ssl.SSLContext = self._tls or httpx2.create_ssl_context()
            self._tls = made
            return made

    def permits(self, host: str) -> bool:
        """Whether something may be sent to `host`."""
        return self._permits.permits(host)

    def allow(self, host: str, who: str) -> str:
        """Allow a host (name, address or URL) for `who`; returns its plain name. Raises OrionError
        `host_invalid`, or what is wrong with the file."""
        return self._permits.allow(host, who)

    def revoke(self, host: str) -> str:
        """Take a permission back: the next request is refused, one under way goes on. Raises as `allow`."""
        return self._permits.revoke(host)

    def allowed(self) -> list[Permission]:
        """Every permission, the oldest first. Raises OrionError naming what is wrong with the file."""
        return self._permits.allowed()

    def notices(self) -> list[tuple[str, dict[str, Field]]]:
        """Code and fields of what is wrong with the file of permissions."""
        return self._permits.notices()

    def entries(self, since: float = 0.0) -> list[Entry]:
        """See Ledger."""
        return self.ledger.entries(since)

    def summary(self) -> list[Reached]:
        """See Ledger."""
        return self.ledger.summary()

    def pulls(self) -> int:
        """How often the kept entries tell of a server that was asked to fetch a model."""
        return sum(entry.purpose == PULL and (entry.open or entry.status > 0) for entry in self.entries())


def uncounted(pulls: int) -> str:
    """What the ledger cannot count, in words."""
    told = ngettext(
        "Ollama was asked to fetch a model once. It goes out to the network for that itself, and what it "
        "moves is not counted here.",
        "Ollama was asked to fetch models {n} times. It goes out to the network for that itself, and what it "
        "moves is not counted here.",
        pulls,
    )
    return told.format(n=pulls)
