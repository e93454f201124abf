"""How the window looks now: theme and text size, changed at run time and kept in the settings."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from desktop import theme as themes
from desktop.bridge import Bridge
from desktop.desk import Desk
from desktop.window_state import WindowState

STEPS = (0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5)


class Appearance(QObject):
    """Dresses the application. The window is told through `on_change`, set by whoever made it."""

    def __init__(self, app: QApplication, bridge: Bridge, state: WindowState) -> None:
        super().__init__(app)
        self._app = app
        self._bridge = bridge
        self._state = state
        self.theme = themes.theme_for(app, state.theme, state.text_scale)
        themes.apply(app, self.theme)
        self.on_change: list[Any] = []
        app.styleHints().colorSchemeChanged.connect(self._on_system)

    def take_settings(self, values: dict[str, Any]) -> None:
        """Follow the settings, which may have been edited by hand or on their page."""
        found = values["appearance"]
        self._state.language = found["language"]
        self._apply(found["theme"], found["text_scale"])

    def choose(self, theme: str) -> None:
        """Use "light", "dark" or "system" from now on."""
        self._apply(theme, self._state.text_scale)
        self._bridge.ask(Desk.save_settings, {"appearance.theme": theme})

    def step_scale(self, steps: int) -> None:
        """Larger (1) or smaller (-1) text."""
        nearest = min(range(len(STEPS)), key=lambda n: abs(STEPS[n] - self._state.text_scale))
        self.set_scale(STEPS[min(max(nearest + steps, 0), len(STEPS) - 1)])

    def set_scale(self, scale: float) -> None:
        """Make all text `scale` times its normal size."""
        self._apply(self._state.theme, scale)
        self._bridge.ask(Desk.save_settings, {"appearance.text_scale": scale})

    def _on_system(self) -> None:
        if self._state.theme == "system":
            self._apply("system", self._state.text_scale)

    def _apply(self, choice: str, scale: float) -> None:
        self._state.theme, self._state.text_scale = choice, scale
        fresh = themes.theme_for(self._app, choice, scale)
        if fresh != self.theme:
            self.theme = fresh
            self._show_frames(False)
            themes.undress(self._app)
            QTimer.singleShot(0, self, self._dress)

    def _dress(self) -> None:
        """The second of three steps, each in a round of the loop of its own, so that none is felt."""
        try:
            themes.apply(self._app, self.theme)
        finally:
            QTimer.singleShot(0, self, self._tell)

    def _tell(self) -> None:
        try:
            for listener in self.on_change:
                listener(self.theme)
        finally:
            self._show_frames(True)

    def _show_frames(self, shown: bool) -> None:
        """No frame shows a window that is dressed by half."""
        for window in self._app.topLevelWidgets():
            window.setUpdatesEnabled(shown)
