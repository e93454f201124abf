"""The header of Xvfb's file is read, and refused where the pixels are not what is expected."""

from __future__ import annotations

import pytest

from sandbox.guest.xwd import HEADER, Layout, layout

GOOD = (
    160,
    7,
    2,
    24,
    330,
    210,
    0,
    0,
    32,
    0,
    32,
    32,
    1320,
    4,
    0xFF0000,
    0xFF00,
    0xFF,
    8,
    256,
    256,
    330,
    210,
    0,
    0,
    0,
)


def test_the_layout_of_a_screen() -> None:
    found = layout(HEADER.pack(*GOOD))
    assert found == Layout(330, 210, 1320, 160 + 12 * 256)
    assert found.size == 160 + 12 * 256 + 1320 * 210


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, 20),
        (1, 6),
        (2, 1),
        (3, 16),
        (4, 0),
        (5, 0),
        (7, 1),
        (11, 16),
        (12, 1316),
        (12, 1321),
        (14, 0xFF),
        (16, 0),
    ],
)
def test_what_is_no_such_screen_is_refused(place: int, value: int) -> None:
    fields = list(GOOD)
    fields[place] = value
    with pytest.raises(ValueError, match=r"window dump|pixels"):
        layout(HEADER.pack(*fields))


def test_a_torn_header_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        layout(HEADER.pack(*GOOD)[:-1])
