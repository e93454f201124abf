"""Calls one tool as the loop does: arguments validated from JSON, a context of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from runtime.messages import Text
from runtime.tools.tool import Ok, Result, Tool, ToolContext
from runtime.workspace import Workspace


def context(tmp_path: Path, **facts: Any) -> ToolContext:
    """A context with a workspace in `tmp_path/root`."""
    workspace = Workspace.create(tmp_path / "root", tmp_path / "changes")
    return ToolContext("session", "turn", "call", workspace, tmp_path, facts, emit=lambda text: None)


def call(tool: Tool, given: ToolContext, **arguments: Any) -> Result:
    """The result of one call."""
    validated = tool.definition().arguments.model_validate(arguments)
    return asyncio.run(tool.execute(validated, given))


def preview(tool: Tool, given: ToolContext, **arguments: Any) -> str:
    """What the approval dialogue would show."""
    validated = tool.definition().arguments.model_validate(arguments)
    return asyncio.run(tool.preview(validated, given))


def text(result: Result) -> str:
    """What the model reads."""
    assert isinstance(result, Ok), result
    (part,) = result.parts
    assert isinstance(part, Text)
    return part.text
