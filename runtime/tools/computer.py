"""The tool with which a model that sees pictures works the desktop of the agent's computer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from runtime.errors import OrionError
from runtime.tools.computer_result import computer, refused, reported
from runtime.tools.tool import Arguments, Definition, Result, ToolContext

if TYPE_CHECKING:
    from runtime.agent_computer import Place

Action = Literal[
    "screenshot",
    "zoom",
    "cursor_position",
    "mouse_move",
    "left_click",
    "right_click",
    "middle_click",
    "double_click",
    "triple_click",
    "left_click_drag",
    "left_mouse_down",
    "left_mouse_up",
    "scroll",
    "type",
    "key",
    "hold_key",
    "wait",
]

WORDS_ONLY = frozenset({"cursor_position"})
"""Actions that are answered without a picture."""


class ComputerArguments(Arguments):
    action: Action = Field(description="What to do.")
    coordinate: list[int] | None = Field(
        default=None,
        min_length=2,
        max_length=2,
        description="[x, y] in pixels of the picture, from the top left: where to click, move or scroll; "
        "where a drag ends.",
    )
    start_coordinate: list[int] | None = Field(
        default=None, min_length=2, max_length=2, description="[x, y] where left_click_drag begins."
    )
    text: str | None = Field(
        default=None,
        description="type: the text, any language. key and hold_key: keys by name, joined by +, such as "
        "ctrl+s or Return. Clicks and scroll: a key held meanwhile, such as shift.",
    )
    scroll_direction: Literal["up", "down", "left", "right"] | None = Field(
        default=None, description="For scroll."
    )
    scroll_amount: int | None = Field(
        default=None, ge=0, le=100, description="For scroll: clicks of the wheel."
    )
    duration: float | None = Field(default=None, ge=0, le=100, description="For wait and hold_key: seconds.")
    repeat: int | None = Field(
        default=None, ge=1, le=100, description="For key: how often to press it; once if left out."
    )
    region: list[int] | None = Field(
        default=None,
        min_length=4,
        max_length=4,
        description="For zoom: [left, top, right, bottom] of the part to see in full sharpness.",
    )


class ComputerTool:
    """Mouse, keys and pictures of the desktop; every action is checked against what changed on the screen."""

    def definition(self) -> Definition:
        return Definition(
            name="computer",
            description=(
                "Work the desktop of your own computer: one action of mouse or keyboard, answered with a "
                "picture of the screen. It is a Linux desktop in a sandbox with a browser (chromium), a text "
                "editor (mousepad), a file manager, a terminal and a calculator; the user's files are in "
                "/workspace. After each action you are told whether the screen changed where you acted. "
                "Several calls in one reply are done in their order; where one fails, the rest is not done."
            ),
            arguments=ComputerArguments,
            risk="medium",
            sandboxed=True,
            foreign=True,
            audience="seeing",
            timeout=180.0,
        )

    async def execute(self, arguments: ComputerArguments, context: ToolContext) -> Result:
        async def act(place: Place) -> Result:
            assert place.computer is not None
            action = arguments.model_dump(exclude_none=True)
            outcome = await place.computer.perform(
                action, session=context.session, call=context.call, picture=arguments.action not in WORDS_ONLY
            )
            return reported(outcome)

        try:
            return await computer(context).run(context.session, act)
        except OrionError as error:
            return refused(error)

    async def preview(self, arguments: ComputerArguments, context: ToolContext) -> str:
        del arguments, context
        return ""
