"""Garbage collection, signals and the tray behave as the process needs them."""

from __future__ import annotations

import gc
import os
import signal
import weakref

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.garbage import Collector
from desktop.icons import program_icon
from desktop.termination import Termination
from desktop.tray import Tray


class Knot:
    """An object that only the cyclic collector can free."""

    def __init__(self) -> None:
        self.self = self


def test_cycles_are_freed_from_the_main_thread_only(qtbot: QtBot) -> None:
    collector = Collector()
    assert not gc.isenabled()
    knot = weakref.ref(Knot())
    ballast = [[number] for number in range(gc.get_threshold()[0] + 10)]
    collector.collect()
    assert knot() is None
    assert ballast
    collector.keep_soon()
    qtbot.waitUntil(lambda: gc.get_freeze_count() > 0)
    collector.stop()
    assert gc.get_freeze_count() == 0
    assert gc.isenabled()
    gc.disable()


def test_a_polite_kill_asks_the_window_to_close(qtbot: QtBot) -> None:
    before = signal.getsignal(signal.SIGTERM)
    termination = Termination()
    with qtbot.waitSignal(termination.requested):
        os.kill(os.getpid(), signal.SIGTERM)
    termination.restore()
    termination.restore()
    assert signal.getsignal(signal.SIGTERM) == before


def test_without_a_tray_nothing_is_shown(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    tray = Tray(program_icon(), window)
    assert tray.there in (True, False)
    if not tray.there:
        assert not tray.notify("Orion has answered", "Budget")
