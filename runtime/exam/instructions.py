"""The discipline of doing what was said: form, order, number, language and limits that code can check."""

from __future__ import annotations

from runtime.exam.asking import Answer, Ask, Question, said
from runtime.exam.tasks import Paper, Task, data, listed
from runtime.exam.words import bare, parts, same, sentences, words
from runtime.messages import AssistantMessage, JsonObject, Message

MOST = 32
"""Tokens of an answer; none of the right ones is half as long."""


def paper() -> Paper:
    """The tasks of resources/exam/instructions.yaml."""
    found = data("instructions")
    return Paper(tuple(_task(entry) for entry in found["tasks"]), found["pass"])


def _task(entry: JsonObject) -> Task:
    """One entry, or several under `both` that count only together."""
    together = [(_question(each), each["expect"]) for each in entry.get("both", [entry])]

    async def run(ask: Ask) -> bool:
        for question, expected in together:
            if not fulfils(await ask(question), expected):
                return False
        return True

    return Task(run)


def _question(entry: JsonObject) -> Question:
    """`say` is what the user says; of a list, every second text is the model's."""
    messages: list[Message] = [
        AssistantMessage(text) if at % 2 else said(text) for at, text in enumerate(listed(entry["say"]))
    ]
    return Question("instructions", tuple(messages), MOST, entry.get("system", ""))


def fulfils(answer: Answer, expected: JsonObject) -> bool:
    """Whether the answer has every property that `expected` names."""
    text = answer.text
    return all(_has(text, name, wanted) for name, wanted in expected.items())


def _has(text: str, name: str, wanted: object) -> bool:
    match name, wanted:
        case "is", _:  # one of these, and nothing else
            return any(same(text, str(each)) for each in listed(wanted))
        case "exactly", str():  # also the case of letters
            return bare(text) == wanted
        case "list", list():  # these in this order
            return parts(text) == [str(each).casefold() for each in wanted]
        case "repeated", {"word": str() as word, "times": int() as times}:
            return words(text) == [word.casefold()] * times
        case "contains", _:
            return {str(each).casefold() for each in listed(wanted)} <= set(words(text))
        case "ends", str():  # after something else
            found = words(text)
            return len(found) > 1 and found[-1] == wanted.casefold()
        case "sentences", int():
            return sentences(text) == wanted
        case "words", int():
            return len(words(text)) == wanted
    raise ValueError(f"the exam knows no check {name}: {wanted!r}")
