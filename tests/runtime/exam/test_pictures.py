"""What the exam draws is what it says it drew, the same each time, and answers are told apart by code."""

from __future__ import annotations

import io
from functools import partial

import numpy as np
import pytest
from PIL import Image

from runtime.exam import pictures
from runtime.exam.asking import Answer
from runtime.exam.drawing import scene, screen_picture
from runtime.exam.screens import SIZE, Screen, screens
from runtime.exam.tasks import data

SCENES = range(3)


def opened(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


@pytest.mark.parametrize("at", SCENES)
def test_every_shape_is_there_in_its_colour(at: int) -> None:
    found = data("pictures")
    image = opened(pictures.picture(at))
    assert image.size == (found["size"], found["size"])
    for kind, colour, x, y, size in found["scenes"][at]["shapes"]:
        assert image.getpixel((x, y)) == rgb(found["colours"][colour]), kind
        assert image.getpixel((x - size // 2 - 3, y - size // 2 - 3)) == (255, 255, 255), kind


@pytest.mark.parametrize("at", SCENES)
def test_shapes_do_not_touch(at: int) -> None:
    """As many separate patches of colour as shapes, so that counting them has one right answer."""
    shapes = data("pictures")["scenes"][at]["shapes"]
    boxes = [(x - s / 2, y - s / 2, x + s / 2, y + s / 2) for _, _, x, y, s in shapes]
    for one in range(len(boxes)):
        for other in range(one):
            a, b = boxes[one], boxes[other]
            apart = a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
            assert apart, (shapes[one], shapes[other])
    inked = np.asarray(opened(pictures.picture(at))).min(axis=2) < 200
    assert not inked[0].any()
    assert not inked[:, 0].any()


def test_a_word_is_drawn_large() -> None:
    entry = data("pictures")["scenes"][2]
    (text, left, top, height) = entry["words"][0]
    image = opened(pictures.picture(2)).crop((left, top, left + 60 * len(text), top + height + 10))
    dark = int((np.asarray(image).max(axis=2) < 90).sum())
    assert dark > 20 * height


def test_the_same_picture_each_time() -> None:
    shapes = [("star", "#d01818", 50, 50, 60), ("circle", "#1a4fd0", 150, 150, 60)]
    assert scene(200, shapes, [("KORMA", 10, 100, 30)]) == scene(200, shapes, [("KORMA", 10, 100, 30)])


@pytest.mark.parametrize(
    ("kind", "wanted", "good", "bad"),
    [
        ("count", "5", ("5", "Five.", "There are 5 circles."), ("4", "", "5 or 6", "fifteen", "1 2 3 4 5")),
        (
            "colour",
            "blue",
            ("blue", "Blue.", "The square is **blue**"),
            ("red", "blue or red", "bluish", "azure"),
        ),
        ("left", "star", ("star", "The star."), ("stars", "circle", "star, circle")),
        ("written", "MORVAK", ("MORVAK", '"Morvak"', "morvak."), ("MORVAC", "It says MORVAK", "M O R V A K")),
    ],
)
def test_answers_are_told_apart(kind: str, wanted: str, good: tuple[str, ...], bad: tuple[str, ...]) -> None:
    right = partial(pictures.right, kind, wanted)
    assert [text for text in good if not right(Answer(text))] == []
    assert [text for text in bad if right(Answer(text))] == []


# --- screens -------------------------------------------------------------------------------------------


def each_screen() -> list[Screen]:
    return list(screens())


@pytest.mark.parametrize("screen", each_screen(), ids=lambda screen: screen.name)
def test_every_element_is_drawn_where_it_is_listed(screen: Screen) -> None:
    image = opened(screen_picture(screen, SIZE))
    assert image.size == SIZE
    pixels = np.asarray(image)
    plain = pixels[SIZE[1] - 3, SIZE[0] - 3]
    for element in screen.elements:
        box = (element.x, element.y, element.x + element.width, element.y + element.height)
        assert box[2] <= SIZE[0]
        assert box[3] <= SIZE[1]
        inside = pixels[box[1] : box[3], box[0] : box[2]]
        assert (inside != plain).any(), element.name
        assert f'{element.number}. {element.role} "{element.name}"' in screen.listing()


@pytest.mark.parametrize("screen", each_screen(), ids=lambda screen: screen.name)
def test_a_point_belongs_to_one_element_at_most(screen: Screen) -> None:
    for element in screen.elements:
        x, y = element.centre
        hit = [other.number for other in screen.elements if screen.hit(other.number, x, y)]
        assert hit == [element.number]
        assert not screen.hit(element.number, element.x - 1, y)
        assert not screen.hit(element.number, element.x + element.width, y)
        assert not screen.hit(element.number, x, element.y + element.height)


def test_what_is_aimed_at_differs_so_that_no_place_is_a_good_guess() -> None:
    for screen in screens():
        numbers = [aim.number for aim in screen.aims]
        assert len(set(numbers)) == len(numbers)
