"""Every pixel of the screen is found again under the point at which it is drawn."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, QRect

from desktop.live.geometry import actual_size, fit_into

GUEST = (1280, 800)


@pytest.mark.parametrize("ratio", [1.0, 1.25, 2.0])
@pytest.mark.parametrize("scale", [0.5, 0.6171, 0.75, 1.0, 1.1, 1.5, 2.0])
def test_points_go_round(scale: float, ratio: float) -> None:
    area = (round(GUEST[0] * scale / ratio) + 13, round(GUEST[1] * scale / ratio) + 40)
    fit = fit_into(GUEST, area, ratio)
    for x in range(0, GUEST[0], 7):
        for y in (0, 1, 399, 798, 799):
            assert fit.to_guest(fit.to_view(x, y)) == (x, y)
    corners = [(0, 0), (1279, 799)]
    assert [fit.to_guest(fit.to_view(*corner)) for corner in corners] == corners


@pytest.mark.parametrize("ratio", [1.0, 1.25, 2.0])
def test_each_device_pixel_is_a_pixel_of_the_screen(ratio: float) -> None:
    fit = fit_into(GUEST, (640, 500), ratio)
    reached = {
        (fit.to_guest(QPointF((fit.left + n + 0.5) / ratio, fit.top / ratio)) or (-1, -1))[0]
        for n in range(fit.width)
    }
    assert len(reached) == min(fit.width, GUEST[0])
    assert min(reached) <= 1
    assert max(reached) >= GUEST[0] - 2


def test_outside_is_nowhere_but_can_be_the_nearest() -> None:
    fit = fit_into(GUEST, (640, 600), 1.0)
    above = QPointF(10, 2)
    assert fit.to_guest(above) is None
    assert fit.to_guest(above, clamp=True) == (20, 0)


def test_what_fits_is_drawn_pixel_for_pixel() -> None:
    assert (fit_into(GUEST, (1300, 900), 1.0).width, fit_into(GUEST, (1300, 900), 1.0).exact) == (1280, True)
    assert fit_into(GUEST, (1340, 800), 2.0).width == 2560
    assert fit_into(GUEST, (1100, 900), 1.0).width <= 1100
    assert not fit_into(GUEST, (1100, 900), 1.0).exact


@pytest.mark.parametrize("guest", [(1280, 800), (1920, 1080), (1024, 768), (1366, 768)])
def test_tiles_scale_to_whole_pixels(guest: tuple[int, int]) -> None:
    fit = fit_into(guest, (637, 411), 1.0)
    assert 637 - 64 <= fit.width <= 637 or 411 - 64 <= fit.height <= 411
    part, place = fit.tiled(QRect(300, 200, 9, 17))
    assert part.contains(QRect(300, 200, 9, 17))
    assert part.width() * fit.width == place.width() * guest[0]
    assert part.height() * fit.height == place.height() * guest[1]


def test_actual_size_pans() -> None:
    fit = actual_size(GUEST, (400, 300), 1.0, (200, 100))
    assert fit.to_guest(QPointF(0.5, 0.5)) == (200, 100)
    assert actual_size(GUEST, (400, 300), 2.0).width == 2560
    assert actual_size(GUEST, (400, 300), 1.25).width == 1280
    assert actual_size(GUEST, (2000, 1000), 1.0, (50, 50)).left == 360
