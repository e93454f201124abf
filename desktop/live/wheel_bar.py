"""Who is at the wheel, in words below the picture, and the buttons to stop, go on, or give it back."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop.live.hands import LEAVE
from desktop.notices import announce
from desktop.parts import button, icon_button, label, restyle
from desktop.theme import spacing
from resources.translation import _
from runtime.computer_events import WheelChanged


class WheelBar(QFrame):
    """`handed_back` carries the user's note to the agent, "" where there is none."""

    pause_requested = Signal()
    resume_requested = Signal()
    step_requested = Signal()
    handed_back = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("wheelbar")
        self.wheel = WheelChanged("nobody", "", False)
        self._entered = False
        self._said = ""
        self.words = label("", wrap=True)
        self.pause = button(_("Pause"), self.pause_requested.emit)
        self.step = button(_("One step"), self.step_requested.emit)
        self.resume = button(_("Go on"), self.resume_requested.emit, "primary")
        self.back = button(_("Hand back"), self._on_back, "primary")
        for made, name in ((self.pause, "pause"), (self.step, "step"), (self.resume, "resume")):
            made.setProperty("icon_name", name)
        self.back.setProperty("icon_name", "wheel")
        self.note = QLineEdit()
        self.note.setPlaceholderText(_("What should the agent know? (optional)"))
        self.note.setAccessibleName(_("Note to the agent for when you hand back"))
        self.note.setMaxLength(2000)
        self.note.returnPressed.connect(self._on_back)
        self.summary = label("", "small", wrap=True, selectable=True)
        self.summary.setAccessibleName(_("What the agent was told about what you did"))
        self._close = icon_button("close", _("Close the summary"), lambda: self.show_summary(""))
        self._lay_out()
        self.show_wheel(self.wheel)
        self.show_summary("")

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(spacing(2))
        grid.setVerticalSpacing(spacing(2))
        grid.addWidget(self.words, 0, 0)
        buttons = QHBoxLayout()
        buttons.setSpacing(spacing(2))
        for part in (self.pause, self.step, self.resume):
            buttons.addWidget(part)
        grid.addLayout(buttons, 0, 1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        grid.setColumnStretch(0, 1)
        hand = QHBoxLayout()
        hand.setSpacing(spacing(2))
        hand.addWidget(self.note, 1)
        hand.addWidget(self.back)
        told = QHBoxLayout()
        told.addWidget(self.summary, 1)
        told.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(3), spacing(2), spacing(3), spacing(2))
        column.setSpacing(spacing(2))
        column.addLayout(grid)
        column.addLayout(hand)
        column.addLayout(told)

    def show_wheel(self, wheel: WheelChanged) -> None:
        """Another one is at the wheel, or the agent pauses or goes on."""
        if wheel.holder == "user" and self.wheel.holder != "user":
            self.show_summary("")
        self.wheel = wheel
        agent = wheel.holder == "agent"
        self.pause.setVisible(agent and not wheel.paused)
        self.step.setVisible(agent and wheel.paused)
        self.step.setEnabled(not wheel.stepping)
        self.resume.setVisible(agent and wheel.paused)
        for part in (self.note, self.back):
            part.setVisible(wheel.holder == "user")
        self.setProperty("holder", wheel.holder)
        restyle(self)
        self._say()

    def set_entered(self, entered: bool) -> None:
        """Whether the user works in the picture while no agent does."""
        self._entered = entered
        self._say()

    def show_summary(self, text: str) -> None:
        """What the agent was told at the hand-back; "" closes it."""
        self.summary.setText(_("The agent was told: {words}").format(words=text) if text else "")
        self.summary.setVisible(bool(text))
        self._close.setVisible(bool(text))
        if text:
            announce(self, self.summary.text())

    def take_keyboard(self) -> bool:
        """Put the keyboard on the button for what is likeliest wanted; False where there is none."""
        parts = (self.back, self.pause, self.resume)
        shown = next((part for part in parts if not part.isHidden()), None)
        if shown is not None:
            shown.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return shown is not None

    def _on_back(self) -> None:
        if self.wheel.holder == "user":
            self.handed_back.emit(self.note.text().strip())
            self.note.clear()

    def _say(self) -> None:
        wheel = self.wheel
        leave = _("{keys} leaves the picture.").format(keys=LEAVE)
        if wheel.holder == "user":
            words = _("You are at the wheel, the agent waits.") + " " + leave
        elif wheel.holder == "agent" and wheel.stepping:
            words = _("The agent does one more step, then it waits.")
        elif wheel.holder == "agent" and wheel.paused:
            words = _("The agent is paused. Click or type in the picture to take the wheel.")
        elif wheel.holder == "agent":
            words = _("The agent is at the wheel. Click or type in the picture to take it.")
        elif self._entered:
            words = _("Your mouse and keys go to the sandbox.") + " " + leave
        else:
            words = _("Nobody is at the wheel. Click into the picture to use it yourself.")
        self.words.setText(words)
        if words != self._said and self._said and self.isVisible():
            announce(self, words)
        self._said = words
