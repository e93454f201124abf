"""A key that is held on a real X server while another window has the keyboard."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from Xlib import XK, X, display, error
from Xlib.ext import xtest

from desktop.held_key import HeldKey, held_key
from desktop.hot_key_x11 import X11Grab
from tests.conftest import missing
from tests.end2end.program import until

SHORT = 10.0


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A private X server without a window manager."""
    if shutil.which("Xvfb") is None:
        missing("Xvfb")
    process = subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "320x240x24", "-noreset"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    name = f":{process.stdout.readline().decode().strip()}"
    monkeypatch.setenv("DISPLAY", name)
    yield name
    process.terminate()
    process.stdout.close()
    process.wait(SHORT)


class Typist:
    """Another program: a window that has the keyboard, and hands that press real keys."""

    def __init__(self, server: str) -> None:
        self.connection: Any = display.Display(server)
        root = self.connection.screen().root
        self.window = root.create_window(0, 0, 50, 50, 0, X.CopyFromParent, event_mask=X.KeyPressMask)
        self.window.map()
        until("the window", lambda: self.window.get_attributes().map_state == X.IsViewable, SHORT)
        until("the keyboard", self._has_keyboard, SHORT)

    def _has_keyboard(self) -> bool:
        """Whether its window has the keyboard, which is taken where it has not."""
        if self.connection.get_input_focus().focus == self.window:
            return True
        self.window.set_input_focus(X.RevertToParent, X.CurrentTime)
        return False

    def is_held(self, name: str, modifiers: int) -> bool:
        """Whether another program holds the key with `modifiers`; nobody else is served while it is tried."""
        code = self.connection.keysym_to_keycode(XK.string_to_keysym(name))
        root, refused = self.connection.screen().root, error.CatchError(error.BadAccess)
        self.connection.grab_server()
        root.grab_key(code, modifiers, False, X.GrabModeAsync, X.GrabModeAsync, onerror=refused)
        root.ungrab_key(code, modifiers)
        self.connection.ungrab_server()
        self.connection.sync()
        return refused.get_error() is not None

    def key(self, name: str, *, down: bool) -> None:
        code = self.connection.keysym_to_keycode(XK.string_to_keysym(name))
        xtest.fake_input(self.connection, X.KeyPress if down else X.KeyRelease, code)
        self.connection.sync()

    def tap(self, name: str) -> None:
        self.key(name, down=True)
        self.key(name, down=False)

    def typed(self) -> int:
        """How many keys its window got since the last time."""
        self.connection.sync()
        events = [self.connection.next_event() for _ in range(self.connection.pending_events())]
        return sum(event.type == X.KeyPress for event in events)


@pytest.fixture
def typist(server: str) -> Iterator[Typist]:
    made = Typist(server)
    yield made
    made.connection.close()


class Held:
    """A grab and what it told."""

    def __init__(self, key: str) -> None:
        found = held_key(key)
        assert found is not None
        self.key: HeldKey = found
        self.told: list[str] = []
        self.grab = X11Grab(
            found,
            lambda: self.told.append("down"),
            lambda: self.told.append("up"),
            lambda code, _fields: self.told.append(code),
        )

    def reached(self, *told: str) -> bool:
        return self.told == list(told)


@pytest.fixture
def held(typist: Typist) -> Iterator[Held]:
    made = Held("Ctrl+F8")
    until("the grab", lambda: grabbed(typist, "F8"), SHORT)
    yield made
    made.grab.close()


def grabbed(typist: Typist, name: str) -> bool:
    """Whether somebody has the key: the window does not get it."""
    typist.typed()
    typist.key("Control_L", down=True)
    typist.typed()
    typist.tap(name)
    typist.key("Control_L", down=False)
    return typist.typed() == 0


def test_it_goes_down_and_up_once_while_another_window_has_the_keyboard(held: Held, typist: Typist) -> None:
    until("the test of the grab to be noticed", lambda: held.told[-1:] == ["up"], SHORT)
    held.told.clear()
    typist.key("Control_L", down=True)
    typist.key("F8", down=True)
    until("the press", lambda: held.reached("down"), SHORT)
    typist.key("F8", down=False)
    typist.key("Control_L", down=False)
    until("the release", lambda: held.reached("down", "up"), SHORT)
    typist.typed()
    typist.tap("a")
    assert typist.typed() == 1, "other keys go where they belong"


def test_the_modifier_may_be_let_go_first(held: Held, typist: Typist) -> None:
    until("the test of the grab to be noticed", lambda: held.told[-1:] == ["up"], SHORT)
    held.told.clear()
    typist.key("Control_L", down=True)
    typist.key("F8", down=True)
    typist.key("Control_L", down=False)
    typist.key("F8", down=False)
    until("the release", lambda: held.reached("down", "up"), SHORT)


def test_locks_do_not_matter(held: Held, typist: Typist) -> None:
    until("the test of the grab to be noticed", lambda: held.told[-1:] == ["up"], SHORT)
    for lock in ("Caps_Lock", "Num_Lock"):
        held.told.clear()
        typist.tap(lock)
        typist.key("Control_L", down=True)
        typist.tap("F8")
        typist.key("Control_L", down=False)
        until(f"the key with {lock}", lambda: held.reached("down", "up"), SHORT)
    typist.tap("Caps_Lock")
    typist.tap("Num_Lock")


class Counting(X11Grab):
    """Counts what the server says of the key."""

    said = 0

    def _on_event(self, event: Any, connection: Any) -> None:
        super()._on_event(event, connection)
        self.said += 1


def test_a_key_that_repeats_is_down_once(held: Held, typist: Typist) -> None:
    held.grab.close()
    held.told.clear()
    typist.connection.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOn)
    grab = Counting(held.key, lambda: held.told.append("down"), lambda: held.told.append("up"), print)
    until("the grab", lambda: grabbed(typist, "F8"), SHORT)
    until("the test of the grab to be noticed", lambda: held.told[-1:] == ["up"], SHORT)
    held.told.clear()
    before = grab.said
    typist.key("Control_L", down=True)
    typist.key("F8", down=True)
    until("the key to repeat", lambda: grab.said > before + 6, SHORT)
    assert held.told == ["down"]
    typist.key("F8", down=False)
    typist.key("Control_L", down=False)
    until("the release", lambda: held.reached("down", "up"), SHORT)
    grab.close()


def test_a_key_of_another_program_is_told_and_the_key_is_free_again_after_close(typist: Typist) -> None:
    first = Held("Ctrl+F10")
    until("the grab", lambda: grabbed(typist, "F10"), SHORT)
    second = Held("Ctrl+F10")
    until("the refusal", lambda: second.reached("hot_key_taken"), SHORT)
    second.grab.close()
    first.grab.close()
    assert not grabbed(typist, "F10")
    third = Held("Ctrl+F10")
    until("the grab", lambda: grabbed(typist, "F10"), SHORT)
    third.grab.close()
    third.grab.close()


def test_no_server_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", "no display")
    made = Held("Ctrl+F8")
    until("the word", lambda: made.reached("hot_key_no_display"), SHORT)
    made.grab.close()
