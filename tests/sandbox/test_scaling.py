"""The model's pixels and the screen's fit each other, on screens of many sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.guest.rects import Rect
from sandbox.scaling import Scaling


@pytest.mark.parametrize(
    ("screen", "model"),
    [
        ((1280, 800), (1280, 800)),
        ((1024, 768), (1024, 768)),
        ((1366, 768), (1366, 768)),
        ((800, 600), (800, 600)),
        ((1920, 1080), (1366, 768)),
        ((2560, 1600), (1280, 800)),
        ((1600, 1200), (1024, 768)),
        ((3440, 1440), (1280, 536)),
        ((1080, 1920), (450, 800)),
    ],
)
def test_the_size_a_model_sees(screen: tuple[int, int], model: tuple[int, int]) -> None:
    assert Scaling(*screen).model == model


@given(st.integers(640, 4000), st.integers(480, 2400), st.data())
def test_there_and_back_is_the_same_pixel(width: int, height: int, data: st.DataObject) -> None:
    scaling = Scaling(width, height)
    x = data.draw(st.integers(0, scaling.model[0] - 1))
    y = data.draw(st.integers(0, scaling.model[1] - 1))
    across, down = scaling.to_screen(x, y)
    assert 0 <= across < width
    assert 0 <= down < height
    assert scaling.to_model(across, down) == (x, y)


def test_edges_are_inside_and_one_further_is_not() -> None:
    scaling = Scaling(1920, 1080)
    assert scaling.within(0, 0)
    assert scaling.within(1365, 767)
    assert not scaling.within(1366, 0)
    assert not scaling.within(0, 768)
    assert not scaling.within(-1, 5)


def test_a_part_of_the_picture_is_a_part_of_the_screen() -> None:
    assert Scaling(1280, 800).region(10, 20, 110, 70) == Rect(10, 20, 100, 50)
    scaling = Scaling(2560, 1600)
    assert scaling.region(0, 0, 1280, 800) == Rect(0, 0, 2560, 1600)
    assert scaling.region(1279, 799, 1280, 800) == Rect(2558, 1598, 2, 2)
    assert scaling.enlarged(Rect(0, 0, 256, 100)) == (1280, 500)
    assert scaling.enlarged(Rect(0, 0, 100, 160)) == (500, 800)
