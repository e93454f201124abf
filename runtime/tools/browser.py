"""The tool that drives the browser on the agent's computer by the pages' own words and elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from runtime.errors import OrionError
from runtime.tools.computer_result import computer, refused
from runtime.tools.tool import Arguments, Definition, Failure, Result, ToolContext, ok
from sandbox.guest.peer import PeerError

if TYPE_CHECKING:
    from runtime.agent_computer import Place

SECONDS = 30.0
"""What one action may take in the page."""

LONGEST = 60_000
"""Characters that are taken of what a page is told as, whoever tells it."""

SCHEMES = ("http://", "https://", "file:///workspace/", "about:")


class BrowserArguments(Arguments):
    action: Literal["open", "read", "click", "fill", "press", "back"] = Field(
        description="open: an address. read: the page as it is, with its elements numbered. click, fill: an "
        "element. press: a key. back: the page before."
    )
    url: str = Field(default="", description="For open: an address, or file:///workspace/… for a file.")
    element: int | None = Field(default=None, ge=1, description="Number of an element as last listed.")
    target: str = Field(default="", description="In place of a number: the element's label or text.")
    text: str = Field(default="", description="For fill: what to write in.")
    key: str = Field(default="", description="For press: such as Enter or Control+a.")
    start: int = Field(default=0, ge=0, description="For read: the first character of the text to show.")


class BrowserTool:
    """Pages opened, read and filled in without pictures; the browser stands on the desktop for all to see."""

    def definition(self) -> Definition:
        return Definition(
            name="browser",
            description=(
                "Use the web browser of your own computer: open a page, read its text and numbered elements, "
                "click, fill in, press keys. Hosts that are not allowed yet are asked for: the page waits "
                "for the user's answer."
            ),
            arguments=BrowserArguments,
            risk="medium",
            sandboxed=True,
            foreign=True,
            timeout=240.0,
        )

    async def execute(self, arguments: BrowserArguments, context: ToolContext) -> Result:
        if fault := _fault(arguments):
            return Failure("invalid", fault)
        request: dict[str, Any] = arguments.model_dump(exclude={"action"}, exclude_none=True)
        request |= {"do": arguments.action, "timeout": SECONDS if arguments.action != "open" else SECONDS * 5}

        async def act(place: Place) -> Result:
            try:
                answer = await place.guest.control.call("browser.do", **request)
            except PeerError as error:
                return Failure("error", error.text or error.code)
            text = str(answer.get("text", ""))[:LONGEST]
            context.emit(text)
            return ok(text)

        try:
            logged = {"do": arguments.action} | arguments.model_dump(
                exclude={"action", "text"}, exclude_defaults=True
            )
            log = {"call": context.call, "action": "browser", "arguments": logged}
            return await computer(context).run(context.session, act, log=log)
        except OrionError as error:
            return refused(error)

    async def preview(self, arguments: BrowserArguments, context: ToolContext) -> str:
        del arguments, context
        return ""


def _fault(arguments: BrowserArguments) -> str:
    """What is missing, or ""."""
    match arguments.action:
        case "open" if not arguments.url.startswith(SCHEMES):
            return f"The address has to begin with one of {', '.join(SCHEMES)}."
        case "click" | "fill" if arguments.element is None and not arguments.target:
            return "Say which element: its number as listed, or its label or text as target."
        case "press" if not arguments.key:
            return "Say which key."
    return ""
