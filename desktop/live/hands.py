"""The user's mouse and keyboard in the picture, as steps of the sandbox's input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QMouseEvent, QWheelEvent

from desktop.live.geometry import Fit
from desktop.live.keys import Step, held_names, step_of

if TYPE_CHECKING:
    from desktop.live.screen_view import ScreenView

_BUTTONS = {
    Qt.MouseButton.LeftButton: "left",
    Qt.MouseButton.RightButton: "right",
    Qt.MouseButton.MiddleButton: "middle",
    Qt.MouseButton.BackButton: "back",
    Qt.MouseButton.ForwardButton: "forward",
}
_CHORD = (Qt.Key.Key_Control, Qt.Key.Key_Alt)
_OF_THE_WINDOW = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Escape)
LEAVE = "⌘⌥" if sys.platform == "darwin" else "Ctrl+Alt"
"""The chord that leaves the picture, as the platform writes it."""
NOTCH = 120
"""What Qt counts for one notch of a wheel."""
LONG = 1000
"""So many letters of a committed text are one step."""


class Hands(QObject):
    """Filters the events of a screen view. A click or a key of the picture takes the wheel and is passed on;
    moving the mouse is passed on only while the wheel is the user's. While it is, every key but the chord
    Ctrl+Alt, pressed and released alone, goes to the sandbox."""

    steered = Signal(object)
    left = Signal()

    def __init__(self, view: ScreenView) -> None:
        super().__init__(view)
        self._view = view
        self._fit: Fit | None = None
        self._mine = False
        self._down: dict[str, tuple[int, int]] = {}
        self._turned = QPoint()
        self._chord = False

    def set_fit(self, fit: Fit) -> None:
        """Where the screen lies from now on."""
        self._fit = fit

    def set_mine(self, mine: bool) -> None:
        """Whether the user is at the wheel."""
        self._mine = mine
        self._turned = QPoint()

    def let_go(self) -> None:
        """Release every button that is still down: whoever held it is elsewhere now."""
        steps: list[Step] = []
        for name, (x, y) in self._down.items():
            steps += [{"do": "move", "x": x, "y": y}, {"do": "button", "button": name, "down": False}]
        self._down.clear()
        self._chord = False
        if steps:
            self.steered.emit(steps)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        match event:
            case QMouseEvent() if watched is self._view.viewport():
                return self._on_mouse(event)
            case QWheelEvent() if watched is self._view.viewport():
                return self._on_wheel(event)
            case QKeyEvent() if watched is self._view:
                return self._on_key(event)
            case QInputMethodEvent() if watched is self._view:
                return self._on_commit(event)
        return False

    # --- mouse ----------------------------------------------------------------------------------------

    def _on_mouse(self, event: QMouseEvent) -> bool:
        if self._fit is None:
            return False
        kind, name = event.type(), _BUTTONS.get(event.button(), "")
        if kind == QEvent.Type.MouseMove:
            if not (self._mine or self._down):
                return False
            if point := self._fit.to_guest(event.position(), clamp=bool(self._down)):
                self._down = dict.fromkeys(self._down, point)
                self.steered.emit([{"do": "move", "x": point[0], "y": point[1]}])
            return True
        if kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick) and name:
            self._view.setFocus(Qt.FocusReason.MouseFocusReason)
            if point := self._fit.to_guest(event.position()):
                self._down[name] = point
                self._button(event, point, name)
            return True
        if kind == QEvent.Type.MouseButtonRelease and name in self._down:
            del self._down[name]
            if point := self._fit.to_guest(event.position(), clamp=True):
                self._button(event, point, name)
            return True
        return False

    def _button(self, event: QMouseEvent, point: tuple[int, int], name: str) -> None:
        down = event.type() != QEvent.Type.MouseButtonRelease
        self._act(event, point, {"do": "button", "button": name, "down": down})

    def _act(self, event: QMouseEvent | QWheelEvent, point: tuple[int, int], step: Step) -> None:
        """Do `step` at `point`, with the modifiers held that the user holds."""
        steps: list[Step] = [{"do": "move", "x": point[0], "y": point[1]}, step]
        if held := held_names(event.modifiers()):
            steps = [{"do": "press", "key": "+".join(held)}, *steps, {"do": "release"}]
        self.steered.emit(steps)

    def _on_wheel(self, event: QWheelEvent) -> bool:
        """Turn the sandbox's wheel by whole notches; before the wheel is taken it moves the view."""
        point = self._fit.to_guest(event.position()) if self._fit is not None else None
        if not self._mine or point is None:
            return False
        self._turned += event.angleDelta()
        across, down = int(self._turned.x() / NOTCH), int(self._turned.y() / NOTCH)
        if across or down:
            self._turned -= QPoint(across * NOTCH, down * NOTCH)
            self._act(event, point, {"do": "scroll", "dx": -across, "dy": -down})
        return True

    # --- keyboard -------------------------------------------------------------------------------------

    def _on_key(self, event: QKeyEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.ShortcutOverride:
            if self._mine:
                event.accept()
            return self._mine
        if kind == QEvent.Type.KeyRelease:
            if self._chord and event.key() in _CHORD:
                self._chord = False
                self.left.emit()
            return self._mine
        if kind != QEvent.Type.KeyPress or not self._takes(event):
            return False
        held = event.modifiers()
        both = held & Qt.KeyboardModifier.ControlModifier and held & Qt.KeyboardModifier.AltModifier
        other = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier
        second = event.key() in _CHORD and bool(held & other[_CHORD.index(Qt.Key(event.key()))])
        self._chord = self._mine and event.key() in _CHORD and bool(both or second)
        if step := step_of(event):
            self.steered.emit([step])
        return True

    def _takes(self, event: QKeyEvent) -> bool:
        """Whether a key is the sandbox's: every one at the wheel, else those the window has no use for."""
        if self._mine:
            return True
        held = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        return not held and event.key() not in _OF_THE_WINDOW and step_of(event) is not None

    def _on_commit(self, event: QInputMethodEvent) -> bool:
        text = event.commitString()
        parts = [text[at : at + LONG] for at in range(0, len(text), LONG)]
        if parts and self._fit is not None:
            self.steered.emit([{"do": "type", "text": part} for part in parts])
        return True
