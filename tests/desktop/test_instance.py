"""There is one window per home, and a second start raises it."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from desktop.instance import Instance


def test_the_second_raises_the_first(qtbot: QtBot, tmp_path: Path) -> None:
    first, second = Instance(tmp_path), Instance(tmp_path)
    assert first.claim()
    first.listen()
    with qtbot.waitSignal(first.raise_requested):
        assert not second.claim()
    first.release()
    assert second.claim()
    second.release()


def test_two_homes_are_two_windows(qtbot: QtBot, tmp_path: Path) -> None:
    del qtbot
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = Instance(tmp_path / "a"), Instance(tmp_path / "b")
    assert one.claim()
    assert other.claim()
    one.release()
    other.release()


def test_a_home_that_cannot_hold_a_lock_still_gets_its_window(qtbot: QtBot, tmp_path: Path) -> None:
    del qtbot
    one = Instance(tmp_path / "missing")
    assert one.claim()
    one.release()
