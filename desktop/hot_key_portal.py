"""Holds a key on Wayland: the portal GlobalShortcuts, on a connection and a thread of its own."""

from __future__ import annotations

import os
import select
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from desktop.held_key import HeldKey
from resources.translation import _

if TYPE_CHECKING:
    from desktop.hot_key import Told, Troubled

BUS_NAME, PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
TALK = "talk"
"""The name of our one shortcut."""

_ANSWER = 10.0
"""Seconds the portal has for an answer that needs nobody's decision."""


class PortalGrab:
    """See Grab. The desktop may ask the user, and may give the shortcut another key than was wished for."""

    def __init__(self, key: HeldKey, pressed: Told, released: Told, trouble: Troubled) -> None:
        self._key = key
        self._pressed, self._released, self._trouble = pressed, released, trouble
        self._session = ""
        self._down = False
        self._early: deque[Any] = deque()
        self._wake, self._waker = os.pipe()
        self._thread = threading.Thread(target=self._run, name="hot key", daemon=True)
        self._thread.start()

    def close(self) -> None:
        if self._waker >= 0:
            os.close(self._waker)
            self._waker = -1
            self._thread.join()
            os.close(self._wake)

    def _run(self) -> None:
        from jeepney import DBusErrorResponse
        from jeepney.io.blocking import open_dbus_connection

        try:
            with open_dbus_connection(bus="SESSION") as connection:
                self._listen(connection)
        except DBusErrorResponse as problem:
            self._trouble("hot_key_no_portal", {"key": self._key.words, "reason": problem.name})
        except (OSError, KeyError, TimeoutError) as problem:
            self._trouble("hot_key_no_portal", {"key": self._key.words, "reason": str(problem)})

    def _listen(self, connection: Any) -> None:
        """Ask for the shortcut, then take its signals until closed."""
        from jeepney import DBusAddress, MatchRule, message_bus

        for interface in (SHORTCUTS, "org.freedesktop.portal.Request"):
            rule = MatchRule(type="signal", interface=interface)
            self._call(connection, message_bus.AddMatch(rule))
        portal = DBusAddress(PATH, bus_name=BUS_NAME, interface=SHORTCUTS)
        token = f"orion{os.getpid()}"
        options = {"handle_token": ("s", token), "session_handle_token": ("s", token)}
        code, results = self._request(connection, portal, "CreateSession", "a{sv}", (options,))
        if code is None:
            return
        self._session = str(results["session_handle"][1]) if not code else ""
        shortcut = {"description": ("s", _("Talk to Orion")), "preferred_trigger": ("s", trigger(self._key))}
        body = (self._session, [(TALK, shortcut)], "", {"handle_token": ("s", token + "b")})
        if self._session:
            code, _results = self._request(connection, portal, "BindShortcuts", "oa(sa{sv})sa{sv}", body)
        if code is None:
            return
        if code:
            self._trouble("hot_key_refused", {"key": self._key.words})
            return
        while (message := self._next(connection)) is not None:
            self._on_signal(message)
        from jeepney import new_method_call

        session = DBusAddress(self._session, bus_name=BUS_NAME, interface="org.freedesktop.portal.Session")
        connection.send(new_method_call(session, "Close"))

    def _request(
        self, connection: Any, portal: Any, method: str, signature: str, body: tuple[Any, ...]
    ) -> tuple[int | None, dict[str, Any]]:
        """Call a method of the portal that answers by a signal: its code (0: granted) and results; None when
        closed meanwhile. The user may take their time."""
        from jeepney import HeaderFields, new_method_call

        handle = self._call(connection, new_method_call(portal, method, signature, body))
        while handle is not None and (message := self._next(connection)) is not None:
            fields = message.header.fields
            if fields.get(HeaderFields.member) == "Response" and fields.get(HeaderFields.path) == handle:
                code, results = message.body
                return code, results
            self._on_signal(message)
        return None, {}

    def _call(self, connection: Any, message: Any) -> Any:
        """What a method returns first, None for nothing or when closed; signals before it wait their turn."""
        from jeepney import HeaderFields
        from jeepney.wrappers import unwrap_msg

        serial = next(connection.outgoing_serial)
        connection.send(message, serial=serial)
        while (reply := self._receive(connection, _ANSWER)) is not None:
            if reply.header.fields.get(HeaderFields.reply_serial) == serial:
                return next(iter(unwrap_msg(reply)), None)
            self._early.append(reply)
        return None

    def _next(self, connection: Any) -> Any:
        """The next message; None when closed."""
        return self._early.popleft() if self._early else self._receive(connection, None)

    def _receive(self, connection: Any, seconds: float | None) -> Any:
        while True:
            try:
                return connection.receive(timeout=0)
            except TimeoutError:
                ready, _writable, _broken = select.select([connection.sock, self._wake], [], [], seconds)
                if self._wake in ready:
                    return None
                if not ready:
                    raise TimeoutError("the portal does not answer") from None

    def _on_signal(self, message: Any) -> None:
        from jeepney import HeaderFields

        fields = message.header.fields
        if fields.get(HeaderFields.interface) != SHORTCUTS or message.body[:2] != (self._session, TALK):
            return
        told: Callable[[], object] | None = None
        if fields.get(HeaderFields.member) == "Activated" and not self._down:
            self._down, told = True, self._pressed
        elif fields.get(HeaderFields.member) == "Deactivated" and self._down:
            self._down, told = False, self._released
        if told is not None:
            told()


def trigger(key: HeldKey) -> str:
    """The key as the shortcuts specification of the portals writes it, such as "CTRL+space"."""
    kinds = Qt.KeyboardModifier
    names = {kinds.ControlModifier: "CTRL", kinds.AltModifier: "ALT"}
    names |= {kinds.ShiftModifier: "SHIFT", kinds.MetaModifier: "LOGO"}
    written = QKeySequence(key.key).toString(QKeySequence.SequenceFormat.PortableText)
    last = written if written.startswith("F") and written[1:].isdigit() else written.lower()
    return "+".join([*(name for kind, name in names.items() if kind in key.modifiers), last])
