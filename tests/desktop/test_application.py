"""The whole window in one process: up before the runtime, usable with it, gone without a trace."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.application import Desktop
from runtime.events import Done

PATIENCE_MS = 20_000


@pytest.fixture
def desktop(qtbot: QtBot, qapp: QApplication, fresh_home: Path) -> Iterator[Desktop]:
    fresh_home.mkdir(parents=True)
    (fresh_home / "settings.yaml").write_text("version: 1\nagent:\n  profile: orion-demo\n")
    made = Desktop(qapp, fresh_home)
    made.window.show()
    yield made
    made.window.close()
    assert made.close()
    made.deleteLater()
    qapp.setStyleSheet("")
    gc.disable()


def ready(qtbot: QtBot, desktop: Desktop) -> None:
    qtbot.waitUntil(lambda: bool(desktop.talks.current), timeout=PATIENCE_MS)


@pytest.mark.qt_no_exception_capture
def test_the_window_is_there_before_the_runtime(qtbot: QtBot, desktop: Desktop) -> None:
    assert desktop.window.isVisible()
    assert desktop.talks.current == ""
    QTest.keyClicks(desktop.window.composer.editor, "typed early")
    ready(qtbot, desktop)
    assert desktop.window.header.profile.text() == "orion-demo"


@pytest.mark.qt_no_exception_capture
def test_words_typed_before_the_runtime_is_there_are_kept(qtbot: QtBot, desktop: Desktop) -> None:
    QTest.keyClicks(desktop.window.composer.editor, "typed early")
    ready(qtbot, desktop)
    assert desktop.window.composer.text() == "typed early"


@pytest.mark.qt_no_exception_capture
def test_a_question_is_answered_and_found_again(qtbot: QtBot, desktop: Desktop, fresh_home: Path) -> None:
    ready(qtbot, desktop)
    done: list[str] = []
    desktop.bridge.happened.connect(
        lambda event: done.append(event.body.reason) if isinstance(event.body, Done) else None
    )
    QTest.keyClicks(desktop.window.composer.editor, "Show me")
    QTest.keyClick(desktop.window.composer.editor, Qt.Key.Key_Return)
    qtbot.waitUntil(desktop.window.approval.approve.isEnabled, timeout=PATIENCE_MS)
    qtbot.waitUntil(desktop.window.approval.isVisible, timeout=PATIENCE_MS)
    qtbot.waitUntil(desktop.window.approval.approve.isEnabled, timeout=PATIENCE_MS)
    desktop.window.approval.on_approve()
    qtbot.waitUntil(lambda: bool(done), timeout=PATIENCE_MS)
    assert done == ["complete"]
    assert (fresh_home / "workspace" / "notes" / "hello.md").exists()
    qtbot.waitUntil(lambda: desktop.window.sidebar.model.rowCount() == 1, timeout=PATIENCE_MS)
    desktop.window.close()
    remembered = (fresh_home / "window.json").read_text()
    assert desktop.talks.current in remembered


@pytest.mark.qt_no_exception_capture
def test_a_broken_settings_file_is_a_notice_and_the_window_works(
    qtbot: QtBot, qapp: QApplication, fresh_home: Path
) -> None:
    fresh_home.mkdir(parents=True)
    (fresh_home / "settings.yaml").write_text("appearance:\n  theem: dark\n")
    desktop = Desktop(qapp, fresh_home)
    desktop.window.show()
    ready(qtbot, desktop)
    assert "settings.yaml, line 2" in desktop.window.banner.text.text()
    desktop.window.close()
    assert desktop.close()
    desktop.deleteLater()
    qapp.setStyleSheet("")


@pytest.mark.qt_no_exception_capture
def test_a_home_that_cannot_be_used_still_opens_a_window(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ORION_HOME", str(tmp_path / "file" / "home"))
    desktop = Desktop(qapp, tmp_path / "file" / "home")
    desktop.window.show()
    qtbot.waitUntil(lambda: desktop.window.status.state.text() == "Not ready", timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: desktop.window.chats.view is not None, timeout=PATIENCE_MS)
    assert desktop.window.chats.view is not None
    assert "cannot be written" in desktop.window.chats.view.welcome.words.text()
    assert desktop.window.banner.isHidden()
    desktop.window.close()
    assert desktop.close()
    desktop.deleteLater()
    qapp.setStyleSheet("")


def test_a_model_file_that_is_missing_keeps_nothing_else_from_working(
    qtbot: QtBot, qapp: QApplication, fresh_home: Path
) -> None:
    fresh_home.mkdir(parents=True, exist_ok=True)
    (fresh_home / "settings.yaml").write_text("version: 1\nlocal_model:\n  model: nowhere.gguf\n")
    desktop = Desktop(qapp, fresh_home)
    desktop.window.show()
    ready(qtbot, desktop)
    assert desktop.talks.current
    desktop.window.close()
    assert desktop.close()
    desktop.deleteLater()
    qapp.setStyleSheet("")
