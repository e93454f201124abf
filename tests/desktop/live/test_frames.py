"""Frames of another thread become one picture, however many came."""

from __future__ import annotations

import threading

from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage

from desktop.live.frames import MANY, FrameBox
from tests.desktop.live.sandbox_double import desktop_picture, frame_of


def filled(colour: str, size: int = 64) -> QImage:
    made = QImage(size, size, QImage.Format.Format_RGB32)
    made.fill(QColor(colour))
    return made


def test_a_picture_is_what_the_frames_drew() -> None:
    box, picture = FrameBox(), desktop_picture()
    box.open(1280, 800)
    assert box.take() is None
    assert box.put(frame_of(picture, pointer=(3, 4), moment=7.0))
    taken = box.take()
    assert taken is not None
    assert taken.image == picture
    assert (taken.pointer, taken.time, taken.changed) == ((3, 4), 7.0, (picture.rect(),))
    assert box.take() is None


def test_the_taker_is_told_once_and_gets_all_changes() -> None:
    box = FrameBox()
    box.open(64, 64)
    red, blue = filled("red"), filled("blue")
    assert box.put(frame_of(red))
    assert not box.put(frame_of(blue, QRect(1, 1, 5, 5)))
    assert not box.put(frame_of(red, QRect(40, 40, 3, 3)))
    taken = box.take()
    assert taken is not None
    assert taken.changed == (QRect(0, 0, 64, 64),)
    assert taken.image.pixelColor(2, 2) == QColor("blue")
    assert box.put(frame_of(blue, QRect(0, 0, 4, 4)))


def test_a_taken_picture_does_not_change() -> None:
    box = FrameBox()
    box.open(64, 64)
    box.put(frame_of(filled("red")))
    taken = box.take()
    box.put(frame_of(filled("blue")))
    assert taken is not None
    assert taken.image == filled("red")


def test_many_changes_are_one() -> None:
    box = FrameBox()
    box.open(64, 64)
    for n in range(MANY + 1):
        box.put(frame_of(filled("blue"), QRect(n, n, 1, 1)))
    taken = box.take()
    assert taken is not None
    assert taken.changed == (QRect(0, 0, MANY + 1, MANY + 1),)


def test_nothing_is_drawn_before_a_screen_is_open() -> None:
    assert not FrameBox().put(frame_of(filled("red")))


def test_two_threads() -> None:
    box, told = FrameBox(), threading.Event()
    box.open(64, 64)
    frames = [frame_of(filled(colour)) for colour in ("red", "blue") * 50]

    def write() -> None:
        for frame in frames:
            if box.put(frame):
                told.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = 0
    while writer.is_alive() or told.is_set():
        if told.wait(0.01):
            told.clear()
            if (taken := box.take()) is not None:
                seen += 1
                colours = {taken.image.pixelColor(x, x).name() for x in range(64)}
                assert len(colours) == 1
    writer.join()
    assert seen >= 1
