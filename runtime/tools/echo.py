"""The tool that says back what it was given; it shows that tools work."""

from __future__ import annotations

from pydantic import Field

from runtime.tools.tool import Arguments, Definition, Result, ToolContext, ok


class EchoArguments(Arguments):
    text: str = Field(description="What to say back.")


class Echo:
    """Returns its text unchanged."""

    def definition(self) -> Definition:
        return Definition(
            name="echo",
            description="Return the given text unchanged.",
            arguments=EchoArguments,
            risk="low",
            idempotent=True,
        )

    async def execute(self, arguments: EchoArguments, context: ToolContext) -> Result:
        del context
        return ok(arguments.text)

    async def preview(self, arguments: EchoArguments, context: ToolContext) -> str:
        del arguments, context
        return ""
