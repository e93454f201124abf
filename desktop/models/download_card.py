"""A download on top of the page: how far it is, how fast, how long still, and how to pause, go on or stop."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QProgressBar, QVBoxLayout, QWidget

from desktop.models.fit_line import Foot
from desktop.models.wording import Tone, download_words, facts
from desktop.parts import button, label, restyle
from desktop.theme import Theme, spacing
from resources.translation import _

Row = dict[str, Any]
FULL = 1000
_TONES: dict[str, Tone] = {"done": "good", "failed": "bad"}


class DownloadCard(QFrame):
    """Draws a DOWNLOAD of runtime/model_shelf.py. `asked` carries what the user wants of it: "pause",
    "resume", "stop", "allow" (the host it needs), "token"
    (for a maker that asks for one), "use" or "examine" (what came of it); and its row."""

    asked = Signal(str, object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "activity")
        self.row: Row = {}
        self.title = label("", "section", wrap=True)
        self.bar = QProgressBar()
        self.bar.setRange(0, FULL)
        self.bar.setTextVisible(False)
        self.foot = Foot(theme)
        self.words = self.foot.fit.words
        self.stop = button(_("Stop"), lambda: self.asked.emit("stop", self.row), "quiet")
        self.second = button("", self._on_second)
        self.main = button("", self._on_main, "main")
        self._second = self._main = ""
        self._lent = False
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(5), spacing(3.5), spacing(5), spacing(3.5))
        column.setSpacing(spacing(2.5))
        for part in (self.title, self.bar, self.foot):
            column.addWidget(part)
        self.foot.add(self.stop, self.second, self.main)

    def show_row(self, row: Row) -> None:
        """Draw the download as it is now; the button that has the keyboard hands it on when it goes."""
        if row == self.row:
            return
        self.row, state = row, row["state"]
        self.title.setText(_title(row))
        ends = state in ("done", "failed")
        self.bar.setVisible(not ends)
        if state == "checking" and not row["total"]:
            self.bar.setRange(0, 0)
        else:
            self.bar.setRange(0, FULL)
            self.bar.setValue(round(FULL * min(row["done"] / row["total"], 1.0)) if row["total"] else 0)
        self.bar.setAccessibleName(_("{title}: how much is here").format(title=row["title"]))
        tone = "quiet" if state in ("paused", "queued") else ""
        if tone != self.bar.property("tone"):
            self.bar.setProperty("tone", tone)
            restyle(self.bar)
        self.foot.fit.show_words(download_words(row), _TONES.get(state, "none"))
        self._show_buttons(state)
        self.setAccessibleName(facts(self.title.text(), self.words.text()))

    def take_keyboard(self) -> None:
        """Put the keyboard on what can be done."""
        (self.main if self._main else self.stop).setFocus(Qt.FocusReason.OtherFocusReason)

    def set_theme(self, theme: Theme) -> None:
        self.foot.set_theme(theme)

    def _show_buttons(self, state: str) -> None:
        title = self.row["title"]
        self._main, self._second = self._ways(state)
        self._hand_on()
        names = {
            "pause": (_("Pause"), _("Pause {title}")),
            "resume": (_("Go on"), _("Go on with {title}")),
            "again": (_("Try again"), _("Try {title} again")),
            "allow": (
                _("Allow {host}").format(host=self.row.get("host", "")),
                _("Allow the host for {title}"),
            ),
            "token": (_("Enter a token"), _("Enter a token for {title}")),
            "use": (_("Use"), _("Use {title}")),
            "examine": (_("Examine"), _("Examine {title}")),
            "": ("", ""),
        }
        for made, way in ((self.main, self._main), (self.second, self._second)):
            words, name = names[way]
            made.setText(words)
            made.setAccessibleName(name.format(title=title))
            made.setVisible(bool(way))
        over = state == "done" or (state == "failed" and self._imports)
        self.stop.setText(_("Close") if over else _("Discard") if state == "failed" else _("Stop"))
        told = _("Stop {title} and drop what was fetched")
        if over:
            told = _("Close the notice on {title}")
        elif self._imports:
            told = _("Stop taking in {title}")
        self.stop.setAccessibleName(told.format(title=title))
        if self._lent and self._main and self.stop.hasFocus():
            self.main.setFocus(Qt.FocusReason.OtherFocusReason)
        self._lent = self._lent and not self._main
        self.foot.arrange()

    def _hand_on(self) -> None:
        """Give the keyboard to a button that stays; the main one gets it back when it comes back."""
        for made, way in ((self.main, self._main), (self.second, self._second)):
            if made.hasFocus() and not way:
                self._lent = made is self.main
                (self.main if self._main else self.stop).setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def _imports(self) -> bool:
        """Whether a file is taken in, which can be ended and not paused."""
        return bool(self.row["kind"] == "import")

    def _ways(self, state: str) -> tuple[str, str]:
        """What the main and the second button do."""
        if self._imports and state != "done":
            return "", ""
        if state in ("queued", "running", "checking"):
            return "pause", ""
        if state == "paused":
            return "resume", ""
        if state == "failed":
            if self.row["code"] == "download_gated":
                return "again", "token"
            return ("allow" if self.row.get("host") else "again"), ""
        if state == "done" and self.row.get("name") and self.row.get("chats"):
            return ("use", "") if self.row["examined"] else ("examine", "use")
        return "", ""

    def _on_main(self) -> None:
        self.asked.emit("resume" if self._main == "again" else self._main, self.row)

    def _on_second(self) -> None:
        self.asked.emit(self._second, self.row)


def _title(row: Row) -> str:
    states = {
        "queued": _("{title} waits"),
        "running": _("Fetching {title}"),
        "paused": _("{title} is paused"),
        "checking": _("Checking {title}"),
        "done": _("{title} is here"),
        "failed": _("{title} could not be fetched"),
    }
    if row["kind"] == "import":
        states |= {"running": _("Taking in {title}"), "failed": _("{title} could not be taken in")}
    return states[row["state"]].format(title=row["title"])
