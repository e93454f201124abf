"""The discipline of calling tools: the right one, with the right arguments, several, none, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.exam.asking import Ask, Question, said
from runtime.exam.tasks import Paper, Task, data, listed
from runtime.exam.words import bare, words
from runtime.messages import (
    AssistantMessage,
    JsonObject,
    Message,
    Text,
    ToolCall,
    ToolMessage,
    ToolSpec,
)

MOST, SPOKEN = 80, 24
"""Tokens of a reply that should call, and of one that should be words."""


def paper() -> Paper:
    """The tasks of resources/exam/tools.yaml."""
    found = data("tools")
    tools = tuple(
        ToolSpec(each["name"], each["description"], each["parameters"]) for each in found["offered"]
    )
    tasks = tuple(_task(entry, tools, found["system"]) for entry in found["tasks"])
    return Paper(tasks, found["pass"], found["each"])


def _task(entry: JsonObject, tools: tuple[ToolSpec, ...], system: str) -> Task:
    wanted: list[JsonObject] = entry.get("calls", [])

    def question(*more: Message) -> Question:
        most = MOST if wanted else SPOKEN
        return Question("tools", (said(entry["say"]), *more), most, system, tools)

    async def call(ask: Ask) -> bool:
        """The calls of one reply, or of as many as there are things to do, one after the other."""
        made: list[ToolCall] = []
        messages: list[Message] = []
        while len(made) < len(wanted):
            answer = await ask(question(*messages))
            if not answer.calls:
                break
            made += answer.calls
            messages.append(AssistantMessage(answer.text, calls=answer.calls))
            messages += [ToolMessage(each.id, each.name, (Text("done"),)) for each in answer.calls]
        return fitting(made, wanted)

    async def speak(ask: Ask) -> bool:
        """Words, where nothing is to be called."""
        answer = await ask(question())
        return not answer.calls and bool(bare(answer.text))

    async def report(ask: Ask) -> bool:
        """What a result says, without a further call."""
        done = entry["after"]
        past = ToolCall("callpast1", done["name"], done["arguments"])
        result = ToolMessage(past.id, past.name, (Text(done["result"]),))
        answer = await ask(question(AssistantMessage("", calls=(past,)), result))
        told = {str(each).casefold() for each in listed(entry["contains"])}
        return not answer.calls and told <= set(words(answer.text))

    run = report if "after" in entry else call if wanted else speak
    return Task(run, entry["group"])


def fitting(made: Sequence[ToolCall], wanted: Sequence[JsonObject]) -> bool:
    """Whether exactly the wanted calls were made, in any order."""
    left = list(wanted)
    for call in made:
        match = next((each for each in left if _is(call, each)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def _is(call: ToolCall, wanted: JsonObject) -> bool:
    """Whether it is this call; an argument that says nothing counts as left out."""
    given = {key: value for key, value in call.arguments.items() if value not in (None, "")}
    expected: JsonObject = wanted["arguments"]
    return (
        not call.error
        and call.name == wanted["name"]
        and given.keys() == expected.keys()
        and all(_value(given[key], each) for key, each in expected.items())
    )


def _value(given: Any, wanted: Any) -> bool:
    """Whether `given` is `wanted`: a number, a text without regard to case, one of a list of texts, or any
    text with the words of `contains`."""
    if isinstance(wanted, dict):
        told = {str(each).casefold() for each in listed(wanted["contains"])}
        return isinstance(given, str) and told <= set(words(given))
    if isinstance(wanted, list):
        return any(_value(given, each) for each in wanted)
    if isinstance(wanted, str):
        return isinstance(given, str) and bare(given).casefold() == bare(wanted).casefold()
    return not isinstance(given, bool) and isinstance(given, int | float) and given == wanted
