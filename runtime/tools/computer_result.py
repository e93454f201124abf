"""How tools on the agent's computer report: what was done with a picture of the screen, or why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resources.sentences import sentence
from runtime.errors import OrionError
from runtime.pictures import as_image
from runtime.tools.tool import Failure, FailureKind, Result, ToolContext, ok

if TYPE_CHECKING:
    from runtime.agent_computer import AgentComputer
    from sandbox.computer import Outcome

SHOWN = "The screen as it is now:"
_INVALID = ("action_",)
"""How codes begin that other arguments would help against."""


def computer(context: ToolContext) -> AgentComputer:
    """The computer of this process. Raises OrionError `computer_absent` where it has none."""
    if context.computer is None:
        raise OrionError("computer_absent", fault="tool")
    return context.computer


def refused(error: OrionError) -> Failure:
    """An error of the computer as a result: the user took over, or it is not there, or what was wrong."""
    kind: FailureKind = "invalid" if error.code.startswith(_INVALID) else "error"
    if error.code == "wheel_taken":
        kind = "cancelled"
    return Failure(kind, sentence(error.code, **error.fields), {"code": error.code, "fields": error.fields})


def reported(outcome: Outcome) -> Result:
    """An outcome as a result: its text, the picture where there is one, its verdict for the window."""
    details = {"verdict": outcome.verdict, "seconds": round(outcome.seconds, 3)}
    if outcome.failed:
        return Failure("error", outcome.text, details)
    images = (as_image(outcome.picture),) if outcome.picture is not None else ()
    return ok(outcome.text or SHOWN, *images, **details)
