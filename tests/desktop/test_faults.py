"""Nothing that escapes a slot, a thread or a finaliser is lost."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from pytestqt.qtbot import QtBot

from desktop.faults import Faults


class Broken(QObject):
    clicked = Signal()

    def on_clicked(self) -> None:
        raise ValueError("a slot went wrong")


@pytest.fixture
def faults(tmp_path: Path) -> Iterator[Faults]:
    before = sys.excepthook, sys.unraisablehook, threading.excepthook
    made = Faults()
    made.install(tmp_path)
    yield made
    made.restore()
    sys.excepthook, sys.unraisablehook, threading.excepthook = before


@pytest.mark.qt_no_exception_capture
def test_an_exception_in_a_slot_is_logged_and_told(
    qtbot: QtBot, faults: Faults, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Broken()
    broken.clicked.connect(broken.on_clicked, Qt.ConnectionType.QueuedConnection)
    with qtbot.waitSignal(faults.raised) as told:
        broken.clicked.emit()
    assert told.args == ["ValueError: a slot went wrong"]
    assert "on_clicked" in caplog.text
    assert caplog.records[-1].levelno == logging.CRITICAL


@pytest.mark.qt_no_exception_capture
def test_an_exception_in_a_thread_is_told(qtbot: QtBot, faults: Faults) -> None:
    with qtbot.waitSignal(faults.raised) as told:
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
    assert told.args is not None
    assert "ZeroDivisionError" in told.args[0]


def test_restore_gives_the_hooks_back(qtbot: QtBot, tmp_path: Path) -> None:
    del qtbot
    before = sys.excepthook
    faults = Faults()
    faults.install(tmp_path)
    assert sys.excepthook is not before
    faults.restore()
    faults.restore()
    sys.excepthook = before
    assert (tmp_path / "native-crash.log").exists()
