"""Screens of the exam: one description of what is on them, from which picture and list are made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from runtime.exam.tasks import data
from sandbox.elements import Element, numbered, shown
from sandbox.scaling import Scaling

SIZE = (1024, 768)


@dataclass(frozen=True, slots=True)
class Aim:
    """What a model is told to do on a screen, and the element it must do it with; `text` is what it must
    type there, "" for a click. `pointing` ones are for those who see alone."""

    say: str
    number: int
    text: str = ""
    pointing: bool = False


@dataclass(frozen=True, slots=True)
class Screen:
    """A window called `window` with numbered elements, and what is to be done on it."""

    name: str
    window: str
    elements: tuple[Element, ...]
    aims: tuple[Aim, ...]

    def listing(self) -> str:
        """The list that a model gets which sees no pictures, in the program's own words."""
        return shown(self.window, self.elements, Scaling(*SIZE), complete=True)

    def element(self, number: int) -> Element:
        """The element with this number."""
        return self.elements[number - 1]

    def hit(self, number: int, x: float, y: float) -> bool:
        """Whether the pixel (x, y) belongs to the element."""
        found = self.element(number)
        return found.x <= x < found.x + found.width and found.y <= y < found.y + found.height


@cache
def screens() -> tuple[Screen, ...]:
    """The screens of resources/exam/screens.yaml."""
    return tuple(_screen(entry) for entry in data("screens")["screens"])


def _screen(entry: dict[str, Any]) -> Screen:
    elements = tuple(numbered([_found(*each) for each in entry["elements"]], ()))
    by_name = {element.name: element.number for element in elements}
    aims = tuple(
        Aim(each["say"], by_name[each["on"]], each.get("text", ""), each.get("pointing", False))
        for each in entry["aims"]
    )
    return Screen(entry["name"], entry["window"], elements, aims)


def _found(role: str, name: str, x: int, y: int, width: int, height: int, value: str = "") -> dict[str, Any]:
    """As the guest of the sandbox tells of it."""
    return {"role": role, "name": name, "value": value, "x": x, "y": y, "width": width, "height": height}
