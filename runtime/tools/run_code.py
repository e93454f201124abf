"""The tool that runs a piece of code once, in the smaller machine that is there for nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from runtime.errors import OrionError
from runtime.tools import ran_result
from runtime.tools.computer_result import computer, refused
from runtime.tools.tool import Arguments, Definition, Result, ToolContext

if TYPE_CHECKING:
    from runtime.agent_computer import Place

LONGEST = 600
USUAL = 60
MEMORY_MB = 512


class CodeArguments(Arguments):
    code: str = Field(min_length=1, description="The whole program; print what you want to see.")
    language: Literal["python", "bash"] = Field(default="python", description="What it is written in.")
    timeout: int = Field(default=USUAL, ge=1, le=LONGEST, description="Seconds after which it is stopped.")


class RunCode:
    """Python or bash in a fresh process with little memory, which nothing outlives."""

    def definition(self) -> Definition:
        return Definition(
            name="run_code",
            description=(
                f"Run a Python or bash program once, in a sandbox with {MEMORY_MB} MB of memory and one "
                "processor, without a desktop. Nothing is kept from one run to the next except files in "
                "/workspace, where it begins."
            ),
            arguments=CodeArguments,
            risk="medium",
            sandboxed=True,
            foreign=True,
            timeout=LONGEST + 60.0,
        )

    async def execute(self, arguments: CodeArguments, context: ToolContext) -> Result:
        async def act(place: Place) -> Result:
            from sandbox.shell import GuestShell

            ran = await GuestShell(place.guest.control).execute(
                arguments.code, arguments.language, timeout=arguments.timeout, told=context.emit
            )
            return ran_result.reported(ran, arguments.timeout, memory_mb=MEMORY_MB)

        try:
            log = {"call": context.call, "action": "run_code", "arguments": arguments.model_dump()}
            return await computer(context).run(context.session, act, where="code", yields=False, log=log)
        except OrionError as error:
            return refused(error)

    async def preview(self, arguments: CodeArguments, context: ToolContext) -> str:
        del context
        return f"{arguments.language}:\n{arguments.code}"
