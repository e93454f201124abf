"""The scaled picture is the same whether it was scaled at once or part by part."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage, QPainter

from desktop.live.geometry import Fit, fit_into
from desktop.live.scaled import ScaledScreen
from tests.desktop.live.sandbox_double import desktop_picture


def changed(picture: QImage, rect: QRect) -> QImage:
    made = picture.copy()
    painter = QPainter(made)
    painter.fillRect(rect, QColor("#c02070"))
    painter.end()
    return made


def differ(one: QImage, other: QImage) -> int:
    """The largest difference of two colour values."""
    pairs = zip(bytes(one.constBits()), bytes(other.constBits()), strict=True)
    return max(abs(a - b) for a, b in pairs if a != b) if one != other else 0


def whole(fit: Fit, picture: QImage) -> QImage:
    made = ScaledScreen()
    made.set_fit(fit)
    made.take(picture, (picture.rect(),))
    return made.image


@pytest.mark.parametrize("area", [(500, 400), (701, 560), (1280, 800), (1700, 1100), (2560, 1600)])
def test_a_changed_part_looks_like_the_whole_scaled_anew(area: tuple[int, int]) -> None:
    before, rect = desktop_picture(), QRect(411, 303, 37, 19)
    after, fit = changed(before, rect), fit_into((1280, 800), area, 1.0)
    scaled = ScaledScreen()
    scaled.set_fit(fit)
    scaled.take(before, (before.rect(),))
    places = scaled.take(after, (rect,))
    assert differ(scaled.image, whole(fit, after)) <= 1
    assert sum(place.width() * place.height() for place in places) < area[0] * area[1] / 8


def test_a_small_change_scales_little() -> None:
    picture, fit = desktop_picture(), fit_into((1280, 800), (640, 420), 1.0)
    scaled = ScaledScreen()
    scaled.set_fit(fit)
    scaled.take(picture, (picture.rect(),))
    before = scaled.scaled_pixels
    scaled.take(picture, (QRect(640, 400, 2, 16),))
    assert scaled.scaled_pixels - before <= 1280 * 800 / 50


def test_another_size_and_another_screen() -> None:
    scaled = ScaledScreen()
    scaled.set_fit(fit_into((1280, 800), (640, 420), 1.0))
    assert scaled.image.isNull()
    scaled.take(desktop_picture(), ())
    assert scaled.image.width() == 640
    scaled.set_fit(fit_into((1280, 800), (1290, 820), 1.0))
    assert scaled.image == desktop_picture()
    scaled.set_fit(fit_into((800, 600), (1290, 820), 1.0))
    assert scaled.image.isNull()
    scaled.take(desktop_picture(800, 600), ())
    assert scaled.image.height() <= 820
