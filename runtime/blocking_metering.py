"""The transport under HTTP clients used in threads: the same gate, proxies and ledger as the other one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import httpx2

from runtime.metering import Gate, Meter, Traveller


class _Counted(httpx2.SyncByteStream):
    """A body that counts what passes; `close` of a response ends its meter."""

    def __init__(self, inner: Any, count: Callable[[int], None], ended: Callable[[], None]) -> None:
        self._inner = inner
        self._count = count
        self._ended = ended

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._inner:
            self._count(len(piece))
            yield piece

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._ended()


class BlockingMeteredTransport(httpx2.BaseTransport):
    """One client's way out, for any number of threads; the client closes it."""

    def __init__(self, gate: Gate, who: str, purpose: str) -> None:
        self._gate = gate
        self._traveller = Traveller(httpx2, gate, who, purpose)
        self._inner: dict[str, httpx2.HTTPTransport] = {}
        self._making = threading.Lock()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises HostRefused before anything is opened, else what the library raises."""
        host, proxy = self._traveller.way(request)
        with ExitStack() as unless_handed_on:
            meter = self._traveller.meter(request, host, proxy)
            unless_handed_on.callback(meter.close)
            transport = self._transport(request.url.scheme, proxy)
            response = transport.handle_request(_metered(request, meter))
            meter.on_answer(response)
            response.stream = _Counted(response.stream, meter.on_received, meter.close)
            unless_handed_on.pop_all()
        return response

    def _transport(self, scheme: str, proxy: str) -> httpx2.HTTPTransport:
        """The library's own transport for this way, made once."""
        key = f"{scheme} {proxy}"
        with self._making:
            if key not in self._inner:
                self._inner[key] = self._made(scheme, proxy)
            return self._inner[key]

    def _made(self, scheme: str, proxy: str) -> httpx2.HTTPTransport:
        traveller = self._traveller
        try:
            context = self._gate.tls_now() if traveller.secure(scheme, proxy) else None
        except OSError as error:
            raise traveller.unreadable(error) from error
        made: httpx2.HTTPTransport = traveller.made(httpx2.HTTPTransport, proxy, context)
        return made

    def close(self) -> None:
        """Close every connection."""
        for transport in self._inner.values():
            transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self.close()


def _metered(request: httpx2.Request, meter: Meter) -> httpx2.Request:
    """With a body that counts; who asked goes on hearing the signs of the library."""
    listens: Callable[[str, dict[str, Any]], None] | None = request.extensions.get("trace")

    def on_sign(name: str, info: dict[str, Any]) -> None:
        meter.on_sign(name, info)
        if listens is not None:
            listens(name, info)

    return httpx2.Request(
        request.method,
        request.url,
        headers=request.headers,
        stream=_Counted(request.stream, meter.on_sent, lambda: None),
        extensions={**request.extensions, "trace": on_sign},
    )
