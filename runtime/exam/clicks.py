"""The discipline of hitting what is named in a picture of a screen, in pixels of that picture."""

from __future__ import annotations

from functools import partial

from runtime.exam.asking import Answer, Question, said
from runtime.exam.drawing import screen_picture
from runtime.exam.screens import SIZE, Aim, Screen, screens
from runtime.exam.tasks import Paper, data, single
from runtime.messages import AssistantMessage, Text, ToolCall, ToolMessage
from runtime.pictures import as_image
from runtime.tools.computer import ComputerTool
from runtime.tools.computer_result import SHOWN

MOST = 64
CLICKS = ("left_click", "double_click")


def paper() -> Paper:
    """Every aim that is a click, on every screen."""
    tasks = tuple(
        single(question(screen, aim), partial(right, screen, aim))
        for screen in screens()
        for aim in screen.aims
        if not aim.text
    )
    return Paper(tasks, data("screens")["pass"]["clicks"])


def question(screen: Screen, aim: Aim) -> Question:
    """The conversation in which the model has looked at the screen and is told what to click."""
    spec = ComputerTool().definition().spec()
    looked = ToolCall("calllook1", spec.name, {"action": "screenshot"})
    return Question(
        "clicks",
        (
            said(data("phrases")["look"]),
            AssistantMessage("", calls=(looked,)),
            ToolMessage(looked.id, looked.name, (Text(SHOWN), as_image(screen_picture(screen, SIZE)))),
            AssistantMessage(data("phrases")["seen"]),
            said(f"{aim.say} {data('phrases')['current']}"),
        ),
        MOST,
        data("phrases")["system"],
        (spec,),
    )


def right(screen: Screen, aim: Aim, answer: Answer) -> bool:
    """Whether the first click hits; moving there first is allowed."""
    for call in answer.calls:
        if call.error:
            return False
        action, where = call.arguments.get("action"), call.arguments.get("coordinate")
        if action in CLICKS and isinstance(where, list) and len(where) == 2 and all(map(_number, where)):
            return screen.hit(aim.number, where[0], where[1])
        if action != "mouse_move":
            return False
    return False


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
