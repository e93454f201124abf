"""The window's process from the first frame to the last: what starts when, and in which order it ends."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from desktop import window_state
from desktop.appearance import Appearance
from desktop.bridge import Bridge, Fields
from desktop.conductor import Conductor
from desktop.conversations import Conversations
from desktop.drafts import Drafts
from desktop.faults import Faults
from desktop.garbage import Collector
from desktop.icons import program_icon
from desktop.imports import leave_alone
from desktop.instance import Instance
from desktop.live.live_conductor import LiveConductor
from desktop.model_conductor import ModelConductor
from desktop.pages import Page, pages
from desktop.termination import Termination
from desktop.tray import Tray
from desktop.voice_conductor import VoiceConductor
from desktop.window import MainWindow
from resources.sentences import sentence
from resources.translation import _, set_language
from runtime.logs import logging_to
from runtime.paths import find_home

SETTLED_MS = 2000
"""When the window has settled after the runtime is there, and what may be needed soon can be started."""

CHAT_PARTS = tuple(f"desktop.chat.{part}" for part in ("markdown", "wording", "pieces", "canvas", "view"))
"""What the first chat needs, in the order in which each needs the ones before it."""


def run() -> int:
    """Open the window and stay until it is closed; the exit code."""
    leave_alone()
    app = QApplication(sys.argv[:1])
    app.setApplicationName("Orion")
    app.setDesktopFileName("orion-desktop")
    home = find_home().root
    with ExitStack() as stack:
        instance = Instance(home)
        _make(home / "logs")
        if not instance.claim():
            return 0
        stack.callback(instance.release)
        stack.enter_context(logging_to(home / "logs", door="window"))
        desktop = Desktop(app, home)
        instance.raise_requested.connect(desktop.window.come_to_front)
        desktop.window.show()
        QTimer.singleShot(0, instance.listen)
        code = app.exec()
        if not desktop.close():
            os._exit(code)  # a native call holds the runtime's thread; the journal is already on the disk
    return code


class Desktop(QObject):
    """Everything of one open window. The window is there before the runtime is; `close` ends both."""

    def __init__(self, app: QApplication, home: Path) -> None:
        super().__init__()
        app.setWindowIcon(program_icon())
        self._home = home
        self._workspace = home / "workspace"
        self._faults = Faults(self)
        self._faults.install(home / "logs")
        self._collector = Collector(self)
        self._termination = Termination(self)
        self.state = window_state.load(home / "window.json")
        set_language(*filter(None, [self.state.language]))
        self.bridge = Bridge(parent=self)
        self.looks = Appearance(app, self.bridge, self.state)
        self.window = MainWindow(self.looks.theme, pages(), self.state)
        self.drafts = Drafts(home / "drafts", self)
        self.talks = Conversations(self.bridge, self)
        self.tray = Tray(program_icon(), self.window)
        self.conductor = Conductor(self.window, self.talks, self.drafts, self.tray)
        self.voice = VoiceConductor(self.window, self.bridge, self.talks)
        self.live = LiveConductor(self.window, self.bridge, open_at_start=self.state.pane)
        self.models = ModelConductor(self.window, self.bridge, self.talks)
        self.conductor.escapes.append(self.voice.take_escape)
        self.conductor.escapes.append(self.models.take_escape)
        self._connect()
        self._install_commands()
        self.window.status.say(_("Starting…"))
        QTimer.singleShot(0, self._on_first_frame)

    def close(self) -> bool:
        """End the runtime, then the window; False when the runtime's thread could not be ended."""
        self.voice.close()
        ended = self.bridge.close()
        self.window.deleteLater()
        QApplication.sendPostedEvents(self.window)
        self._termination.restore()
        self._collector.stop()
        self._faults.restore()
        return ended

    def _connect(self) -> None:
        self.window.set_page_maker(self._make_page)
        self.window.closing.connect(self._on_closing)
        self._termination.requested.connect(self.window.close)
        self.tray.show_requested.connect(self.window.come_to_front)
        self.tray.new_requested.connect(self._on_tray_new)
        self.tray.quit_requested.connect(self.window.close)
        self.looks.on_change.append(self.window.set_theme)
        self.bridge.ready.connect(self._on_ready)
        self.bridge.failed.connect(self._on_failed)
        self.bridge.escaped.connect(self._on_escaped)
        self._faults.raised.connect(self._on_fault, Qt.ConnectionType.QueuedConnection)

    def _install_commands(self) -> None:
        from desktop.actions import Command, install
        from desktop.commands import commands

        found = commands(self.window, self.conductor, self.talks, self.looks)
        found += self.voice.commands() + self.live.commands()
        found.append(Command(_("Command palette"), ("Ctrl+K", "Ctrl+Shift+P"), self._open_palette))
        found.append(Command(_("Keyboard shortcuts"), ("F1", "Ctrl+/"), self._open_keys))
        self._commands = found
        install(self.window, found)

    def _open_palette(self) -> None:
        from desktop.command_palette import CommandPalette
        from desktop.commands import choices

        CommandPalette(choices(self._commands, self.window, self.talks), self.window).open()

    def _open_keys(self) -> None:
        from desktop.actions import ShortcutList

        ShortcutList(self._commands, self.window, self.voice.held_keys).open()

    def _make_page(self, page: Page) -> QWidget:
        made = page.make(self.bridge, self.looks.theme)
        if saved := getattr(made, "saved", None):
            saved.connect(self.looks.take_settings)
            saved.connect(self.voice.take_settings)
        if decided := getattr(made, "decided", None):
            decided.connect(self.window.toast.say)
        if page.name == "models":
            self.models.join(made)
        if opened := getattr(made, "open_requested", None):
            opened.connect(self._open_file)
        return made

    def _open_file(self, path: str) -> None:
        """Open a file of the workspace with the program the desktop has for it."""
        from PySide6.QtCore import QUrl
        from PySide6.QtGui import QDesktopServices

        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._workspace / path)))

    # --- what happens ---------------------------------------------------------------------------------

    def _on_first_frame(self) -> None:
        """The window is on the screen; only now the heavy parts are loaded."""
        self.bridge.start()
        self._load(list(CHAT_PARTS))

    def _load(self, parts: list[str]) -> None:
        """Import the chat a part at a time, so that keys pressed meanwhile are taken at once."""
        if parts:
            import_module(parts.pop(0))
            QTimer.singleShot(0, self, lambda: self._load(parts))
        elif self.window.chats.view is None:
            self.window.chats.show_placeholder("loading", _("Starting…"))

    def _on_ready(self, overview: dict[str, Any]) -> None:
        self._workspace = Path(overview["workspace"])
        self.looks.take_settings(overview["settings"])
        self.voice.take_settings(overview["settings"])
        self.window.header.set_choices(overview["profiles"], overview["models"])
        for notice in overview["notices"]:
            self.window.banner.show_notice(notice["code"], notice["fields"])
        self.talks.begin(overview, self.state.session)
        if self.state.voice:  # those who speak find it ready, once the window has settled
            QTimer.singleShot(SETTLED_MS, self, self.voice.wake)
        self.models.begin()
        self.live.begin()
        self._collector.keep_soon()

    def _on_failed(self, code: str, fields: Fields) -> None:
        self.window.status.say(_("Not ready"))
        self.window.chats.show_placeholder("error", sentence(code, **fields))

    def _on_escaped(self, error: Exception) -> None:
        self._on_fault(f"{type(error).__name__}: {error}")

    def _on_fault(self, reason: str) -> None:
        self.window.banner.show_notice("window_fault", {"problem": reason, "path": str(self._home / "logs")})

    def _on_tray_new(self) -> None:
        self.window.come_to_front()
        self.conductor.new_chat()

    def _on_closing(self) -> None:
        self.state = self.window.remember()
        if self.talks.card and not self.talks.card["private"]:
            self.state.session = self.talks.current
        self.state.voice = self.voice.used
        window_state.save(self._home / "window.json", self.state)
        self.drafts.flush()


def _make(folder: Path) -> None:
    """Make the folder where that is possible; where not, the runtime says so in a sentence."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
