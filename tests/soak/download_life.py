"""The life of a process that will be killed while it downloads models."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import httpcore2  # noqa: F401  (loaded once, before the nursery forks)
import httpx2  # noqa: F401
from huggingface_hub import hf_hub_url  # noqa: F401

from models.download import Download, Pace, Wanted
from models.downloads import Downloads
from models.hub import Hub
from models.hub_files import File
from runtime.network import Network
from runtime.paths import find_home
from runtime.providers.connection import HostRefused
from tests.soak.ledger import Ledger

PACE = Pace(first_wait=0.01, longest_wait=0.05, tries=200, sync=0.03, tell=0.01, spare=0)
PATIENCE = 30.0


def plan(request: dict[str, Any]) -> None:
    """Live as a request says: {home, url, wants: {title: [[repository, into, [name, …]]]}, seed, last}."""
    asyncio.run(_live(request))


async def _live(request: dict[str, Any]) -> None:
    home = find_home(Path(request["home"]))
    home.create()
    network, ledger = Network(home), Ledger(home.root / "acknowledged.jsonl")
    chance = random.Random(request["seed"])
    hub = Hub(
        lambda: network.blocking_client("huggingface", purpose="download"),
        request["url"],
        refused=HostRefused,
    )
    downloads = Downloads(hub, home.weights, home.root / "downloads", lambda: None, PACE)
    try:
        await downloads.go_on()
        known = {row.title for row in downloads.all()}
        for title, (repository, into, names) in request["wants"].items():
            if request["last"] or (title not in known and chance.random() < 0.8):
                files = tuple(File(name) for name in names)
                await downloads.begin(Wanted(repository, "main", files, title, into=into))
        async with asyncio.timeout(PATIENCE):
            await _until_idle(downloads, ledger, chance, meddling=not request["last"])
    finally:
        await downloads.close()
        hub.close()


async def _until_idle(downloads: Downloads, ledger: Ledger, chance: random.Random, *, meddling: bool) -> None:
    """Watch until nothing works any more; what is done is noted once it is told."""
    noted: set[str] = set()
    step = -1
    while True:
        rows = await downloads.step(step)
        step = downloads.at
        for row in rows:
            if row.state == "done" and row.id not in noted:
                noted.add(row.id)
                ledger.note("done", row.id, path=row.path)
        if meddling and chance.random() < 0.1:
            await _meddle(downloads, chance.choice(rows) if rows else None, chance)
        if all(row.state in ("done", "failed") for row in rows):
            return


async def _meddle(downloads: Downloads, row: Download | None, chance: random.Random) -> None:
    """Pause, stop or resume, as a user at the same time does."""
    if row is None or row.state == "done":
        return
    match chance.choice(("pause", "pause", "stop")):
        case "stop":
            await downloads.stop(row.id)
        case _:
            await downloads.pause(row.id)
            await downloads.resume(row.id)
