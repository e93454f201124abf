"""The line under the composer: what the agent is doing in words, how fast, and how full its memory is."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QWidget

from desktop.context_bar import ContextBar
from desktop.parts import ElidedLabel, label
from desktop.spent import Spent
from desktop.theme import Theme, spacing
from resources.translation import _
from runtime.events import (
    ApprovalRequired,
    Done,
    Event,
    ModelState,
    Paused,
    ResponseChunk,
    StateChange,
    ThinkingStart,
    ToolStart,
    UsageReport,
)


class StatusLine(QFrame):
    """Feed it the events of the session in front; `reset` when another session comes to the front."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("status")
        self.state = ElidedLabel()
        self.microphone = label(_("● Microphone on"), "live")
        self.microphone.hide()
        self.progress = QProgressBar()
        self.progress.setRange(0, 100)
        self.progress.setFixedWidth(110)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(_("Progress of the model"))
        self.speed = label("")
        self.spent = Spent()
        self.context = ContextBar(theme)
        row = QHBoxLayout(self)
        row.setContentsMargins(spacing(2), 0, spacing(2), 0)
        row.setSpacing(spacing(4))
        row.addWidget(self.microphone)
        row.addWidget(self.progress)
        row.addWidget(self.state, 1)
        row.addWidget(self.speed)
        row.addWidget(self.spent.widget)
        row.addWidget(self.context)
        self.reset("IDLE")

    def reset(self, state: str) -> None:
        """Forget the figures of the last session and show `state`."""
        self._paused = ""
        self.speed.clear()
        self.spent.reset()
        self.context.reset()
        self.progress.hide()
        self._say(_STATES[state]())

    def say(self, text: str) -> None:
        """Show a sentence of the window's own, such as that it is starting."""
        self._say(text)

    def set_microphone(self, on: bool) -> None:
        """Whether the microphone is open."""
        if on == self.microphone.isHidden():
            self.microphone.setVisible(on)

    def on_event(self, event: Event) -> None:
        match event.body:
            case StateChange(new=new):
                self._say(self._paused if new == "PAUSED" and self._paused else _STATES[new]())
                if new == "IDLE":
                    self.progress.hide()
            case ThinkingStart():
                self._say(_("Thinking…"))
            case ResponseChunk():
                self.progress.hide()
                self._say(_("Answering…"))
            case ToolStart(name=name):
                self._say(_("Using {tool}…").format(tool=name))
            case ApprovalRequired():
                self._say(_("Waits for your decision"))
            case Paused(paused=paused, reason=reason):
                self._paused = (reason or _("Paused")) if paused else ""
                if paused:
                    self._say(self._paused)
            case ModelState() as model:
                self._on_model(model)
            case UsageReport() as usage:
                self._on_usage(usage)
            case Done(reason=reason, seconds=seconds):
                self.spent.end_turn()
                self.progress.hide()
                self._say(_DONE.get(reason, _DONE["complete"])().format(seconds=f"{seconds:.1f}"))
            case _:
                pass

    def _on_model(self, model: ModelState) -> None:
        words = {
            "starting": _("Starting the model's engine…"),
            "loading": _("Loading the model…"),
            "waiting": _("Waiting for the model…"),
            "evaluating": _("Reading the conversation…"),
            "restarted": _("The model's engine was restarted"),
        }
        busy = model.state in words and model.state != "restarted"
        self.progress.setVisible(busy)
        if busy:
            known = model.progress > 0
            self.progress.setRange(0, 100 if known else 0)
            self.progress.setValue(round(model.progress * 100))
        if model.state in words:
            self._say(words[model.state])

    def _on_usage(self, usage: UsageReport) -> None:
        if usage.tokens_per_second > 0:
            self.speed.setText(_("{n} tokens/s").format(n=f"{usage.tokens_per_second:.0f}"))
        self.context.set_used(usage.prompt + usage.completion, usage.window)
        self.spent.add(usage)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """What was spent gives way where the line is short, so that the words of the state can be read."""
        beside = sum(made.sizeHint().width() + spacing(4) for made in (self.speed, self.context))
        words = 14 * self.fontMetrics().averageCharWidth()
        self.spent.fit(self.width() - beside - words - spacing(8))

    def _say(self, text: str) -> None:
        if text != self.state.text():
            self.state.setText(text)


_STATES = {
    "IDLE": lambda: _("Ready"),
    "PLANNING": lambda: _("Planning…"),
    "THINKING": lambda: _("Working…"),
    "TOOL_CALLING": lambda: _("Using a tool…"),
    "OBSERVING": lambda: _("Looking at the result…"),
    "COMPILING": lambda: _("Writing it up…"),
    "PAUSED": lambda: _("Waits for your decision"),
}
_DONE = {
    "complete": lambda: _("Done in {seconds} s"),
    "cancelled": lambda: _("Stopped"),
    "error": lambda: _("Something went wrong; the chat says what"),
    "iterations": lambda: _("Stopped: the limit of steps is reached"),
    "budget": lambda: _("Stopped: the budget is used up"),
    "stopped": lambda: _("Stopped"),
}
