"""Between a callback and a thread nothing is lost, doubled or mixed up."""

from __future__ import annotations

import threading

import numpy as np

from voice.ring import Ring


def numbered(begin: int, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.repeat(np.arange(begin, begin + count, dtype=np.float32)[:, None], 2, axis=1)


def test_what_is_written_is_read_once_in_order_also_around_the_end() -> None:
    ring, frames = Ring(100, 2), numbered(0, 0)
    for round_ in range(7):
        assert ring.write(numbered(round_ * 60, 60))
        before, frames = ring.read()
        assert before == round_ * 60
        assert np.array_equal(frames, numbered(round_ * 60, 60))
    before, frames = ring.read()
    assert (before, frames.shape) == (420, (0, 2))
    assert ring.written == 420


def test_without_room_nothing_is_taken() -> None:
    ring = Ring(100, 2)
    assert ring.write(numbered(0, 80))
    assert not ring.write(numbered(80, 30))
    assert ring.written == 80
    assert len(ring.read()[1]) == 80


def test_two_threads_agree() -> None:
    ring, wrote = Ring(1000, 2), threading.Event()
    taken: list[float] = []

    def write() -> None:
        at = 0
        while at < 20_000:
            at += 37 if ring.write(numbered(at, 37)) else 0
        wrote.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not wrote.is_set() or len(taken) < ring.written:
        taken += ring.read()[1][:, 0].tolist()
    writer.join()
    assert taken == list(range(ring.written))
