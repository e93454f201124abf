"""A model hub on loopback with the public hub's own API, which misbehaves on demand.

By hand: `python -m tests.wire.hub PORT FOLDER` serves FOLDER/maker/name/*.
"""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.wire.hub_door import Handler, Threads
from tests.wire.hub_store import Asked, Blob, Door, Misdeed, Repository

__all__ = ["Asked", "HubServer", "Misdeed"]


class HubServer:
    """Serves `files` (repository → name → content) at `url` while entered, in threads of its own, so that
    `with` and `async with` do the same. `about` adds to what the API says of a repository: downloads, likes,
    license, pipeline_tag, gated ("auto" or "manual"). A gated one wants the token "hf_right". `rate` is how
    many bytes a second each answer of the CDN gets, 0 for all at once. `cdn` is the address to which large
    files are redirected, "" for this server.
    """

    def __init__(
        self,
        files: Mapping[str, Mapping[str, bytes | Path]] | None = None,
        about: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        rate: int = 0,
        cdn: str = "",
        port: int = 0,
    ) -> None:
        self.repositories: dict[str, Repository] = {}
        self.misdeeds: list[Misdeed] = []
        self.requests: list[Asked] = []
        self.rate = rate
        self.cdn = cdn
        self.served = 0
        self.port = port
        self.url = ""
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.open: set[socket.socket] = set()
        self._server: Threads | None = None
        self._thread: threading.Thread | None = None
        for name, content in (files or {}).items():
            self.put(name, content, **dict((about or {}).get(name, {})))

    def put(self, repository: str, files: Mapping[str, bytes | Path], **about: Any) -> str:
        """Commit `files` to a repository, made where it is not there; what it has else stays. The commit."""
        kept = self.repositories.setdefault(repository, Repository())
        kept.about.update(about)
        now = dict(kept.history[kept.head]) if kept.history else {}
        now.update({name: Blob(content) for name, content in files.items()})
        told = repr((repository, len(kept.history), sorted((n, b.sha256) for n, b in now.items())))
        commit = hashlib.sha1(told.encode()).hexdigest()
        kept.history[commit] = now
        return commit

    def blob(self, sha256: str) -> Blob | None:
        """The file with this hash, in whatever commit."""
        commits = (files for kept in self.repositories.values() for files in kept.history.values())
        return next((b for files in commits for b in files.values() if b.sha256 == sha256), None)

    def asked(self, part: str, method: str = "GET") -> list[Asked]:
        """The requests of `method` so far whose path has `part` in it."""
        return [asked for asked in self.requests if asked.method == method and part in asked.path]

    def misdeed(self, door: Door, path: str) -> Misdeed | None:
        """What to do wrong now, used up."""
        with self.lock:
            for found in self.misdeeds:
                if found.door == door and found.file in path:
                    found.times -= 1
                    if found.times <= 0:
                        self.misdeeds.remove(found)
                    return found
        return None

    def start(self) -> None:
        """Open the door; also again after `stop`, at the same port."""
        self.stopping.clear()
        self._server = Threads(("127.0.0.1", self.port), Handler)
        self._server.hub = self
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="hub")
        self._thread.start()

    def stop(self) -> None:
        """Close the door and break every connection, as a network that goes away does; idempotent."""
        server, self._server = self._server, None
        if server is None or self._thread is None:
            return
        self.stopping.set()
        server.shutdown()
        self._thread.join()
        self.drop()
        server.server_close()

    def drop(self) -> None:
        """Break every connection and go on serving."""
        with self.lock:
            for connection in list(self.open):
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _folder(root: Path) -> dict[str, dict[str, bytes | Path]]:
    found: dict[str, dict[str, bytes | Path]] = {}
    for path in sorted(root.glob("*/*/**/*")):
        if path.is_file():
            maker, name, *rest = path.relative_to(root).parts
            found.setdefault(f"{maker}/{name}", {})["/".join(rest)] = path
    return found


def main() -> None:
    """Serve until interrupted; ORION_HUB_RATE sets the bytes a second."""
    port, folder = int(sys.argv[1]), Path(sys.argv[2])
    with HubServer(_folder(folder), port=port, rate=int(os.environ.get("ORION_HUB_RATE", "0"))) as hub:
        print(hub.url, flush=True)
        try:
            hub.stopping.wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
