"""Badges of the exam: what passed and what failed, each saying what was measured where it is pointed at."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QToolButton, QToolTip, QWidget

from desktop.icons import icon
from desktop.models.flow import FlowRow
from desktop.models.wording import NOT_MEANT, discipline_words, score_words
from desktop.parts import plain_tip
from desktop.theme import Theme, spacing

Row = dict[str, Any]
SHOWN = ("instructions", "tools", "json", "elements", "pictures", "clicks")
"""Disciplines with a badge, in the order of the badges; the speed stands in the line of facts."""

_ICONS = {"passed": "tick", "failed": "close", "not_taken": "more"}
_BACK = (Qt.Key.Key_Left, Qt.Key.Key_Up)
_ON = (Qt.Key.Key_Right, Qt.Key.Key_Down)


class Badge(QToolButton):
    """One discipline's result. It can have the keyboard, so that what was measured can be read and heard."""

    def __init__(self, discipline: str, score: Row, exam: Row, theme: Theme) -> None:
        super().__init__()
        self.state = str(score["state"])
        self.said = score_words(discipline, score, exam)
        self.setProperty("badge", self.state)
        self.setText(discipline_words(discipline))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setToolTip(plain_tip(self.said).replace("\n", "<br>"))
        self.setAccessibleName(self.said.partition("\n")[0])
        self.setAccessibleDescription(self.said.partition("\n")[2])
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Draw the sign in the theme's colours."""
        ink = theme.success if self.state == "passed" else theme.muted
        side = round(13 * theme.scale)
        self.setIconSize(QSize(side, side))
        self.setIcon(icon(_ICONS.get(self.state, "close"), ink.name(), theme.muted.name(), side))

    def sizeHint(self) -> QSize:
        """Narrower than the style's, which leaves room for a menu's arrow."""
        hint = super().sizeHint()
        return QSize(hint.width() - self.fontMetrics().averageCharWidth(), hint.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (*_ON, *_BACK):
            event.ignore()  # the row moves the keyboard
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() != Qt.FocusReason.MouseFocusReason:
            QToolTip.showText(self.mapToGlobal(self.rect().bottomLeft()), self.toolTip(), self)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        QToolTip.hideText()


class BadgeRow(FlowRow):
    """The badges of one model: one stop of the Tab key, moved about in with the arrows."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(spacing(1.5), parent)
        self._theme = theme
        self._exam: Row | None = None
        self.badges: list[Badge] = []
        self.hide()

    def show_exam(self, exam: Row | None) -> None:
        """Draw an EXAM; None where the model was not examined."""
        if exam == self._exam:
            return
        self._exam = exam
        self.clear()
        scores = exam["scores"] if exam else {}
        taken = [name for name in SHOWN if name in scores and scores[name].get("code") != NOT_MEANT]
        self.badges = [Badge(name, scores[name], exam or {}, self._theme) for name in taken]
        for place, badge in enumerate(self.badges):
            badge.setFocusPolicy(Qt.FocusPolicy.StrongFocus if place == 0 else Qt.FocusPolicy.ClickFocus)
            self.flow.addWidget(badge)
        self.setVisible(bool(self.badges))

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for badge in self.badges:
            badge.set_theme(theme)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        held = next((place for place, badge in enumerate(self.badges) if badge.hasFocus()), None)
        step = 1 if event.key() in _ON else -1 if event.key() in _BACK else 0
        if held is None or not step:
            super().keyPressEvent(event)
            return
        self.badges[(held + step) % len(self.badges)].setFocus(Qt.FocusReason.OtherFocusReason)
