"""The discipline of working a screen by the numbers of what is on it, as models do that see no pictures."""

from __future__ import annotations

from functools import partial

from runtime.exam.asking import Answer, Question, said
from runtime.exam.screens import Aim, Screen, screens
from runtime.exam.tasks import Paper, data, single
from runtime.exam.words import bare
from runtime.messages import AssistantMessage, Text, ToolCall, ToolMessage
from runtime.tools.computer_elements import ComputerElements

MOST = 64


def paper() -> Paper:
    """Every aim that is not for pointing alone, on every screen."""
    tasks = tuple(
        single(question(screen, aim), partial(right, aim))
        for screen in screens()
        for aim in screen.aims
        if not aim.pointing
    )
    return Paper(tasks, data("screens")["pass"]["elements"])


def question(screen: Screen, aim: Aim) -> Question:
    """The conversation in which the model has listed the screen and is told what to do there."""
    spec = ComputerElements().definition().spec()
    looked = ToolCall("calllook1", spec.name, {"action": "list"})
    return Question(
        "elements",
        (
            said(data("phrases")["look"]),
            AssistantMessage("", calls=(looked,)),
            ToolMessage(looked.id, looked.name, (Text(screen.listing()),)),
            AssistantMessage(data("phrases")["seen"]),
            said(f"{aim.say} {data('phrases')['current']}"),
        ),
        MOST,
        data("phrases")["system"],
        (spec,),
    )


def right(aim: Aim, answer: Answer) -> bool:
    """Whether the first call does it; what comes after it is done on a screen that nobody has seen yet."""
    if not answer.calls or answer.calls[0].error:
        return False
    given = answer.calls[0].arguments
    typed = str(given.get("text") or "")
    number = given.get("element")
    if isinstance(number, bool) or number != aim.number:
        return False
    if aim.text:
        return given.get("action") == "type" and bare(typed) == aim.text
    return given.get("action") in ("click", "double_click")
