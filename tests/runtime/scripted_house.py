"""A real runtime whose model plays a script, for tests of everything above the provider."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from runtime.assemble import Runtime, assemble
from runtime.events import Body, Event
from runtime.session import Session

Steps = list[dict[str, Any]]
TOOLS = [
    "calculator",
    "delete_file",
    "echo",
    "edit_file",
    "list_directory",
    "read_file",
    "runtime_info",
    "write_file",
]


def write_profile(
    home: Path, steps: Steps, *, loop: bool = False, name: str = "test", **changes: Any
) -> None:
    """A profile with the scripted provider and all tools, in the user's folder."""
    folder = home / "profiles"
    folder.mkdir(parents=True, exist_ok=True)
    profile: dict[str, Any] = {
        "name": name,
        "provider": "scripted",
        "model": f"{name}.script",
        "allowed_tools": TOOLS,
    }
    yaml = YAML(typ="safe")
    yaml.dump(profile | changes, folder / f"{name}.yaml")
    yaml.dump({"loop": loop, "steps": steps}, folder / f"{name}.script")


class Watch:
    """A door that keeps every event and lets a test wait for one, for at most `patience` seconds."""

    def __init__(self, session: Session, patience: float = 20.0) -> None:
        self.patience = patience
        self.events: list[Event] = []
        self._arrived = asyncio.Event()
        self.stop = session.subscribe(self._take)

    def _take(self, event: Event) -> None:
        self.events.append(event)
        self._arrived.set()

    @property
    def bodies(self) -> list[Body]:
        return [event.body for event in self.events]

    @property
    def types(self) -> list[str]:
        return [body.type for body in self.bodies]

    def of(self, kind: str) -> list[Any]:
        """All bodies of a type so far."""
        return [body for body in self.bodies if body.type == kind]

    @property
    def text(self) -> str:
        return "".join(body.text for body in self.of("response_chunk"))

    async def until(self, wanted: str | Callable[[Body], bool], count: int = 1) -> Any:
        """The `count`-th body of a type, or for which `wanted` holds, as soon as there is one."""

        def holds(body: Body) -> bool:
            return body.type == wanted if isinstance(wanted, str) else wanted(body)

        async with asyncio.timeout(self.patience):
            while True:
                found = [body for body in self.bodies if holds(body)]
                if len(found) >= count:
                    return found[count - 1]
                self._arrived.clear()
                await self._arrived.wait()


@asynccontextmanager
async def talking(home: Path, steps: Steps, **changes: Any) -> AsyncIterator[tuple[Runtime, Session, Watch]]:
    """A runtime with one open session of a scripted profile, and a door that watches it."""
    write_profile(home, steps, **changes)
    async with assemble(home, door="test") as runtime:
        session = await runtime.open(profile=changes.get("name", "test"))
        yield runtime, session, Watch(session)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A script step that calls a tool."""
    return {"call": {"name": name, "arguments": arguments}}
