"""What a row is made of, before it is placed: texts, painted strips and actions, from top to bottom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter

from desktop.chat.pieces import Spec

Look = Literal["quiet", "button", "primary", "cover"]
Frame = Literal["none", "bubble", "card", "bar", "alert"]
Side = Literal["left", "right", "fill"]


@dataclass(slots=True)
class Action:
    """Something the user can do on a row. `name` is what the view acts on, `data` its argument; a `cover`
    lies invisibly over a whole strip; `quiet` ones with `hidden` show only while the row is in use."""

    name: str
    label: str
    look: Look = "quiet"
    data: str = ""
    hidden: bool = False
    expanded: bool | None = None
    rect: QRect = field(default_factory=QRect)


Paint = Callable[[QPainter, QRect, float], None]


@dataclass(slots=True)
class Strip:
    """A painted band of fixed height; `paint` gets the painter, its rectangle and the pulse phase (0–1)."""

    height: int
    paint: Paint | None = None
    actions: list[Action] = field(default_factory=list)
    side: Side = "left"


@dataclass(slots=True)
class Element:
    """A text or a strip, the space before it and how far it is indented, in pixels; `outside` the frame."""

    content: Spec | Strip
    gap: int = 0
    indent: int = 0
    outside: bool = False
    fit: bool = False


@dataclass(slots=True)
class Plan:
    """The elements of a row and the frame around them."""

    elements: list[Element]
    frame: Frame = "none"
    gap: int = 0
