"""Turns each kind of row into the plan of its parts."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter

from desktop.chat import wording
from desktop.chat.card import tool_plan
from desktop.chat.chunks import Chunk, Cutter, references
from desktop.chat.draw import chevron, dots
from desktop.chat.pieces import Spec, Tone
from desktop.chat.plan import Action, Element, Frame, Plan, Strip
from desktop.chat.rows import (
    ActivityRow,
    AnyRow,
    AssistantRow,
    NoticeRow,
    ThinkingRow,
    ToolRow,
    UserRow,
)
from desktop.chat.style import Style
from desktop.chat.unheard import divided
from resources.translation import _

_FOLD_LINES = 24
_FOLD_LENGTH = 3000
_PART_LINES = 120
_PART_LENGTH = 6000


class Source:
    """The chunks of a row's Markdown, kept while the text grows so that only the new end is looked at."""

    def __init__(self) -> None:
        self._text = ""
        self._cutter = Cutter()
        self._made: list[Element] = []

    def chunks(self, text: str) -> list[Chunk]:
        """The chunks of `text`; cheap when it continues what was given last time."""
        if not text.startswith(self._text):
            self._text, self._cutter, self._made = "", Cutter(), []
        self._cutter.feed(text[len(self._text) :])
        self._text = text
        return self._cutter.all()

    def elements(self, row: AssistantRow, style: Style) -> list[Element]:
        """The elements of an answer; those of finished chunks are made once, while it grows."""
        found = self.chunks(row.text)
        if not row.live:
            definitions = references(row.text)
            return [_chunk(chunk, style, definitions, first=not at) for at, chunk in enumerate(found)]
        done = len(self._cutter.done)
        for chunk in found[len(self._made) : done]:
            self._made.append(_chunk(chunk, style, "", first=not self._made))
        return [*self._made, *(_chunk(chunk, style, "", first=not done) for chunk in found[done:])]


def plan(row: AnyRow, style: Style, source: Source, *, last: bool) -> Plan:
    """How `row` looks; `last` for the last row with something to say."""
    match row:
        case UserRow():
            return _user(row, style)
        case AssistantRow():
            return _assistant(row, style, source, last=last)
        case ThinkingRow():
            return _thinking(row, style)
        case ToolRow():
            return tool_plan(row, style)
        case NoticeRow():
            return _notice(row, style)
        case ActivityRow():
            return Plan([Element(_pulse(style, wording.activity(row)))], gap=style.space(3))
        case _:
            assert_never(row)


def parts(text: str, tone: Tone = "text") -> list[Spec]:
    """A plain text as specs of bounded size; together they are exactly the text."""
    made: list[Spec] = []
    lines: list[str] = []
    size = 0
    glued = False

    def flush(after: bool) -> None:
        nonlocal size, glued
        made.append(Spec("plain", "\n".join(lines), tone=tone, follows=bool(made), glued=glued))
        lines.clear()
        size, glued = 0, after

    for line in text.split("\n"):
        rest = line
        while len(rest) > _PART_LENGTH:
            lines.append(rest[:_PART_LENGTH])
            rest = rest[_PART_LENGTH:]
            flush(True)
        lines.append(rest)
        size += len(rest)
        if len(lines) >= _PART_LINES or size > _PART_LENGTH:
            flush(False)
    if lines:
        flush(False)
    return made


def folded(text: str) -> str | None:
    """The beginning of a text too long to show at once, or None when all of it may be shown."""
    if len(text) <= _FOLD_LENGTH and text.count("\n") < _FOLD_LINES + 6:
        return None
    return "\n".join(text[:_FOLD_LENGTH].split("\n")[:_FOLD_LINES])


def _user(row: UserRow, style: Style) -> Plan:
    start = folded(row.text)
    shown = row.text if row.open or start is None else start
    elements = [Element(spec, fit=True) for spec in parts(shown)]
    if start is not None:
        lines = row.text.count("\n") + 1
        label = _("Show less") if row.open else _("Show all {lines} lines").format(lines=f"{lines:,}")
        fold = Action("toggle", label, "button", expanded=row.open)
        elements.append(Element(Strip(style.space(8), actions=[fold]), gap=style.space(2)))
    does = [Action("copy", _("Copy"), hidden=True), Action("edit", _("Edit"), hidden=True)]
    does.append(Action("fork", _("Branch"), hidden=True))
    elements.append(Element(Strip(style.space(7), actions=does, side="right"), style.space(1), outside=True))
    return Plan(elements, "bubble", gap=style.space(4))


def _assistant(row: AssistantRow, style: Style, source: Source, *, last: bool) -> Plan:
    heard = len(row.text) if row.heard is None else row.heard
    if row.text[heard:].strip() and not row.live:
        elements = _interrupted(row.text[:heard], row.text[heard:], style)
    else:
        elements = source.elements(row, style)
    if not row.live:
        does = [Action("copy", _("Copy"), hidden=True)]
        if last:
            does.append(Action("retry", _("Try again"), hidden=True))
        does.append(Action("read", _("Read aloud"), hidden=True))
        does.append(Action("fork", _("Branch"), hidden=True))
        elements.append(Element(Strip(style.space(7), actions=does), style.space(1), outside=True))
    return Plan(elements, gap=style.space(3))


def _interrupted(heard: str, rest: str, style: Style) -> list[Element]:
    """An answer whose speaking was interrupted: what was heard, and dimmed what was not."""
    definitions = references(heard + rest)
    heard, rest = divided(heard, rest)
    made = [_chunk(chunk, style, definitions, first=not at) for at, chunk in enumerate(_cut(heard))]
    made.append(Element(Strip(style.space(9), partial(_paint_unheard, style))))
    for at, chunk in enumerate(_cut(rest.lstrip(" "))):
        made.append(_chunk(chunk, style, definitions, first=not at, tone="muted"))
    return made


def _cut(text: str) -> list[Chunk]:
    cutter = Cutter()
    cutter.feed(text)
    return cutter.all()


def _paint_unheard(style: Style, painter: QPainter, rect: QRect, phase: float) -> None:
    """The words "not heard" and a line as wide as what is left."""
    del phase
    label = _("Not heard")
    painter.setFont(style.small)
    painter.setPen(style.theme.muted)
    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, label)
    left = rect.left() + style.small_width(label) + style.space(2)
    painter.setPen(style.theme.border)
    painter.drawLine(left, rect.center().y(), rect.right(), rect.center().y())


def _chunk(chunk: Chunk, style: Style, definitions: str, *, first: bool, tone: Tone = "text") -> Element:
    spec = Spec(
        chunk.kind,
        chunk.text,
        chunk.language,
        tone,
        follows=chunk.follows,
        glued=chunk.glued,
        definitions=definitions if "]" in chunk.text and chunk.kind == "prose" else "",
    )
    gap = 0 if first or chunk.follows else style.space(5 if chunk.text.startswith("#") else 3)
    return Element(spec, gap)


def _thinking(row: ThinkingRow, style: Style) -> Plan:
    label = wording.thinking(row)

    def paint(painter: QPainter, rect: QRect, phase: float) -> None:
        painter.setFont(style.small)
        painter.setPen(style.theme.muted)
        arrow = QRect(rect.left(), rect.top(), style.space(4), rect.height())
        chevron(painter, arrow, style, opened=row.open)
        if row.live:
            painter.setOpacity(0.55 + 0.45 * abs(1 - 2 * phase))
        painter.drawText(rect.adjusted(style.space(6), 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, label)
        painter.setOpacity(1)

    toggle = Action("toggle", label, "cover", expanded=row.open)
    elements = [Element(Strip(style.space(7), paint, [toggle], "fill"))]
    if row.open:
        texts = parts(row.text, "muted")
        elements += [
            Element(spec, 0 if spec.follows else style.space(1), style.space(6)) for spec in texts if row.text
        ]
    return Plan(elements, "bar" if row.open and row.text else "none", gap=style.space(2))


def _notice(row: NoticeRow, style: Style) -> Plan:
    text = wording.notice(row)
    frame: Frame = "alert" if row.level == "error" else "none"
    tone: Tone = "text" if row.level == "error" else "muted"
    elements = [Element(spec) for spec in parts(text, tone)]
    if row.level == "error":
        does = [Action("retry", _("Try again"), "button"), Action("copy", _("Copy"), "quiet")]
        elements.append(Element(Strip(style.space(8), actions=does), style.space(2)))
    elif row.level == "stopped":
        does = [Action("continue", _("Continue"), "button")]
        elements.append(Element(Strip(style.space(8), actions=does), style.space(1.5)))
    return Plan(elements, frame, gap=style.space(2))


def _pulse(style: Style, words: str) -> Strip:
    def paint(painter: QPainter, rect: QRect, phase: float) -> None:
        after = dots(painter, rect, style, phase)
        painter.setFont(style.small)
        painter.setPen(style.theme.muted)
        painter.drawText(rect.adjusted(after, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, words)

    return Strip(style.space(7), paint)
