"""Ports of programs in the sandbox, published on this machine's loopback only where that was asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType

from sandbox.errors import SandboxError
from sandbox.guest.peer import Peer, PeerError, PeerGone
from sandbox.guest.relay import joined

ADDRESS = "127.0.0.1"

USUAL: Mapping[int, int] = MappingProxyType({9090: 9090, 9091: 9091, 8888: 8888, 3000: 3100, 3001: 3001})
"""The port on this machine for a port in the sandbox, where no other is asked for."""


class Ports:
    """The published ports of one running guest. Loop's thread only; closed by its owner, at the latest when
    the guest is lost."""

    def __init__(self, control: Peer) -> None:
        self._peer = control
        self._servers: dict[int, asyncio.Server] = {}
        self._clients: dict[int, set[asyncio.Task[None]]] = {}

    @property
    def published(self) -> dict[int, int]:
        """The port on this machine by the port in the sandbox."""
        return {port: server.sockets[0].getsockname()[1] for port, server in self._servers.items()}

    async def publish(self, port: int, on: int | None = None) -> int:
        """Publish the sandbox's `port`; returns the port on this machine, which is `on`, by default the usual
        one. Raises SandboxError `port_taken` (port) or `port_unknown`."""
        where = USUAL.get(port, port) if on is None else on
        if not 0 < port < 65_536 or not 0 <= where < 65_536:
            raise SandboxError("port_unknown", port=port)
        if port not in self._servers:
            clients: set[asyncio.Task[None]] = set()

            async def on_client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await self._served(port, clients, reader, writer)

            try:
                self._servers[port] = await asyncio.start_server(on_client, ADDRESS, where)
            except (OSError, OverflowError) as error:
                raise SandboxError("port_taken", port=where) from error
            self._clients[port] = clients
        return self.published[port]

    async def withdraw(self, port: int) -> None:
        """End what was published of `port`, with its connections."""
        server = self._servers.pop(port, None)
        if server is None:
            return
        server.close()
        clients = self._clients.pop(port)
        for task in clients:
            task.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        await server.wait_closed()

    async def close(self) -> None:
        """End everything that is published."""
        for port in list(self._servers):
            await self.withdraw(port)

    async def _served(
        self,
        port: int,
        clients: set[asyncio.Task[None]],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        task = asyncio.current_task()
        if task is not None:
            clients.add(task)
            task.add_done_callback(clients.discard)
        try:
            async with await self._peer.open("net.connect", port=port) as call:
                if await call.receive() == b"+":
                    await joined(call, reader, writer)
        except (PeerError, PeerGone, ConnectionError):
            writer.transport.abort()
        except asyncio.CancelledError:
            writer.transport.abort()  # the stream's own callback reports a cancelled task as an error
        finally:
            writer.close()
