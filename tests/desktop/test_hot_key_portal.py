"""A key that a Wayland desktop holds: the portal's own protocol, over a real message bus."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from desktop.held_key import held_key
from desktop.hot_key_portal import BUS_NAME, PATH, SHORTCUTS, TALK, PortalGrab, trigger
from tests.conftest import missing
from tests.end2end.program import until
from tests.runtime.secret_service import private_bus

SHORT = 10.0
SESSION = "/org/freedesktop/portal/desktop/session/1_1/orion"
jeepney: Any = import_module("jeepney")
blocking: Any = import_module("jeepney.io.blocking")


class Portal:
    """The desktop's side; it answers one call after the other, in the test's own thread."""

    def __init__(self, bus: Any) -> None:
        self.bus = bus
        blocking.Proxy(jeepney.message_bus, bus).RequestName(BUS_NAME)

    def called(self, member: str) -> Any:
        """The next call of `member`."""
        while True:
            message = self.bus.receive(timeout=SHORT)
            if message.header.fields.get(jeepney.HeaderFields.member) == member:
                return message

    def answer(self, member: str, code: int, results: dict[str, Any], *, early: bool = False) -> Any:
        """Take the call of `member` and grant (0) or refuse it; `early` sends the answer before the reply."""
        call = self.called(member)
        request = f"{PATH}/request/{member}"
        reply = jeepney.new_method_return(call, "o", (request,))
        address = jeepney.DBusAddress(request, interface="org.freedesktop.portal.Request")
        signal = jeepney.new_signal(address, "Response", "ua{sv}", (code, results))
        for message in (signal, reply) if early else (reply, signal):
            self.bus.send(message)
        return call.body

    def signal(self, member: str, session: str = SESSION, shortcut: str = TALK) -> None:
        address = jeepney.DBusAddress(PATH, interface=SHORTCUTS)
        self.bus.send(jeepney.new_signal(address, member, "osta{sv}", (session, shortcut, 1, {})))


@pytest.fixture
def portal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Portal]:
    if shutil.which("dbus-daemon") is None:
        missing("dbus-daemon")
    with private_bus(tmp_path) as env:
        address = env["DBUS_SESSION_BUS_ADDRESS"]
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        with closing(blocking.open_dbus_connection(address)) as bus:
            yield Portal(bus)


class Held:
    """A grab and what it told."""

    def __init__(self) -> None:
        key = held_key("Ctrl+Alt+Space")
        assert key is not None
        self.told: list[str] = []
        down, up = (lambda: self.told.append("down")), (lambda: self.told.append("up"))
        self.grab = PortalGrab(key, down, up, lambda code, _fields: self.told.append(code))


@pytest.fixture
def held(portal: Portal) -> Iterator[Held]:
    del portal
    made = Held()
    yield made
    made.grab.close()


def test_a_granted_key_goes_down_and_up(portal: Portal, held: Held) -> None:
    portal.answer("CreateSession", 0, {"session_handle": ("s", SESSION)})
    session, shortcuts, _parent, _options = portal.answer("BindShortcuts", 0, {})
    assert session == SESSION
    assert shortcuts[0][0] == TALK
    assert shortcuts[0][1]["preferred_trigger"] == ("s", "CTRL+ALT+space")
    portal.signal("Activated", session="/another/session")
    portal.signal("Activated", shortcut="another")
    portal.signal("Activated")
    portal.signal("Activated")
    portal.signal("Deactivated")
    until("the key", lambda: held.told == ["down", "up"], SHORT)
    held.grab.close()
    assert portal.called("Close").header.fields[jeepney.HeaderFields.path] == SESSION


def test_an_answer_that_overtakes_its_reply_is_not_lost(portal: Portal, held: Held) -> None:
    portal.answer("CreateSession", 0, {"session_handle": ("s", SESSION)}, early=True)
    portal.answer("BindShortcuts", 0, {}, early=True)
    portal.signal("Activated")
    until("the key", lambda: held.told == ["down"], SHORT)


@pytest.mark.parametrize("step", ["CreateSession", "BindShortcuts"])
def test_a_refusal_is_told(portal: Portal, held: Held, step: str) -> None:
    if step == "BindShortcuts":
        portal.answer("CreateSession", 0, {"session_handle": ("s", SESSION)})
    portal.answer(step, 1, {})
    until("the word", lambda: held.told == ["hot_key_refused"], SHORT)


def test_a_desktop_without_the_portal_is_told(portal: Portal, held: Held) -> None:
    call = portal.called("CreateSession")
    portal.bus.send(jeepney.new_error(call, "org.freedesktop.DBus.Error.UnknownInterface"))
    until("the word", lambda: held.told == ["hot_key_no_portal"], SHORT)


def test_it_can_be_closed_while_the_user_is_being_asked(portal: Portal, held: Held) -> None:
    portal.answer("CreateSession", 0, {"session_handle": ("s", SESSION)})
    portal.called("BindShortcuts")
    held.grab.close()
    assert held.told == []


def test_without_a_bus_it_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/nothing")
    held = Held()
    until("the word", lambda: held.told == ["hot_key_no_portal"], SHORT)
    held.grab.close()


@pytest.mark.parametrize(
    ("key", "written"), [("Ctrl+Space", "CTRL+space"), ("Meta+F8", "LOGO+F8"), ("Alt+Shift+A", "ALT+SHIFT+a")]
)
def test_keys_are_written_as_the_specification_says(key: str, written: str) -> None:
    found = held_key(key)
    assert found is not None
    assert trigger(found) == written
