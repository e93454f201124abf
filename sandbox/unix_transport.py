"""Docker's client over a Unix socket, without the connections that it makes and leaves open for nothing."""

from __future__ import annotations

import socket
from typing import Any


def mend(client: Any) -> None:
    """Let the connections of `client` (docker-py) close their socket when it cannot be connected, and serve
    every request and not only those to the same path."""
    from docker.transport import unixconn

    class Connection(unixconn.UnixHTTPConnection):  # type: ignore[misc]
        def connect(self) -> None:
            line = socket.socket(socket.AF_UNIX)
            try:
                line.settimeout(self.timeout)
                line.connect(self.unix_socket)
            except BaseException:
                line.close()
                raise
            self.sock = line

    class Adapter(unixconn.UnixHTTPAdapter):  # type: ignore[misc]
        def get_connection(self, url: str, proxies: Any = None) -> Any:
            pool = super().get_connection("http+docker://localhost/", proxies)
            pool._new_conn = lambda: Connection(pool.base_url, pool.socket_path, pool.timeout)
            return pool

    before = client.api._custom_adapter
    if not isinstance(before, unixconn.UnixHTTPAdapter):
        return
    adapter = Adapter(before.socket_path, before.timeout, max_pool_size=before.max_pool_size)
    before.close()
    client.api._custom_adapter = adapter
    client.api.mount("http+docker://", adapter)
