"""A stream stands still when it gives no sign though somebody looks, not when nobody came to look."""

from __future__ import annotations

import threading

from voice.standstill import Standstill


def test_looks_without_a_sign_add_up_and_a_sign_ends_it() -> None:
    stream, pause = Standstill(), threading.Event()
    while stream.look() < 0.3:
        pause.wait(0.01)
    stream.sign()
    assert stream.look() < 0.3


def test_time_in_which_nobody_looked_hardly_counts() -> None:
    stream = Standstill()
    threading.Event().wait(0.7)
    assert stream.look() <= 0.25
    stream.sign()
    assert stream.look() < 0.25
