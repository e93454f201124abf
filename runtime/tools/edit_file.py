"""The tool that replaces one exact passage of a file in the workspace."""

from __future__ import annotations

from pydantic import Field

from runtime.tools.file_result import changed, origin, previewed
from runtime.tools.tool import Arguments, Definition, Result, ToolContext


class EditArguments(Arguments):
    path: str = Field(description="File in the workspace.")
    old: str = Field(
        min_length=1,
        description="The exact text to replace, long enough to be the only such place.",
    )
    new: str = Field(description="The text that takes its place; empty to delete it.")


class EditFile:
    """Replaces a passage that occurs exactly once; can be undone."""

    def definition(self) -> Definition:
        return Definition(
            name="edit_file",
            description="Replace one exact, unique passage in a file of the workspace.",
            arguments=EditArguments,
            risk="medium",
            undoable=True,
            path_argument="path",
        )

    async def execute(self, arguments: EditArguments, context: ToolContext) -> Result:
        workspace, by = context.workspace, origin(context)
        return await changed(
            context, lambda: workspace.edit(arguments.path, arguments.old, arguments.new, by), "Edited"
        )

    async def preview(self, arguments: EditArguments, context: ToolContext) -> str:
        return await previewed(
            lambda: context.workspace.preview_edit(arguments.path, arguments.old, arguments.new)
        )
