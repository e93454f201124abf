"""The transport under every HTTP client of the house: lets allowed hosts through and counts their bytes.

Works with httpx and with httpx2, which have the same interface under two names.
"""

from __future__ import annotations

import time
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from runtime.errors import OrionError
from runtime.ledger import Entry, Ledger, new_id, now
from runtime.permits import is_local
from runtime.providers.connection import HostRefused

if TYPE_CHECKING:
    import ssl


class Gate(Protocol):
    """What the transport asks."""

    ledger: Ledger

    def permits(self, host: str) -> bool:
        """Whether something may be sent to `host`."""
        ...

    async def tls(self) -> ssl.SSLContext:
        """How certificates are checked. Raises OSError."""
        ...

    def tls_now(self) -> ssl.SSLContext:
        """The same for a thread that may wait for the disk. Raises OSError."""
        ...


@dataclass(frozen=True, slots=True)
class Traveller:
    """Whose requests these are, for the ledger: `library` is the module httpx or httpx2."""

    library: Any
    gate: Gate
    who: str
    purpose: str

    def way(self, request: Any) -> tuple[str, str]:
        """Host and proxy ("" for none) of a request. Raises HostRefused where the host was not allowed."""
        host = request.url.raw_host.decode("ascii").lower().rstrip(".")
        local = is_local(host)
        if not local and not self.gate.permits(host):
            raise HostRefused(host)
        return host, "" if local else proxy_for(request.url.scheme, host)

    def meter(self, request: Any, host: str, proxy: str) -> Meter:
        """What counts the request; its entry is written. Raises the library's ConnectError where that
        cannot be."""
        url = request.url
        entry = Entry(
            id=new_id(),
            time=now(),
            who=self.who,
            purpose=self.purpose,
            host=host,
            port=url.port or (80 if url.scheme == "http" else 443),
            method=request.method,
            local=is_local(host),
            via=self.library.URL(proxy).netloc.decode("ascii") if proxy else "",
        )
        heading = _size(f"{request.method} {url.raw_path.decode('ascii')} HTTP/1.1", request.headers)
        try:
            return Meter(self.gate.ledger, entry, heading)
        except OrionError as error:
            raise self.library.ConnectError(
                f"the network ledger cannot be written: {error.fields['reason']}"
            ) from error

    def secure(self, scheme: str, proxy: str) -> bool:
        """Whether certificates are needed. Without TLS nothing is trusted, and nothing has to be read to
        know it."""
        return scheme == "https" or proxy.startswith("https:")

    def made(self, kind: Any, proxy: str, context: ssl.SSLContext | None) -> Any:
        """A transport of the library, of `kind` AsyncHTTPTransport or HTTPTransport. Raises ProxyError."""
        import ssl

        trusted = context or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if not proxy:
            return kind(verify=trusted, trust_env=False)
        try:
            way = self.library.Proxy(proxy, ssl_context=trusted if proxy.startswith("https:") else None)
            return kind(verify=trusted, trust_env=False, proxy=way)
        except (ValueError, ImportError) as error:
            raise self.library.ProxyError("the proxy is of a kind that cannot be used") from error

    def unreadable(self, error: OSError) -> Exception:
        """What to raise where the certificates cannot be read."""
        made: Exception = self.library.ConnectError(f"the certificates cannot be read: {error}")
        return made


class Meter:
    """Counts one request and writes it into the ledger; `close` may be called several times."""

    def __init__(self, ledger: Ledger, entry: Entry, heading: int) -> None:
        """`heading` is the size of the request's headers, counted once they are on their way."""
        self._ledger = ledger
        self._entry = entry
        self._heading = heading
        self._begun = time.monotonic()
        self._closed = False
        self.status = self.sent = self.received = 0
        ledger.begin(entry)

    async def on_event(self, name: str, info: dict[str, Any]) -> None:
        """See `on_sign`, of which this is what an asynchronous library wants."""
        self.on_sign(name, info)

    def on_sign(self, name: str, info: dict[str, Any]) -> None:
        """A sign of the HTTP library; the request for a tunnel through a proxy is not the user's."""
        if name.endswith("send_request_headers.started") and info["request"].method != b"CONNECT":
            self.sent += self._heading
            self._heading = 0

    def on_answer(self, response: Any) -> None:
        """The first line and the headers of the answer came."""
        self.status = response.status_code
        first = f"HTTP/1.1 {response.status_code} {response.reason_phrase}"
        self.received += _size(first, response.headers)

    def on_sent(self, size: int) -> None:
        """A piece of the body is handed to the connection."""
        self.sent += size

    def on_received(self, size: int) -> None:
        """A piece of the body came."""
        self.received += size

    def close(self) -> None:
        """The request is over, however it ended."""
        if not self._closed:
            self._closed = True
            self._ledger.end(
                replace(
                    self._entry,
                    status=self.status,
                    sent=self.sent,
                    received=self.received,
                    seconds=round(time.monotonic() - self._begun, 3),
                )
            )


class _Counted:
    """A body that counts what passes; `aclose` of a response ends its meter."""

    def __init__(self, inner: Any, count: Callable[[int], None], ended: Callable[[], None]) -> None:
        self._inner = inner
        self._count = count
        self._ended = ended

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._count(len(piece))
            yield piece

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            self._ended()


class MeteredTransport:
    """One client's way out. `library` is the module httpx or httpx2; the client closes it."""

    def __init__(self, library: Any, gate: Gate, who: str, purpose: str) -> None:
        self._library = library
        self._gate = gate
        self._traveller = Traveller(library, gate, who, purpose)
        self._inner: dict[str, Any] = {}
        self._body = type("CountedBody", (_Counted, library.AsyncByteStream), {})

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request. Raises HostRefused before anything is opened, else what the library raises."""
        host, proxy = self._traveller.way(request)
        with ExitStack() as unless_handed_on:
            meter = self._traveller.meter(request, host, proxy)
            unless_handed_on.callback(meter.close)
            transport = await self._transport(request.url.scheme, proxy)
            response = await transport.handle_async_request(self._metered(request, meter))
            meter.on_answer(response)
            response.stream = self._body(response.stream, meter.on_received, meter.close)
            unless_handed_on.pop_all()
        return response

    def _metered(self, request: Any, meter: Meter) -> Any:
        return self._library.Request(
            request.method,
            request.url,
            headers=request.headers,
            stream=self._body(request.stream, meter.on_sent, lambda: None),
            extensions={**request.extensions, "trace": meter.on_event},
        )

    async def _transport(self, scheme: str, proxy: str) -> Any:
        """The library's own transport for this way, made once."""
        key = f"{scheme} {proxy}"
        if key not in self._inner:
            made = await self._made(scheme, proxy)
            if self._inner.setdefault(key, made) is not made:  # another request was quicker
                await made.aclose()
        return self._inner[key]

    async def _made(self, scheme: str, proxy: str) -> Any:
        traveller = self._traveller
        try:
            context = await self._gate.tls() if traveller.secure(scheme, proxy) else None
        except OSError as error:
            raise traveller.unreadable(error) from error
        return traveller.made(self._library.AsyncHTTPTransport, proxy, context)

    async def aclose(self) -> None:
        """Close every connection."""
        for transport in self._inner.values():
            await transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def proxy_for(scheme: str, host: str) -> str:
    """The address of the proxy through which this system reaches `host`, "" for none: from *_proxy and
    no_proxy in the environment, and on Windows and macOS from the system's settings."""
    proxies = urllib.request.getproxies()
    found = proxies.get(scheme) or proxies.get("all") or ""
    if not found or urllib.request.proxy_bypass(host):
        return ""
    return found if "://" in found else f"http://{found}"


def _size(first: str, headers: Any) -> int:
    """Bytes of a first line and its headers in HTTP/1.1."""
    return len(first) + 2 + sum(len(name) + len(value) + 4 for name, value in headers.raw) + 2
