"""Connections to the speech service that survive its client's retry and may lead to another address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiohttp import TCPConnector
from yarl import URL

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from aiohttp import ClientRequest, ClientTimeout
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace


class Route(TCPConnector):
    """A connector for edge_tts; make it in the loop that uses it, and end it with `hang_up`.

    The client closes its connector after each try and then tries again with the same one when the service
    refused its clock, so closing is left to `hang_up`. With an `endpoint` ("http://host:port") requests go
    there, with the path and headers they have.
    """

    def __init__(self, endpoint: str = "") -> None:
        super().__init__()
        self._endpoint = URL(endpoint) if endpoint else None

    async def connect(self, req: ClientRequest, traces: list[Trace], timeout: ClientTimeout) -> Connection:
        """See TCPConnector."""
        if self._endpoint is not None:
            to = self._endpoint
            req.url = req.url.with_scheme(to.scheme).with_host(to.host or "").with_port(to.port)
        return await super().connect(req, traces, timeout)

    def close(self, *, abort_ssl: bool = False) -> Coroutine[Any, Any, None]:
        """Nothing yet; see the class."""
        return _nothing()

    async def hang_up(self) -> None:
        """Close all connections."""
        await super().close()


async def _nothing() -> None:
    pass
