"""Only what accessibility leaves unsaid is read, and only when it looks different."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from sandbox.blind import spots
from sandbox.elements import told
from sandbox.errors import SandboxError
from sandbox.eyes import Line
from sandbox.guest.rects import Rect
from sandbox.reading import GAP, SHEET, Reading, sheets

SIZE = (1280, 800)
FONT = ImageFont.load_default(16)


def screen(*texts: tuple[int, int, str]) -> Image.Image:
    """A screen with a framed window and some texts."""
    image = Image.new("RGB", SIZE, (240, 240, 240))
    pen = ImageDraw.Draw(image)
    pen.rectangle((50, 50, 900, 700), outline=(0, 0, 0))
    for x, y, text in texts:
        pen.text((x, y), text, (20, 20, 20), FONT)
    return image


def png(image: Image.Image) -> bytes:
    packed = io.BytesIO()
    image.save(packed, "png")
    return packed.getvalue()


def near(found: Sequence[Rect | Line], *places: tuple[int, int]) -> bool:
    """Whether what was found begins at these places, give or take the space around letters."""
    pairs = zip(found, places, strict=True)
    return all(abs(one.x - x) < 10 and abs(one.y - y) < 12 for one, (x, y) in pairs)


class Recorder:
    """A reader that says what colour lies in the middle of a spot, and keeps the sheets it was given."""

    def __init__(self) -> None:
        self.sheets: list[Image.Image] = []
        self.failing = False

    async def read(self, picture: bytes) -> list[Line]:
        if self.failing:
            raise SandboxError("eyes_failed", reason="test")
        with Image.open(io.BytesIO(picture)) as sheet:
            self.sheets.append(sheet.convert("RGB"))
        found = spots(numpy.asarray(self.sheets[-1]), [])
        return [Line("text", box.x, box.y, box.width, box.height, 0.99) for box in found]


def test_there_is_about_one_spot_for_a_line_and_none_for_a_frame() -> None:
    image = screen((100, 100, "first line of text"), (100, 130, "second"), (600, 130, "beside it"))
    found = spots(numpy.asarray(image), [])
    assert near(found, (100, 100), (100, 130), (600, 130))
    assert all(box.height < 40 for box in found)


def test_what_accessibility_tells_is_no_spot() -> None:
    image = screen((100, 100, "Save as"), (100, 300, "drawn by hand"))
    button = {"role": "push button", "name": "Save as", "x": 80, "y": 90, "width": 120, "height": 40}
    panel = {"role": "panel", "name": "Everything", "x": 0, "y": 0, "width": 1280, "height": 800}
    found = spots(numpy.asarray(image), told([button, panel]))
    assert len(found) == 1
    assert found[0].y > 290


def test_the_same_screen_is_read_once_and_a_change_alone_after_it() -> None:
    async def reads() -> None:
        reader = Recorder()
        reading = Reading(reader)
        texts = [(100, 100, "one line"), (100, 200, "another"), (700, 400, "far away")]
        first = await reading.lines(png(screen(*texts)), [])
        assert near(first, *((x, y) for x, y, _text in texts))
        assert len(reader.sheets) == 1
        assert await reading.lines(png(screen(*texts)), []) == first
        assert len(reader.sheets) == 1
        texts[1] = (100, 200, "changed text")
        again = await reading.lines(png(screen(*texts)), [])
        assert len(again) == 3
        assert len(reader.sheets) == 2
        assert reader.sheets[1].size[0] < 200
        assert reader.sheets[1].size[1] < 40
        await reading.lines(png(screen()), [])
        assert await reading.lines(png(screen(*texts)), []) == again
        assert len(reader.sheets) == 2, "what is seen again is known"

    asyncio.run(reads())


def test_where_accessibility_says_everything_nothing_is_read() -> None:
    async def reads() -> None:
        reader = Recorder()
        text = screen((100, 100, "said already"))
        assert await Reading(reader).lines(png(text), [Rect(90, 90, 300, 40)]) == []
        assert not reader.sheets

    asyncio.run(reads())


def test_a_reader_that_fails_is_asked_again() -> None:
    async def fails() -> None:
        reader = Recorder()
        reading = Reading(reader)
        reader.failing = True
        with pytest.raises(SandboxError):
            await reading.lines(png(screen((100, 100, "text"))), [])
        reader.failing = False
        assert len(await reading.lines(png(screen((100, 100, "text"))), [])) == 1

    asyncio.run(fails())


def test_an_icon_is_no_letter() -> None:
    class Unsure(Recorder):
        async def read(self, picture: bytes) -> list[Line]:
            return [
                Line("o", line.x, line.y, line.width, line.height, 0.7)
                for line in await super().read(picture)
            ]

    async def reads() -> None:
        assert await Reading(Unsure()).lines(png(screen((100, 100, "xx"))), []) == []

    asyncio.run(reads())


boxes = st.builds(
    Rect,
    st.integers(-2000, 2000),
    st.integers(-2000, 2000),
    st.integers(1, 1500),
    st.integers(1, 900),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(boxes, max_size=6), st.integers(0, 2**32 - 1))
def test_any_picture_and_any_boxes_give_spots_on_the_screen(told_: list[Rect], seed: int) -> None:
    dice: Any = numpy.random.default_rng(seed)
    pixels = numpy.zeros((120, 160, 3), numpy.uint8)
    pixels[:: dice.integers(1, 9), :: dice.integers(1, 9)] = 255
    for box in spots(pixels, told_):
        assert box.within(160, 120) == box


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.builds(Rect, st.just(0), st.just(0), st.integers(5, 1280), st.integers(5, 800)), max_size=40)
)
def test_spots_lie_apart_on_their_sheets(found: list[Rect]) -> None:
    placed = [(at, spot, x, y) for at, sheet in enumerate(sheets(found)) for spot, (x, y) in sheet]
    assert sorted((s.width, s.height) for _a, s, _x, _y in placed) == sorted(
        (s.width, s.height) for s in found
    )
    for at, spot, x, y in placed:
        assert x == 0 or x + spot.width <= SHEET[0]
        for other, beside, left, top in placed:
            if other == at and (left, top) != (x, y):
                apart = left >= x + spot.width + GAP or x >= left + beside.width + GAP
                assert apart or top >= y + spot.height + GAP // 2 or y >= top + beside.height + GAP // 2


def test_a_screen_that_claims_to_be_huge_is_not_looked_at() -> None:
    reader = Recorder()
    huge = Image.new("RGB", (8_000, 8_000))
    ImageDraw.Draw(huge).text((100, 100), "Save", (255, 255, 255), FONT)
    assert asyncio.run(Reading(reader).lines(png(huge), [])) == []
    assert not reader.sheets
