"""Draws the exam's pictures and screens; they look the same on every machine."""

from __future__ import annotations

import io
import math
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

    from runtime.exam.screens import Screen
    from sandbox.elements import Element

Shape = tuple[str, str, int, int, int]
Written = tuple[str, int, int, int]

PAPER, INK, EDGE, FACE, BAR = "#f4f4f2", "#1c1c1c", "#8a8a86", "#e2e2de", "#3b4a63"
TITLE_HEIGHT, TEXT_HEIGHT = 32, 18
BUTTONS = frozenset({"push button", "page tab"})
FIELDS = frozenset({"entry", "combo box"})


def scene(size: int, shapes: list[Shape], words: list[Written]) -> bytes:
    """A PNG of `size` × `size` pixels: shapes (kind, colour, middle x, middle y, size) and words (text, left,
    top, height) on white."""
    image, draw = _blank(size, size, "white")
    for kind, colour, x, y, extent in shapes:
        _shape(draw, kind, colour, (x, y), extent / 2)
    for text, x, y, height in words:
        _write(draw, text, x, y, height, INK)
    return _encoded(image)


@cache
def screen_picture(screen: Screen, size: tuple[int, int]) -> bytes:
    """A PNG of the screen."""
    image, draw = _blank(*size, PAPER)
    draw.rectangle((0, 0, size[0], TITLE_HEIGHT), fill=BAR)
    _write(draw, screen.window, 12, 6, TEXT_HEIGHT, "white")
    for element in screen.elements:
        _element(draw, element)
    return _encoded(image)


def _element(draw: ImageDraw, element: Element) -> None:
    x, y, width, height = element.x, element.y, element.width, element.height
    box = (x, y, x + width - 1, y + height - 1)
    top = y + (height - TEXT_HEIGHT) // 2 - 2
    if element.role in BUTTONS:
        draw.rounded_rectangle(box, radius=6, fill=FACE, outline=EDGE, width=2)
        _write(draw, element.name, x + (width - _width(draw, element.name)) // 2, top, TEXT_HEIGHT, INK)
    elif element.role in FIELDS:
        draw.rectangle(box, fill="white", outline=EDGE, width=2)
        _write(draw, element.name, x - _width(draw, element.name) - 12, top, TEXT_HEIGHT, INK)
        _write(draw, element.value, x + 10, top, TEXT_HEIGHT, INK)
        if element.role == "combo box":
            _shape(draw, "triangle", INK, (x + width - 20, y + height // 2), 6)
    elif element.role == "check box":
        draw.rectangle((x, y + 4, x + 20, y + 24), fill="white", outline=EDGE, width=2)
        _write(draw, element.name, x + 30, top, TEXT_HEIGHT, INK)
    elif element.role == "text":
        draw.rectangle(box, fill="white", outline=EDGE, width=1)
        _write(draw, element.value, x + 10, y + 8, TEXT_HEIGHT, INK)
    else:
        _write(draw, element.name, x + 8, top, TEXT_HEIGHT, INK)


def _shape(draw: ImageDraw, kind: str, colour: str, middle: tuple[float, float], reach: float) -> None:
    x, y = middle
    match kind:
        case "circle":
            draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=colour)
        case "square":
            draw.rectangle((x - reach, y - reach, x + reach, y + reach), fill=colour)
        case "triangle":
            draw.polygon([(x, y - reach), (x + reach, y + reach), (x - reach, y + reach)], fill=colour)
        case "star":
            turns = ((at * math.pi / 5, reach if at % 2 == 0 else reach * 0.42) for at in range(10))
            points = [(x + far * math.sin(turn), y - far * math.cos(turn)) for turn, far in turns]
            draw.polygon(points, fill=colour)
        case _:
            raise ValueError(f"the exam draws no {kind}")


def _blank(width: int, height: int, colour: str) -> tuple[Image, ImageDraw]:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (width, height), colour)
    return image, ImageDraw.Draw(image)


@cache
def _font(height: int) -> Any:
    """The font that comes with Pillow; the system's differ from machine to machine."""
    from PIL import ImageFont

    return ImageFont.load_default(height)


def _width(draw: ImageDraw, text: str) -> int:
    return round(draw.textlength(text, font=_font(TEXT_HEIGHT)))


def _write(draw: ImageDraw, text: str, x: int, y: int, height: int, colour: str) -> None:
    draw.text((x, y), text, fill=colour, font=_font(height))


def _encoded(image: Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
