"""Frames survive the stream in any pieces, and a guest that lies about them is refused."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.guest.frames import HEAD, LZ4, PART, Frames, Sent, encode
from sandbox.guest.rects import Rect
from sandbox.guest.wire import WireError

PARTS = [
    (Rect(0, 0, 100, 50), b"abcd" * 5000),
    (Rect(10, 20, 5, 3), os.urandom(60)),
    (Rect(99, 49, 1, 1), b"\1\2\3\4"),
]
STREAM = encode(1, 12.5, (7, 8), PARTS) + encode(2, 12.6, (9, 8), []) + encode(3, 12.7, (9, 8), PARTS[1:])


@given(cuts=st.lists(st.integers(1, 400), max_size=30))
def test_frames_are_put_together_from_any_pieces(cuts: list[int]) -> None:
    frames, rest, found = Frames(100, 50), STREAM, []
    for cut in cuts:
        found += frames.feed(rest[:cut])
        rest = rest[cut:]
    found += frames.feed(rest)
    rects, pixels = zip(*PARTS, strict=True)
    assert found == [
        Sent(1, 12.5, (7, 8), rects, pixels),
        Sent(2, 12.6, (9, 8), (), ()),
        Sent(3, 12.7, (9, 8), rects[1:], pixels[1:]),
    ]


def test_plain_areas_are_packed() -> None:
    assert len(encode(1, 0, (0, 0), PARTS[:1])) < 300


@given(noise=st.binary(min_size=1, max_size=60), place=st.integers(0, len(STREAM)))
def test_any_garbage_is_refused_or_takes_bounded_memory(noise: bytes, place: int) -> None:
    frames = Frames(100, 50)
    try:
        for sent in frames.feed(STREAM[:place] + noise + STREAM[place:]):
            for rect, pixels in zip(sent.rects, sent.pixels, strict=True):
                assert rect.within(100, 50) == rect
                assert len(pixels) == 4 * rect.area
    except WireError:
        return


def _said(part: tuple[int, int, int, int, int, int], block: bytes, size: int | None = None) -> bytes:
    body = PART.pack(*part) + block
    return HEAD.pack(HEAD.size - 4 + len(body) if size is None else size, 1, 0.0, 0, 0, 1, 0) + body


@pytest.mark.parametrize(
    "data",
    [
        _said((90, 0, 20, 1, 80, 0), b"x" * 80),
        _said((0, 0, 0, 1, 0, 0), b""),
        _said((0, 0, 2, 1, 4, 0), b"x" * 4),
        _said((0, 0, 2, 1, 9, 0), b"x" * 8),
        _said((0, 0, 100, 50, 8, LZ4), b"x" * 8),
        _said((0, 0, 1, 1, 4, 9), b"xxx"),
        _said((0, 0, 1, 1, 4, 0), b"xxxx", size=2**31),
        _said((0, 0, 1, 1, 4, 0), b"xxxx", size=3),
        HEAD.pack(HEAD.size - 4, 1, 0.0, 0, 0, 500, 0),
    ],
)
def test_a_frame_that_lies_is_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        Frames(100, 50).feed(data)


def test_parts_are_at_most_twice_the_screen_however_well_they_are_packed() -> None:
    bomb = encode(1, 0.0, (0, 0), [(Rect(0, 0, 100, 50), bytes(20_000))] * 3)
    assert len(bomb) < 1_000
    with pytest.raises(WireError, match="twice the screen"):
        Frames(100, 50).feed(bomb)
