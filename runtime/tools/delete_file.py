"""The tool that deletes a file from the workspace, with its content kept for undo."""

from __future__ import annotations

from pydantic import Field

from runtime.tools.file_result import changed, origin, previewed
from runtime.tools.tool import Arguments, Definition, Result, ToolContext


class DeleteArguments(Arguments):
    path: str = Field(description="File in the workspace.")


class DeleteFile:
    """Removes one file; can be undone."""

    def definition(self) -> Definition:
        return Definition(
            name="delete_file",
            description="Delete one file from the workspace.",
            arguments=DeleteArguments,
            risk="medium",
            undoable=True,
            path_argument="path",
        )

    async def execute(self, arguments: DeleteArguments, context: ToolContext) -> Result:
        workspace, by = context.workspace, origin(context)
        return await changed(context, lambda: workspace.delete(arguments.path, by), "Deleted")

    async def preview(self, arguments: DeleteArguments, context: ToolContext) -> str:
        return await previewed(lambda: context.workspace.preview_delete(arguments.path))
