"""The tool that runs commands in a shell of the agent's computer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from runtime.errors import OrionError
from runtime.tools import ran_result
from runtime.tools.computer_result import computer, refused
from runtime.tools.tool import Arguments, Definition, Failure, Result, ToolContext, ok

if TYPE_CHECKING:
    from runtime.agent_computer import Place

LONGEST = 1_800
USUAL = 120

KEPT = "The shell and what ran in the background before go on."


class BashArguments(Arguments):
    command: str = Field(default="", description="What to run; several lines are fine.")
    restart: bool = Field(
        default=False, description="End the shell and everything it started, in place of a command."
    )
    timeout: int = Field(
        default=USUAL, ge=1, le=LONGEST, description="Seconds after which the command is stopped."
    )


class Bash:
    """A bash that keeps its folder and variables from call to call, one for each session."""

    def definition(self) -> Definition:
        return Definition(
            name="bash",
            description=(
                "Run commands in a bash on your own computer, a Linux sandbox. Folder and variables are kept "
                "from one call to the next. It begins in /workspace, where the user's files are; it has no "
                "input, and programs with a window open on the desktop when started with &. The network is "
                "reached by http_proxy; hosts that are not allowed yet are asked for."
            ),
            arguments=BashArguments,
            risk="medium",
            sandboxed=True,
            foreign=True,
            timeout=LONGEST + 60.0,
            command_argument="command",
        )

    async def execute(self, arguments: BashArguments, context: ToolContext) -> Result:
        if not arguments.restart and not arguments.command.strip():
            return Failure("invalid", "Say what to run in `command`, or set `restart`.")

        async def act(place: Place) -> Result:
            from sandbox.shell import GuestShell

            shell = GuestShell(place.guest.control)
            if arguments.restart:
                await shell.restart(context.session)
                return ok("The shell was restarted; it begins again in /workspace.")
            ran = await shell.run(
                arguments.command, session=context.session, timeout=arguments.timeout, told=context.emit
            )
            return ran_result.reported(ran, arguments.timeout, rest=KEPT)

        try:
            log = {"call": context.call, "action": "bash", "arguments": arguments.model_dump()}
            return await computer(context).run(context.session, act, yields=False, log=log)
        except OrionError as error:
            return refused(error)

    async def preview(self, arguments: BashArguments, context: ToolContext) -> str:
        del context
        return "" if arguments.restart else arguments.command
