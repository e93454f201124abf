"""The panel that asks the user before the agent does something that matters."""

from __future__ import annotations

import json
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.code_view import ROOM, CodeView
from desktop.notices import announce
from desktop.parts import button, label, restyle
from desktop.theme import Theme, spacing
from resources.sentences import sentence
from resources.translation import _, ngettext
from runtime.pathnames import visible

_OTHERS = 340
_TARGETS = ("path", "host", "url", "command", "to")
GUARD_MS = 500
"""A new question cannot be approved before this long: nobody has read it yet."""

Asked = dict[str, Any]


class ApprovalPanel(QFrame):
    """Shows the first of the pending approvals; the others wait in order behind it.

    `answered` carries (approval id, "approve" | "deny" | "edit", trust, arguments or None). Enter alone never
    approves: only Ctrl+Enter (`approve_requested`, for the window to judge), or a press of the button itself,
    and not in the first half second.
    """

    answered = Signal(str, str, str, object)
    approve_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("approval")
        self.setAccessibleName(_("The agent asks for your approval"))
        self._theme = theme
        self._asked: Asked | None = None
        self._sent: set[str] = set()
        self._room = 480
        self._rules: dict[str, str] = {}
        self._guard = QTimer(self)
        self._guard.setObjectName("approval guard")
        self._guard.setSingleShot(True)
        self._guard.setInterval(GUARD_MS)
        self._guard.timeout.connect(self._refresh)
        self._make_parts()
        self._lay_out()
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self).activated.connect(self.approve_requested)
        self.hide()

    def _make_parts(self) -> None:
        self.risk = label("", "badge")
        self.summary = label("", "section", wrap=True, selectable=True)
        self.waiting = label("", "small")
        self.detail = CodeView(self._theme)
        self.detail.setAccessibleName(_("What exactly would be done"))
        self.editor = QPlainTextEdit()
        self.editor.setProperty("role", "code")
        self.editor.setAccessibleName(_("Arguments to edit, as JSON"))
        self.editor.setTabChangesFocus(True)
        self.editor.textChanged.connect(self._on_edited)
        self.fault = label("", "error", wrap=True)
        self.trusts = QWidget()
        self._trust_row = QHBoxLayout(self.trusts)
        self._trust_row.setContentsMargins(0, 0, 0, 0)
        self._trust_row.setSpacing(spacing(3))
        self._trust_row.addStretch(1)
        self._trust_group = QButtonGroup(self)
        self._trust_group.buttonToggled.connect(lambda _button, _on: self._refresh())
        self.rule = label("", "small", wrap=True)
        self.why_once = label("", "small", wrap=True, selectable=True)
        self.approve = button(_("Approve  Ctrl+Enter"), self.on_approve, "primary")
        self.deny = button(_("Deny  Esc"), self.on_deny)
        self.edit = button(_("Edit…"), self.on_edit, "quiet")

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.risk, 0, Qt.AlignmentFlag.AlignTop)
        top.addWidget(self.summary, 1)
        top.addWidget(self.waiting, 0, Qt.AlignmentFlag.AlignTop)
        foot = QHBoxLayout()
        foot.addWidget(self.edit)
        foot.addStretch(1)
        foot.addWidget(self.deny)
        foot.addWidget(self.approve)
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(4), spacing(3), spacing(4), spacing(3))
        column.setSpacing(spacing(2))
        inside = QWidget()
        self._inside = middle = QVBoxLayout(inside)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(spacing(2))
        for part in (self.detail, self.editor, self.fault, self.trusts, self.rule, self.why_once):
            middle.addWidget(part)
        self._middle = QScrollArea()
        self._middle.setWidget(inside)
        self._middle.setWidgetResizable(True)
        self._middle.setFrameShape(QFrame.Shape.NoFrame)
        self._middle.setObjectName("plain")
        self._middle.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._middle.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column.addLayout(top)
        column.addWidget(self._middle)
        column.addLayout(foot)

    # --- what the window tells it ---------------------------------------------------------------------

    def set_pending(self, pending: list[Asked]) -> None:
        """The approvals that wait, oldest first; an empty list hides the panel."""
        open_ones = [asked for asked in pending if asked["id"] not in self._sent]
        self._sent &= {asked["id"] for asked in pending}
        first = open_ones[0] if open_ones else None
        if first is None:
            self._asked = None
            self.hide()
            return
        more = len(open_ones) - 1
        self.waiting.setText(ngettext("1 more waits", "{n} more wait", more).format(n=more) if more else "")
        if self._asked is None or self._asked["id"] != first["id"]:
            self._show(first)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.detail.set_theme(theme)

    def fit(self, height: int) -> None:
        """Be low enough for a window of `height`: what does not fit is scrolled, the buttons always show."""
        self._room = height
        self.detail.fit(height // 4)
        self.editor.setFixedHeight(max(3 * self.fontMetrics().lineSpacing() + ROOM, height // 5))
        self._inside.activate()
        needed = max(
            self._inside.heightForWidth(max(self.width() - spacing(8), 200)), self._inside.sizeHint().height()
        )
        self._middle.setFixedHeight(min(needed, max(height - _OTHERS, 80), height * 45 // 100))

    def answer_failed(self, approval: str, pending: list[Asked]) -> None:
        """The runtime refused the answer: ask again."""
        self._sent.discard(approval)
        self.set_pending(pending)

    # --- what the user does ---------------------------------------------------------------------------

    def on_approve(self) -> None:
        """Approve what is shown, or what it was edited to; nothing in the first half second."""
        if self._asked is None or self._guard.isActive():
            return
        if not self.editor.isHidden():
            arguments = self._edited()
            if arguments is None:
                return
            if arguments != self._asked["arguments"]:
                self._send("edit", arguments)
                return
        self._send("approve", None)

    def on_deny(self) -> None:
        if self._asked is not None:
            self._send("deny", None)

    def on_edit(self) -> None:
        """Swap between the exact call and an editor for its arguments."""
        if self._asked is None:
            return
        editing = self.editor.isHidden()
        self.editor.setVisible(editing)
        self.detail.setVisible(not editing)
        self.edit.setText(_("Keep as asked") if editing else _("Edit…"))
        if editing:
            self.editor.setPlainText(_pretty(self._asked["arguments"]))
            self.editor.setFocus()
        self._refresh()

    # --- inside ---------------------------------------------------------------------------------------

    def _show(self, asked: Asked) -> None:
        self._asked = asked
        tones = {"low": _("Low risk"), "medium": _("Medium risk"), "high": _("High risk")}
        self.risk.setText(tones[asked["risk"]])
        self.risk.setProperty("tone", asked["risk"])
        self.setProperty("risk", asked["risk"])
        self.summary.setText(_in_words(asked))
        self.detail.setPlainText(_exactly(asked))
        self.editor.hide()
        self.detail.show()
        self.edit.setText(_("Edit…"))
        why = asked.get("why_once", "")
        self.why_once.setText(sentence(why) if why else "")
        self.why_once.setVisible(bool(why))
        self._show_trusts(asked["rules"])
        self._guard.start()
        self._refresh()
        self.show()
        restyle(self)
        restyle(self.risk)
        announce(self, f"{self.risk.text()}. {self.summary.text()}. {self.why_once.text()}".rstrip(". "))

    def _show_trusts(self, rules: dict[str, str]) -> None:
        self._rules = rules
        for old in self._trust_group.buttons():
            self._trust_group.removeButton(old)
            self._trust_row.removeWidget(old)
            old.deleteLater()
        names = {
            "once": _("Only this once"),
            "5min": _("5 minutes"),
            "session": _("This chat"),
            "always": _("Always"),
        }
        offered = [trust for trust in rules if trust in names] or ["once"]
        for number, trust in enumerate(offered):
            choice = QRadioButton(names[trust])
            choice.setProperty("trust", trust)
            choice.setAccessibleDescription(rules.get(trust, ""))
            choice.setChecked(number == 0)
            self._trust_group.addButton(choice)
            self._trust_row.insertWidget(number, choice)

    def _trust(self) -> str:
        chosen = self._trust_group.checkedButton()
        return str(chosen.property("trust")) if chosen is not None else "once"

    def _send(self, decision: str, arguments: Asked | None) -> None:
        if self._asked is None:
            return
        lasting = decision == "approve" and self.editor.isHidden()
        approval, trust = self._asked["id"], self._trust() if lasting else "once"
        self._sent.add(approval)
        self._asked = None
        self.hide()
        self.answered.emit(approval, decision, trust, arguments)

    def _edited(self) -> Asked | None:
        """What the editor holds, or None with the fault shown."""
        try:
            found = json.loads(self.editor.toPlainText())
        except ValueError as error:
            self.fault.setText(_("This is not valid JSON: {reason}").format(reason=error))
            return None
        if not isinstance(found, dict):
            self.fault.setText(_("The arguments must be a JSON object in braces."))
            return None
        self.fault.clear()
        return found

    def _on_edited(self) -> None:
        self._refresh()

    def _refresh(self) -> None:
        valid = self.editor.isHidden() or self._edited() is not None
        asking = self.editor.isHidden()
        rule = _in_force(self._trust(), self._rules) if asking else ""
        self.trusts.setVisible(asking and len(self._rules) > 1)
        self.rule.setText(rule)
        self.rule.setVisible(bool(rule) and len(self._rules) > 1)
        self.fault.setVisible(not valid)
        self.editor.setProperty("invalid", "false" if valid else "true")
        restyle(self.editor)
        self.fit(self._room)
        self.approve.setEnabled(valid and not self._guard.isActive())
        changed = not self.editor.isHidden()
        self.approve.setText(
            _("Approve the edited call  Ctrl+Enter") if changed else _("Approve  Ctrl+Enter")
        )


def _exactly(asked: Asked) -> str:
    """The diff where there is one that changes a line, else the tool with its exact arguments; what is not
    seen or turns the order of letters stands there as an escape."""
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in _told(asked).split("\n"))


def _told(asked: Asked) -> str:
    lines = str(asked["preview"]).splitlines()
    changes = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    if lines and (changes or not lines[0].startswith("---")):
        return str(asked["preview"]).rstrip("\n")
    exact = _("Tool {name} with exactly these arguments:").format(name=asked["name"])
    return f"{exact}\n{_pretty(asked['arguments'])}"


def _in_force(trust: str, rules: dict[str, str]) -> str:
    """What an approval that holds as long as `trust` allows, in a sentence."""
    rule = rules.get(trust, "")
    words = {
        "once": _("You allow {rule}; the next one is asked again."),
        "5min": _("For five minutes you allow without asking: {rule}."),
        "session": _("In this chat you allow without asking: {rule}."),
        "always": _("From now on you allow without asking: {rule}."),
    }
    return words.get(trust, "{rule}").format(rule=rule) if rule else ""


def _in_words(asked: Asked) -> str:
    """What the call would do, with the file or host it would touch."""
    words = str(asked["summary"] or asked["name"]).removesuffix(".")
    target = next((asked["arguments"][name] for name in _TARGETS if name in asked["arguments"]), None)
    return f"{words}: {visible(target)}" if isinstance(target, str) and target not in words else words


def _pretty(arguments: Asked) -> str:
    return json.dumps(arguments, indent=2, ensure_ascii=False)
