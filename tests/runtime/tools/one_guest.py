"""A computer whose guest runs in the test's own process: real peers, shells and files, no engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from runtime.tools.tool import Result, Tool, ToolContext
from sandbox.guest.files import Files
from sandbox.guest.peer import Operation
from sandbox.guest.shell import Session, Shells
from sandbox.guest.shell_once import Once
from tests.runtime.tools.call import context
from tests.sandbox.guest.pairs import pair

SESSION = "session"


class Home(Shells):
    """Shells that begin in `home`."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self._sessions[SESSION] = Session(str(home))


class OneGuest:
    """Stands where AgentComputer does; `asked` is where each action wanted to run."""

    def __init__(self, guest: Any) -> None:
        self._guest = guest
        self.asked: list[tuple[str, bool]] = []

    async def run(
        self,
        session: str,
        action: Callable[[Any], Awaitable[Any]],
        *,
        where: str = "desktop",
        yields: bool = True,
        log: dict[str, Any] | None = None,
    ) -> Any:
        assert (session, log is not None and log["call"]) == (SESSION, "call")
        self.asked.append((where, yields))
        return await action(SimpleNamespace(guest=self._guest, computer=None))


def served(home: Path) -> dict[str, Operation]:
    """What the guest does, over the folder `home` in place of the workspace."""
    shells, once, files = Home(home), Once(alone=False, home=str(home)), Files(str(home))
    names = ("list", "look", "get", "put", "remove", "make_folder")
    return {
        "shell.run": shells.run,
        "shell.restart": shells.restart,
        "process.run": once.run,
        **{f"files.{name}": getattr(files, name) for name in names},
    }


def calls(tool: Tool, tmp_path: Path, *several: dict[str, Any]) -> tuple[list[Result], list[str], OneGuest]:
    """The results of calls in a row, what they streamed, and the computer they ran on."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)

    async def run() -> tuple[list[Result], list[str], OneGuest]:
        async with pair(guest=served(home)) as (host, _):
            computer = OneGuest(SimpleNamespace(control=host, bulk=host))
            heard: list[str] = []
            given: ToolContext = replace(context(tmp_path), computer=cast(Any, computer), emit=heard.append)
            kind = tool.definition().arguments
            try:
                results = [await tool.execute(kind.model_validate(each), given) for each in several]
            finally:
                await host.call("shell.restart", session=SESSION)
            return results, heard, computer

    return asyncio.run(run())
