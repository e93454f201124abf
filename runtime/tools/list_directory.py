"""The tool that lists files and folders of the workspace."""

from __future__ import annotations

import asyncio

from pydantic import Field

from runtime.pathnames import WorkspaceError
from runtime.survey import Node
from runtime.tools.file_result import refused
from runtime.tools.tool import Arguments, Definition, Result, ToolContext, ok

MAX_NAMES = 300


class ListArguments(Arguments):
    path: str = Field(default="", description="Folder in the workspace; empty for the workspace itself.")
    depth: int = Field(default=2, ge=1, le=20, description="How many levels of folders to show.")


class ListDirectory:
    """Shows a folder as a tree of paths with sizes."""

    def definition(self) -> Definition:
        return Definition(
            name="list_directory",
            description="List files and folders in the workspace, with sizes in bytes.",
            arguments=ListArguments,
            risk="low",
            idempotent=True,
            path_argument="path",
        )

    async def execute(self, arguments: ListArguments, context: ToolContext) -> Result:
        try:
            tree = await asyncio.to_thread(
                context.workspace.list_tree, arguments.path, arguments.depth, MAX_NAMES
            )
        except WorkspaceError as error:
            return refused(error)
        lines = [_line(node) for node in tree.nodes] or ["[The folder is empty.]"]
        if tree.more:
            lines.append(f"[More than {MAX_NAMES} names; list a single folder or search.]")
        return ok("\n".join(lines), names=len(tree.nodes), more=tree.more)

    async def preview(self, arguments: ListArguments, context: ToolContext) -> str:
        del arguments, context
        return ""


def _line(node: Node) -> str:
    marks = {"folder": "/", "link": "  (link, not followed)", "other": "  (device, not readable)"}
    return node.path + marks.get(node.sort, f"  {node.size}")
