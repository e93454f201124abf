"""The tool that tells the agent about itself: its version, model, limits, tools, place and time."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version

from runtime.messages import JsonObject
from runtime.tools.tool import Definition, NoArguments, Result, ToolContext, ok


def _local_time() -> datetime:
    return datetime.now().astimezone()


class RuntimeInfo:
    """Reports the facts of the running session as JSON."""

    def __init__(self, clock: Callable[[], datetime] = _local_time) -> None:
        self._clock = clock

    def definition(self) -> Definition:
        return Definition(
            name="runtime_info",
            description="Facts about this agent: version, model, limits, tools, workspace, date and time.",
            arguments=NoArguments,
            risk="low",
            idempotent=True,
        )

    async def execute(self, arguments: NoArguments, context: ToolContext) -> Result:
        del arguments
        now = self._clock()
        facts: JsonObject = {
            "version": _version(),
            **context.facts,
            "session": context.session,
            "workspace": str(context.workspace.root),
            "time": now.isoformat(timespec="seconds"),
            "zone": now.tzname() or "",
            "weekday": now.strftime("%A"),
            "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
            "python": platform.python_version(),
        }
        return ok(json.dumps(facts, indent=1, ensure_ascii=False), facts=facts)

    async def preview(self, arguments: NoArguments, context: ToolContext) -> str:
        del arguments, context
        return ""


def _version() -> str:
    try:
        return version("orion-desktop")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"
