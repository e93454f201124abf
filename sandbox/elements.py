"""The numbered list of what is on the screen, for models that see no pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from sandbox.eyes import Line
from sandbox.guest.rects import Rect
from sandbox.scaling import Point, Scaling

READ = "text on screen"
"""The role of what was only read out of the picture."""

MOST = 400
"""Elements that are taken of what a guest lists, and as many lines that are read: the list costs the model
room, and a page may put anything on its screen."""

WORDS, STATES = 200, 8
"""Characters of a name, a value or a title, and states of an element, that are taken."""

REPLACED = frozenset({"entry", "password text", "editbar", "spin button", "combo box"})
"""Roles whose text is replaced, not added to, by typing into them."""


LABELLED = (320, 140)
"""Width and height up to which the text inside an element is its own."""

LINE = 48
"""Height up to which a wider element with a name has a single line of text, which is its name."""


@dataclass(frozen=True, slots=True)
class Element:
    """One thing on the screen; x, y, width, height in pixels of the screen, `number` as the model counts."""

    number: int
    role: str
    name: str
    value: str
    states: tuple[str, ...]
    x: int
    y: int
    width: int
    height: int

    @property
    def centre(self) -> Point:
        return self.x + self.width // 2, self.y + self.height // 2

    def line(self, scaling: Scaling) -> str:
        """As the model is shown it."""
        parts = [f"{self.number}. {self.role}"]
        if self.name:
            parts.append(f'"{_flat(self.name)}"')
        if self.value:
            parts.append(f"= {_flat(self.value)!r}")
        parts += [f"[{state}]" for state in self.states]
        x, y = scaling.to_model(*self.centre)
        return " ".join([*parts, f"at ({x}, {y})"])


def numbered(found: Iterable[Mapping[str, Any]], lines: Iterable[Line]) -> list[Element]:
    """Elements of the guest's answer, and lines of text where accessibility says nothing, numbered from 1. A
    small element without a name is called by the text that is read in it."""
    read = list(islice(lines, MOST))
    elements = [_called(_element(each), read) for each in islice(found, MOST)]
    named = [element for element in elements if element.name or element.value]
    elements += [_read(line) for line in read if not any(_covers(element, line) for element in named)]
    return [replace(element, number=at) for at, element in enumerate(elements, 1)]


def told(found: Iterable[Mapping[str, Any]]) -> list[Rect]:
    """Where on the screen the guest's answer leaves nothing to be read: the boxes of what has a name or a
    value, without the large ones that only name what lies in them."""
    elements = (_element(each) for each in islice(found, MOST))
    return [
        Rect(element.x, element.y, element.width, element.height)
        for element in elements
        if element.value or (element.name and (_is_small(element) or element.height <= LINE))
    ]


def _called(element: Element, lines: Sequence[Line]) -> Element:
    """`element` with the text inside it as its name, where it is small and has neither name nor value."""
    if element.name or element.value or element.width > LABELLED[0] or element.height > LABELLED[1]:
        return element
    return replace(element, name=_flat(" ".join(line.text for line in lines if _inside(element, line))))


def shown(window: str, elements: Sequence[Element], scaling: Scaling, complete: bool) -> str:
    """The list as text: the window in front first."""
    lines = [f"Window: {_flat(window) or '(none)'}"]
    lines += [element.line(scaling) for element in elements]
    if not elements:
        lines.append("Nothing on the screen can be named.")
    if not complete:
        lines.append("There is more than is listed here; scroll, or close a window.")
    return "\n".join(lines)


def _element(found: Mapping[str, Any]) -> Element:
    x, y, width, height = (int(found[name]) for name in ("x", "y", "width", "height"))
    states = tuple(_flat(state)[:40] for state in islice(found.get("states") or (), STATES))
    role, name, value = (_flat(found.get(member) or "") for member in ("role", "name", "value"))
    return Element(0, role[:40], name, value, states, x, y, width, height)


def _read(line: Line) -> Element:
    return Element(0, READ, _flat(line.text), "", (), line.x, line.y, line.width, line.height)


def _covers(element: Element, line: Line) -> bool:
    return _inside(element, line) and (
        _is_small(element) or element.height < 3 * line.height + 20 or bool(element.value)
    )


def _is_small(element: Element) -> bool:
    return element.width <= LABELLED[0] and element.height <= LABELLED[1]


def _inside(element: Element, line: Line) -> bool:
    x, y = line.x + line.width / 2, line.y + line.height / 2
    return element.x <= x < element.x + element.width and element.y <= y < element.y + element.height


def _flat(said: object) -> str:
    """One line of printable characters, not longer than WORDS: no more than that is a label on a screen."""
    text = " ".join(str(said)[: 4 * WORDS].split())
    plain = "".join(char for char in text if char.isprintable() or char in "\u200c\u200d")
    return plain if len(plain) <= WORDS else f"{plain[: WORDS - 1]}…"
