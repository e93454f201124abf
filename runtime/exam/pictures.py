"""The discipline of seeing: kinds, numbers, colours, places and words in pictures that the exam draws."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from runtime.exam.asking import Answer, Question
from runtime.exam.drawing import scene
from runtime.exam.tasks import Paper, data, single
from runtime.exam.words import same, words
from runtime.messages import Text, UserMessage
from runtime.pictures import as_image

MOST = 16
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def paper() -> Paper:
    """Every question about every scene of resources/exam/pictures.yaml."""
    tasks = tuple(
        single(question(at, kind, about), partial(right, kind, truth(entry["shapes"], kind, about)))
        for at, entry in enumerate(data("pictures")["scenes"])
        for ask in entry["asks"]
        for kind, about in ask.items()
    )
    return Paper(tasks, data("pictures")["pass"])


@cache
def picture(at: int) -> bytes:
    """The drawn scene number `at`."""
    found = data("pictures")
    entry, colours = found["scenes"][at], found["colours"]
    shapes = [(kind, colours[colour], x, y, size) for kind, colour, x, y, size in entry["shapes"]]
    return scene(found["size"], shapes, [tuple(each) for each in entry.get("words", ())])


def question(at: int, kind: str, about: str) -> Question:
    """The picture, then what is asked, so that the picture is evaluated once."""
    asked = data("pictures")["ask"][kind].format(kind=about)
    return Question("pictures", (UserMessage((as_image(picture(at)), Text(asked))),), MOST)


def truth(shapes: list[list[Any]], kind: str, about: str) -> str:
    """The right answer, from what was drawn; `about` is the kind of shape that is asked for, else what is
    written."""
    nearest: dict[str, Callable[[list[Any]], int]] = {
        "left": lambda shape: int(shape[2]),
        "lowest": lambda shape: -int(shape[3]),
    }
    match kind:
        case "count":
            return str(sum(shape[0] == about for shape in shapes))
        case "colour":
            return next(str(shape[1]) for shape in shapes if shape[0] == about)
        case "left" | "lowest":
            return str(min(shapes, key=nearest[kind])[0])
    return about


def right(kind: str, wanted: str, answer: Answer) -> bool:
    """Whether the answer names this and no other choice."""
    if kind == "written":
        return same(answer.text, wanted)
    found = data("pictures")
    choices: list[str] = found["kinds"]
    if kind == "count":
        choices = [str(number) for number in range(100)]
    elif kind == "colour":
        choices = list(found["colours"])
    told = {str(NUMBERS.index(word)) if word in NUMBERS else word for word in words(answer.text)}
    return told & set(choices) == {wanted}
