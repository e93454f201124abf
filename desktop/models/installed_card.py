"""The card of a model that is on this machine: how it does, what the exam says of it, use and delete."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from desktop.models.badges import BadgeRow
from desktop.models.fit_line import Foot
from desktop.models.side_by_side import SideBySide
from desktop.models.wording import (
    exam_words,
    facts,
    fit_words,
    kind_words,
    origin_words,
    parameters,
    window_words,
)
from desktop.parts import button, label, restyle
from desktop.theme import Theme, spacing
from resources.sentences import sentence
from resources.translation import _
from runtime.amounts import size

Row = dict[str, Any]
CHATS = ("language", "vision")
"""Kinds of models that one talks with."""

TITLE = 180
"""Pixels that a title has at least beside the badge, at normal text size."""


class InstalledCard(QFrame):
    """Draws an INSTALLED of runtime/model_shelf.py; the signals carry its name. `watch_wanted` says that
    its exam is to be seen."""

    use_wanted = Signal(str)
    exam_wanted = Signal(str)
    delete_wanted = Signal(str)
    watch_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._model: Row = {}
        self._busy = ""
        self.title = label("", "cardtitle", wrap=True)
        self.state = label("", "badge")
        self.top = SideBySide(self.title, self.state, TITLE)
        self.top.set_scale(theme.scale)
        self.facts = label("", "small", wrap=True)
        self.exam = label("", "small", wrap=True)
        self.badges = BadgeRow(theme)
        self.fault = label("", "error", wrap=True, selectable=True)
        self.foot = Foot(theme)
        self.delete = button(_("Delete…"), lambda: self.delete_wanted.emit(self._model["name"]), "quiet")
        self.examine = button(_("Examine"), self.on_examine)
        self.use = button(_("Use"), lambda: self.use_wanted.emit(self._model["name"]), "main")
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(5), spacing(4), spacing(5), spacing(4))
        column.setSpacing(spacing(2.5))
        head = QVBoxLayout()
        head.setSpacing(spacing(0.5))
        head.addWidget(self.top)
        head.addWidget(self.facts)
        column.addLayout(head)
        for part in (self.badges, self.exam, self.fault):
            column.addWidget(part)
        column.addSpacing(spacing(0.5))
        column.addWidget(self.foot)
        self.foot.add(self.delete, self.examine, self.use)

    def show_row(self, model: Row, examined: str) -> None:
        """Draw the model as it is now; `examined` names the one whose exam runs, if one does."""
        if (model, examined) == (self._model, self._busy):
            return
        self._model, self._busy = model, examined
        title = model["title"] or model["name"]
        self.title.setText(title)
        self.title.setToolTip(model["path"])
        self._show_state()
        pictures = _("sees pictures") if model["images"] else ""
        other = "" if model["kind"] in CHATS else kind_words(model["kind"])
        self.facts.setText(
            facts(
                other,
                parameters(model["parameters"]),
                size(model["size"]),
                model["quantisation"],
                _("keeps {window} in view").format(window=window_words(model["window"]))
                if model["window"]
                else "",
                pictures,
                origin_words(model["origin"]),
            )
        )
        self.facts.setVisible(bool(self.facts.text()))
        self._show_exam()
        broken = bool(model["error"])
        self.fault.setText(sentence(model["error"], **model["fields"]) if broken else "")
        self.fault.setVisible(broken)
        self.foot.fit.show_fit(None if broken else _as_measured(model))
        self._show_buttons(title, broken)
        self.setAccessibleName(facts(title, self.state.text(), fit_words(_as_measured(model))))

    def on_examine(self) -> None:
        """Examine it, or go to the exam that it sits."""
        if self._busy == self._model["name"]:
            self.watch_wanted.emit()
        else:
            self.exam_wanted.emit(self._model["name"])

    def set_theme(self, theme: Theme) -> None:
        self.foot.set_theme(theme)
        self.top.set_scale(theme.scale)
        self.badges.set_theme(theme)

    def _show_state(self) -> None:
        chosen, loaded = self._model["default"], self._model["in_use"]
        self.state.setText(_("In use") if chosen else _("In memory") if loaded else "")
        self.state.setProperty("tone", "accent" if chosen else "plain")
        self.state.setVisible(chosen or loaded)
        restyle(self.state)

    def _show_exam(self) -> None:
        exam, chats = self._model["exam"], self._model["kind"] in CHATS
        self.badges.show_exam(exam)
        self.exam.setVisible(chats and not self._model["error"])
        if not exam:
            self.exam.setText(
                _(
                    "Not examined yet. The exam takes about two minutes, works offline, and shows what it "
                    "really can do."
                )
            )
            return
        self.exam.setText(exam_words(exam))

    def _show_buttons(self, title: str, broken: bool) -> None:
        model, exam = self._model, self._model["exam"]
        chats = model["kind"] in CHATS and not broken
        listens = model["kind"] == "speech" and not broken
        self.use.setAccessibleName(_("Use {title}").format(title=title))
        self.examine.setVisible(chats)
        busy = self._busy == model["name"]
        self.examine.setText(_("Examining…") if busy else _("Examine again") if exam else _("Examine"))
        self.examine.setAccessibleName(_("Examine {title}").format(title=title))
        self.examine.setProperty("role", "main" if model["default"] and not exam else "")
        restyle(self.examine)
        self.delete.setVisible(bool(model["deletable"]))
        self.delete.setAccessibleName(_("Delete {title}").format(title=title))
        usable = (chats or listens) and not model["default"]
        if self.use.hasFocus() and not usable:
            (self.examine if chats else self.delete).setFocus()
        self.use.setVisible(usable)
        self.foot.arrange()


def _as_measured(model: Row) -> Row | None:
    """The fit of a model with the speed of its exam, where it sat one, in the place of the estimate."""
    fit, exam = model["fit"], model["exam"]
    if not fit or not exam or not exam["tokens_per_second"]:
        return fit  # type: ignore[no-any-return]
    return {**fit, "tokens_per_second": exam["tokens_per_second"], "measured": True}
