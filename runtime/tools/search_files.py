"""The tool that finds text in the files of the workspace."""

from __future__ import annotations

import asyncio
import threading

from pydantic import Field

from runtime.pathnames import WorkspaceError
from runtime.search import Found, Query
from runtime.tools.file_result import refused
from runtime.tools.tool import Arguments, Definition, Result, ToolContext, ok


class SearchArguments(Arguments):
    pattern: str = Field(min_length=1, max_length=1_000, description="Text to find, or a regular expression.")
    regex: bool = Field(default=False, description="Treat the pattern as a regular expression (RE2).")
    ignore_case: bool = Field(default=False, description="Do not tell upper from lower case.")
    glob: str = Field(default="", max_length=200, description="Only files like this, for example *.py.")
    path: str = Field(default="", description="Folder to search in; empty for the whole workspace.")
    limit: int = Field(default=50, ge=1, le=500, description="How many matching lines at most.")


class SearchFiles:
    """Shows matching lines with file and line number."""

    def definition(self) -> Definition:
        return Definition(
            name="search_files",
            description="Find text in the files of the workspace; shows path:line: text.",
            arguments=SearchArguments,
            risk="low",
            idempotent=True,
            path_argument="path",
        )

    async def execute(self, arguments: SearchArguments, context: ToolContext) -> Result:
        query = Query(
            arguments.pattern, arguments.regex, arguments.ignore_case, arguments.glob, arguments.limit
        )
        stop = threading.Event()
        try:
            found = await asyncio.to_thread(context.workspace.search, query, arguments.path, stop)
        except WorkspaceError as error:
            return refused(error)
        finally:
            stop.set()  # a cancelled call leaves no search behind
        lines = [f"{match.path}:{match.line}: {match.text}" for match in found.matches]
        return ok("\n".join([*lines, _summary(found)]), matches=len(found.matches), stopped=found.stopped)

    async def preview(self, arguments: SearchArguments, context: ToolContext) -> str:
        del arguments, context
        return ""


def _summary(found: Found) -> str:
    ends = {
        "limit": "There are more; narrow the search.",
        "time": "The time was over before all files were searched; narrow the search.",
        "cancelled": "The search was cancelled.",
    }
    skipped = f", binary or large ones skipped: {found.skipped}" if found.skipped else ""
    end = f" {ends[found.stopped]}" if found.stopped else ""
    return f"[Matching lines: {len(found.matches)}, files searched: {found.files}{skipped}.{end}]"
