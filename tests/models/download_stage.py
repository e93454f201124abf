"""A hub on loopback, folders and a queue of downloads for tests, with the program's own way out."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from models.download import Download, Pace, Wanted
from models.downloads import Downloads
from models.hub import Hub
from models.hub_files import File
from runtime.network import Network
from runtime.paths import find_home
from runtime.providers.connection import HostRefused
from tests.wire.hub import HubServer

REPOSITORY = "maker/Name-GGUF"
QUICK = Pace(first_wait=0.01, longest_wait=0.05, tries=4, sync=0.05, tell=0.01, spare=0)


def content(size: int, seed: int = 1) -> bytes:
    """Bytes that no part of which repeats."""
    return random.Random(seed).randbytes(size)


def wanted(name: str, data: bytes, *, hashed: bool = True) -> Wanted:
    """One file of the repository."""
    sha256 = hashlib.sha256(data).hexdigest() if hashed else ""
    return Wanted(REPOSITORY, "main", (File(name, len(data), sha256),), "Name", into=REPOSITORY)


def under_way(row: Download) -> bool:
    """Whether bytes are coming."""
    return row.state == "running" and row.done > 0


@dataclass(slots=True)
class Stage:
    """What a test works with; `token` is what the hub is given."""

    root: Path
    hub: HubServer
    network: Network
    pace: Pace = QUICK
    endpoint: str = ""
    token: str = ""
    silence: float = 5.0
    seen: list[Download] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.root / "weights"

    @property
    def staging(self) -> Path:
        return self.root / "downloads"

    @property
    def placed(self) -> list[str]:
        """Every file in the folder of models, hidden ones too."""
        found = self.folder.rglob("*")
        return sorted(path.relative_to(self.folder).as_posix() for path in found if path.is_file())

    def client(self) -> Hub:
        """The hub as the program asks it; who asked for it closes it."""

        def made() -> httpx2.Client:
            return self.network.blocking_client("huggingface", purpose="download")

        return Hub(made, self.endpoint or self.hub.url, lambda: self.token, refused=HostRefused)

    @asynccontextmanager
    async def queue(self) -> AsyncIterator[Downloads]:
        """A queue as one process has it, closed at the end; every row that it showed is in `seen`."""
        client = self.client()
        downloads = Downloads(client, self.folder, self.staging, lambda: None, self.pace)
        try:
            yield downloads
        finally:
            await downloads.close()
            client.close()

    async def until(self, downloads: Downloads, wish: Callable[[Download], bool]) -> Download:
        """The first download for which `wish` holds."""
        step = -1
        async with asyncio.timeout(20):
            while True:
                rows = await downloads.step(step)
                step = downloads.at
                self.seen += rows
                for row in rows:
                    if wish(row):
                        return row

    async def end(self, downloads: Downloads) -> Download:
        """The first download that has come to an end of any kind."""
        return await self.until(downloads, lambda row: row.state in ("done", "failed", "paused"))


def stage(root: Path, files: dict[str, bytes], *, rate: int = 0, cdn: str = "") -> Stage:
    """A stage whose hub has `files` in the repository; the caller enters the hub."""
    home = find_home(root / "home")
    home.create()
    return Stage(root, HubServer({REPOSITORY: files}, rate=rate, cdn=cdn), Network(home))
