"""The tool that reads a text file of the workspace, a bounded piece at a time."""

from __future__ import annotations

import asyncio
import io

from pydantic import Field

from runtime.pathnames import WorkspaceError
from runtime.tools.file_result import refused
from runtime.tools.tool import Arguments, Definition, Result, ToolContext, ok

MAX_CHARACTERS = 20_000


class ReadArguments(Arguments):
    path: str = Field(description="File in the workspace.")
    start_line: int = Field(default=1, ge=1, description="First line to read, counted from 1.")
    lines: int = Field(default=500, ge=1, le=5_000, description="How many lines to read at most.")


class ReadFile:
    """Shows the text of a file and says how to read on where it is long."""

    def definition(self) -> Definition:
        return Definition(
            name="read_file",
            description="Read a UTF-8 text file in the workspace.",
            arguments=ReadArguments,
            risk="low",
            idempotent=True,
            path_argument="path",
        )

    async def execute(self, arguments: ReadArguments, context: ToolContext) -> Result:
        try:
            text = await asyncio.to_thread(context.workspace.read_text, arguments.path)
        except WorkspaceError as error:
            return refused(error)
        shown, note, last = _piece(text, arguments.start_line, arguments.lines)
        return ok(shown + note, path=arguments.path, first_line=arguments.start_line, last_line=last)

    async def preview(self, arguments: ReadArguments, context: ToolContext) -> str:
        del arguments, context
        return ""


def _piece(text: str, start: int, count: int) -> tuple[str, str, int]:
    """The wanted lines, a note about what is left out, and the last line shown."""
    if not text:
        return "", "[The file is empty.]", 0
    lines = list(io.StringIO(text))
    if start > len(lines):
        return "", f"[The file has only {len(lines)} lines.]", len(lines)
    shown: list[str] = []
    room = MAX_CHARACTERS
    for line in lines[start - 1 : start - 1 + count]:
        if len(line) > room:
            break
        shown.append(line)
        room -= len(line)
    last = start - 1 + len(shown)
    if not shown:
        line = lines[start - 1]
        note = (
            f"\n[Line {start} is cut: {MAX_CHARACTERS} of {len(line)} characters. {len(lines)} lines in all.]"
        )
        return line[:MAX_CHARACTERS], note, start
    if start == 1 and last == len(lines):
        return "".join(shown), "", last
    more = f" Read on with start_line {last + 1}." if last < len(lines) else ""
    gap = "" if shown[-1].endswith("\n") else "\n"
    return "".join(shown), f"{gap}[Lines {start} to {last} of {len(lines)}.{more}]", last
