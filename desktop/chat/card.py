"""The card of one tool call: what it does, how it stands, and on demand everything about it."""

from __future__ import annotations

import time

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from desktop.chat import wording
from desktop.chat.draw import chevron, chip, sign, status_colour
from desktop.chat.pieces import Spec, Tone
from desktop.chat.plain import visible
from desktop.chat.plan import Action, Element, Plan, Strip
from desktop.chat.rows import ToolRow
from desktop.chat.style import Style
from resources.translation import _

_TAIL_LINES = 6
_PART = 120
_MOST_LINES = 2000


def tool_plan(row: ToolRow, style: Style) -> Plan:
    """The plan of a card: a head, a footer with files and undo, and the open parts between them."""
    elements = [Element(_head(row, style))]
    if row.open:
        elements += _body(row, style)
    elif row.status == "running" and row.log:
        tail = "\n".join(row.log.rstrip("\n").split("\n")[-_TAIL_LINES:])[-2000:]
        elements.append(
            Element(Spec("code", tail, tone="muted", boxed=False), style.space(1), style.space(7))
        )
    elif row.status in ("failed", "unknown", "denied") and row.text:
        tone: Tone = "danger" if row.status == "failed" else "muted"
        elements.append(Element(Spec("plain", _short(row.text), tone=tone), style.space(1), style.space(7)))
    if foot := _foot(row, style):
        elements.append(foot)
    return Plan(elements, "card", gap=style.space(2))


def _head(row: ToolRow, style: Style) -> Strip:
    title, about, status = wording.tool_title(row), wording.tool_summary(row), wording.tool_status(row)
    state = "undone" if row.undone else row.status

    def paint(painter: QPainter, rect: QRect, phase: float) -> None:
        space = style.space
        sign(painter, QRect(rect.left(), rect.top(), space(5), rect.height()), state, style, phase)
        right = rect.right() - space(5)
        chevron(painter, QRect(right, rect.top(), space(5), rect.height()), style, opened=row.open)
        right = chip(painter, right - space(2), rect, status, status_colour(state, style), style) - space(2)
        seconds = max(0.0, time.time() - row.time) if row.status == "running" else row.seconds
        spent = wording.duration(seconds) if seconds >= 0.95 else ""
        if spent:
            width = QFontMetrics(style.small).horizontalAdvance(spent)
            painter.setFont(style.small)
            painter.setPen(style.theme.muted)
            painter.drawText(QRect(right - width, rect.top(), width, rect.height()), _MIDDLE, spent)
            right -= width + space(2)
        left = rect.left() + space(7)
        painter.setFont(style.strong)
        painter.setPen(style.theme.text)
        name = QFontMetrics(style.strong).elidedText(title, _ELIDE, max(0, right - left))
        painter.drawText(QRect(left, rect.top(), right - left, rect.height()), _MIDDLE, name)
        left += QFontMetrics(style.strong).horizontalAdvance(name) + space(2)
        painter.setFont(style.body)
        painter.setPen(style.theme.muted)
        rest = QFontMetrics(style.body).elidedText(visible(about), _ELIDE, max(0, right - left))
        painter.drawText(QRect(left, rect.top(), max(0, right - left), rect.height()), _MIDDLE, rest)

    label = ", ".join(word for word in (title, about, status) if word)
    return Strip(style.space(8), paint, [Action("toggle", label, "cover", expanded=row.open)], "fill")


_MIDDLE = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_ELIDE = Qt.TextElideMode.ElideRight


def _body(row: ToolRow, style: Style) -> list[Element]:
    elements: list[Element] = []
    if row.arguments:
        text, language = wording.arguments(row.arguments)
        elements += _section(_("Arguments"), text, language, style)
    diff = str(row.details.get("diff") or "")
    if diff:
        elements += _section(_("Changes"), diff, "diff", style)
    if row.log:
        elements += _section(_("Output"), row.log.rstrip("\n"), "", style)
    if row.text and row.text.strip() != row.log.strip():
        elements += _section(_("Result"), row.text.rstrip("\n"), "", style)
    return elements


def _section(title: str, text: str, language: str, style: Style) -> list[Element]:
    def paint(painter: QPainter, rect: QRect, phase: float) -> None:
        painter.setFont(style.small)
        painter.setPen(style.theme.muted)
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, title)

    elements = [Element(Strip(style.space(6), paint), style.space(1), style.space(7))]
    lines = text.split("\n")
    if len(lines) > _MOST_LINES:
        left_out = len(lines) - _MOST_LINES
        lines = [
            *lines[:_MOST_LINES],
            _("… {count} more lines; copy gives all of them").format(count=left_out),
        ]
    for start in range(0, len(lines), _PART):
        part = "\n".join(line[:_MOST_LINES] for line in lines[start : start + _PART])
        kind = "diff" if language == "diff" else "code"
        spec = Spec("diff" if kind == "diff" else "code", part, language, follows=start > 0, boxed=False)
        elements.append(Element(spec, 0, style.space(7)))
    return elements


def _foot(row: ToolRow, style: Style) -> Element | None:
    files = row.details.get("files")
    names = [str(name) for name in files] if isinstance(files, list | tuple) else []
    if not names and not (row.change and row.status == "ok"):
        return None
    text = ", ".join(names[:4]) + (
        _(" and {count} more").format(count=len(names) - 4) if len(names) > 4 else ""
    )

    def paint(painter: QPainter, rect: QRect, phase: float) -> None:
        room = rect.adjusted(0, 0, -style.space(24), 0)
        painter.setFont(style.small)
        painter.setPen(style.theme.muted)
        shown = QFontMetrics(style.small).elidedText(
            visible(text), Qt.TextElideMode.ElideMiddle, room.width()
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)

    does = []
    if row.change and row.status == "ok" and not row.undone:
        does.append(Action("undo", _("Undo"), "button", data=row.change))
    return Element(Strip(style.space(8), paint, does, "right"), style.space(1), style.space(7))


def _short(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= 300 else line[:299] + "…"
