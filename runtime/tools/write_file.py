"""The tool that writes a text file into the workspace, or adds to one."""

from __future__ import annotations

from pydantic import Field

from runtime.tools.file_result import changed, origin, previewed
from runtime.tools.tool import Arguments, Definition, Result, ToolContext


class WriteArguments(Arguments):
    path: str = Field(description="File in the workspace, for example notes/plan.md; folders are made.")
    text: str = Field(
        description="The whole new content, each item of a list on its own line; with append what is added."
    )
    append: bool = Field(default=False, description="Add to the end instead of replacing the file.")


class WriteFile:
    """Creates, replaces or extends a file; can be undone."""

    def definition(self) -> Definition:
        return Definition(
            name="write_file",
            description="Write a text file in the workspace. Use edit_file for small changes to a long file.",
            arguments=WriteArguments,
            risk="medium",
            undoable=True,
            path_argument="path",
        )

    async def execute(self, arguments: WriteArguments, context: ToolContext) -> Result:
        workspace, by = context.workspace, origin(context)
        if arguments.append:
            return await changed(
                context, lambda: workspace.append(arguments.path, arguments.text, by), "Added to"
            )
        return await changed(context, lambda: workspace.write(arguments.path, arguments.text, by), "Wrote")

    async def preview(self, arguments: WriteArguments, context: ToolContext) -> str:
        return await previewed(
            lambda: context.workspace.preview_write(arguments.path, arguments.text, append=arguments.append)
        )
