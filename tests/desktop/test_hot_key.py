"""Which way a key is held in other programs, and what is said where there is none."""

from __future__ import annotations

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop import hot_key
from desktop.held_key import held_key
from desktop.hot_key import HotKey
from desktop.hot_key_portal import PortalGrab
from desktop.hot_key_pynput import PynputGrab, pynput_name
from desktop.hot_key_x11 import X11Grab


class Told:
    """A hot key and what it said."""

    def __init__(self) -> None:
        self.key = HotKey()
        self.seen: list[Any] = []
        self.key.trouble.connect(lambda code, _fields: self.seen.append(code))
        self.key.released.connect(lambda: self.seen.append("up"))


@pytest.fixture
def told(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Told:
    del qtbot
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    return Told()


def test_the_way_follows_the_desktop(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hot_key.way() is None
    assert hot_key.obstacle() == "hot_key_impossible"
    monkeypatch.setenv("DISPLAY", ":0")
    assert hot_key.way() is X11Grab
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert hot_key.way() is PortalGrab
    assert hot_key.obstacle() == ""
    told.key.close()


def test_a_key_that_cannot_be_had_is_told(told: Told) -> None:
    told.key.set_key("")
    told.key.set_key("Ctrl+Space")
    told.key.set_key("Ctrl+Space")
    told.key.set_key("A")
    assert told.seen == ["hot_key_impossible", "hot_key_unfit"]


def test_giving_the_key_back_lets_it_go(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", "no display")
    told.key.set_key("Ctrl+Space")
    told.key.close()
    told.key.close()
    assert "up" in told.seen


class Keyboard:
    """The part of pynput.keyboard that is used; `type` plays the user."""

    class HotKey:
        @staticmethod
        def parse(text: str) -> list[str]:
            names = text.split("+")
            if "<odd>" in names:
                raise ValueError(text)
            return names

    def __init__(self) -> None:
        self.stopped = False
        self.on: dict[str, Any] = {}

    def Listener(self, **on: Any) -> Keyboard:
        self.on = on
        return self

    def start(self) -> None:
        """Listening begins."""

    def canonical(self, key: str) -> str:
        return key

    def stop(self) -> None:
        self.stopped = True

    def join(self) -> None:
        """It has ended."""

    def type(self, *keys: str) -> None:
        for key in keys:
            self.on["on_press" if key[0] == "+" else "on_release"](key[1:])


def test_pynput_keys_are_held_together(qtbot: QtBot) -> None:
    del qtbot
    key, seen, keyboard = held_key("Ctrl+Space"), list[str](), Keyboard()
    assert key is not None
    grab = PynputGrab(key, lambda: seen.append("down"), lambda: seen.append("up"), print, keyboard)
    keyboard.type("+<ctrl>", "+x", "-x", "+<space>", "+<space>", "+<space>")
    assert seen == ["down"]
    keyboard.type("-<ctrl>", "-<space>", "+<space>", "-<space>")
    assert seen == ["down", "up"]
    grab.close()
    grab.close()
    assert keyboard.stopped


@pytest.mark.parametrize(
    ("key", "written"), [("Ctrl+Space", "<ctrl>+<space>"), ("F8", "<f8>"), ("Alt+Shift+A", "<alt>+<shift>+a")]
)
def test_keys_are_written_as_pynput_does(key: str, written: str) -> None:
    found = held_key(key)
    assert found is not None
    assert pynput_name(found) == written
