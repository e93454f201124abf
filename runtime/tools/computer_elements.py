"""The tool with which a model that sees no pictures works the desktop: by a numbered list of its parts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from runtime.errors import OrionError
from runtime.tools.computer_result import computer, refused, reported
from runtime.tools.tool import Arguments, Definition, Failure, Result, ToolContext

if TYPE_CHECKING:
    from runtime.agent_computer import Place
    from sandbox.computer import Outcome

Action = Literal["list", "click", "double_click", "type", "key", "scroll", "wait"]


class ElementArguments(Arguments):
    action: Action = Field(
        description="list: what is on the screen, with numbers. click, double_click: an element. type: text, "
        "into an element or where the cursor is. key: such as Return or ctrl+s."
    )
    element: int | None = Field(default=None, ge=1, description="Number of an element in the last list.")
    text: str | None = Field(default=None, description="Text to type, or the key.")
    direction: Literal["up", "down"] | None = Field(default=None, description="For scroll.")


class ComputerElements:
    """The desktop for models without pictures; each action is answered with the list as it is then."""

    def definition(self) -> Definition:
        return Definition(
            name="computer_elements",
            description=(
                "Work the desktop of your own computer by numbers: list what is on the screen, then click or "
                "type into an element by its number. It is a Linux desktop in a sandbox; start programs with "
                "the tool bash, such as 'galculator &'. The user's files are in /workspace."
            ),
            arguments=ElementArguments,
            risk="medium",
            sandboxed=True,
            foreign=True,
            audience="unseeing",
            timeout=180.0,
        )

    async def execute(self, arguments: ElementArguments, context: ToolContext) -> Result:
        wanted = _action(arguments)
        if isinstance(wanted, Failure):
            return wanted

        async def act(place: Place) -> Result:
            assert place.computer is not None
            perform = partial(
                place.computer.perform, session=context.session, call=context.call, picture=False
            )
            outcome = await perform(wanted)
            if outcome.failed or arguments.action == "list":
                return reported(outcome)
            return reported(_joined(outcome, await perform({"action": "elements"})))

        try:
            return await computer(context).run(context.session, act)
        except OrionError as error:
            return refused(error)

    async def preview(self, arguments: ElementArguments, context: ToolContext) -> str:
        del arguments, context
        return ""


def _action(arguments: ElementArguments) -> dict[str, Any] | Failure:
    """The action of the computer that is meant."""
    number, text = arguments.element, arguments.text or ""
    match arguments.action:
        case "list":
            return {"action": "elements"}
        case "click" | "double_click":
            if number is None:
                return Failure("invalid", "Say which element by its number in the list.")
            clicks = {} if arguments.action == "click" else {"double": True}
            return {"action": "click_element", "number": number} | clicks
        case "type" if number is not None:
            return {"action": "type_into", "number": number, "text": text}
        case "type":
            return {"action": "type", "text": text}
        case "key":
            return {"action": "key", "text": text}
        case "scroll":
            direction = arguments.direction or "down"
            return {"action": "scroll", "scroll_direction": direction, "scroll_amount": 5}
        case "wait":
            return {"action": "wait", "duration": 1.0}


def _joined(outcome: Outcome, after: Outcome) -> Outcome:
    return replace(outcome, text=f"{outcome.text}\n\n{after.text}")
