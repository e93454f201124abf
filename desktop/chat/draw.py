"""The few shapes the transcript paints itself: chevrons, pulse dots, chips, status signs and buttons."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPainterPath, QPen

from desktop.chat.plan import Action
from desktop.chat.style import Style
from desktop.theme import mix


def chevron(painter: QPainter, rect: QRect, style: Style, *, opened: bool) -> None:
    """An arrow in the middle of `rect` that points down when `opened`."""
    middle, reach = QRectF(rect).center(), style.space(0.9)
    path = QPainterPath()
    if opened:
        path.moveTo(middle + QPointF(-reach, -reach / 2))
        path.lineTo(middle + QPointF(0, reach / 2))
        path.lineTo(middle + QPointF(reach, -reach / 2))
    else:
        path.moveTo(middle + QPointF(-reach / 2, -reach))
        path.lineTo(middle + QPointF(reach / 2, 0))
        path.lineTo(middle + QPointF(-reach / 2, reach))
    _stroke(painter, path, style.theme.muted, 1.6 * style.scale)


def dots(painter: QPainter, rect: QRect, style: Style, phase: float) -> int:
    """Three dots that swell in turn; returns where text may follow, relative to `rect`."""
    size = style.space(1.5)
    painter.setPen(Qt.PenStyle.NoPen)
    for n in range(3):
        strength = 0.35 + 0.65 * max(0.0, math.sin(2 * math.pi * (phase - n / 6)))
        colour = QColor(style.theme.accent)
        colour.setAlphaF(strength)
        painter.setBrush(colour)
        left = rect.left() + n * size * 1.9
        painter.drawEllipse(QRectF(left, rect.center().y() - size / 2 + 0.5, size, size))
    return round(size * 1.9 * 3 + style.space(2))


def chip(painter: QPainter, right: int, rect: QRect, text: str, colour: QColor, style: Style) -> int:
    """A rounded label that ends at `right`; returns its left edge."""
    metrics = QFontMetrics(style.small)
    width = metrics.horizontalAdvance(text) + style.space(4)
    height = metrics.height() + style.space(1)
    box = QRectF(right - width, rect.center().y() - height / 2 + 0.5, width, height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(mix(style.theme.surface, colour, 0.16))
    painter.drawRoundedRect(box, height / 2, height / 2)
    painter.setFont(style.small)
    painter.setPen(colour)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
    return round(box.left())


def sign(painter: QPainter, rect: QRect, status: str, style: Style, phase: float) -> None:
    """The sign of a tool's state: a turning arc, a tick, a cross, a question mark or an hour-glass dot."""
    colour = status_colour(status, style)
    size = style.space(4)
    middle = QRectF(rect).center()
    box = QRectF(middle.x() - size / 2, middle.y() - size / 2, size, size)
    width = 1.7 * style.scale
    if status == "running":
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(mix(style.theme.surface, colour, 0.3), width))
        painter.drawEllipse(box)
        painter.setPen(QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawArc(box, round(-phase * 5760), 1500)
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(mix(style.theme.surface, colour, 0.18))
    painter.drawEllipse(box.adjusted(-1, -1, 1, 1))
    path, r = QPainterPath(), size * 0.24
    if status == "ok":
        path.moveTo(middle + QPointF(-r, 0))
        path.lineTo(middle + QPointF(-r * 0.25, r * 0.75))
        path.lineTo(middle + QPointF(r, -r * 0.7))
    elif status in ("failed", "denied"):
        path.moveTo(middle + QPointF(-r * 0.8, -r * 0.8))
        path.lineTo(middle + QPointF(r * 0.8, r * 0.8))
        path.moveTo(middle + QPointF(-r * 0.8, r * 0.8))
        path.lineTo(middle + QPointF(r * 0.8, -r * 0.8))
    elif status == "undone":
        path.moveTo(middle + QPointF(r, r * 0.7))
        path.cubicTo(
            middle + QPointF(r * 1.2, -r), middle + QPointF(-r * 0.2, -r), middle + QPointF(-r, -r * 0.1)
        )
        path.moveTo(middle + QPointF(-r * 0.9, -r))
        path.lineTo(middle + QPointF(-r, -r * 0.1))
        path.lineTo(middle + QPointF(-r * 0.1, r * 0.1))
    else:
        painter.setFont(style.strong)
        painter.setPen(colour)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "?" if status == "unknown" else "!")
        return
    _stroke(painter, path, colour, width)


def status_colour(status: str, style: Style) -> QColor:
    """The colour that stands for a tool's state."""
    theme = style.theme
    table = {"ok": theme.success, "failed": theme.danger, "unknown": theme.warning, "waiting": theme.warning}
    return table.get(status, theme.accent if status == "running" else theme.muted)


def button(
    painter: QPainter,
    action: Action,
    style: Style,
    *,
    over: bool = False,
    down: bool = False,
    focus: bool = False,
) -> None:
    """An action at its rectangle, whether painted in a row or by the widget that stands for it."""
    theme = style.theme
    box = QRectF(action.rect).adjusted(0.5, 0.5, -0.5, -0.5)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    radius = style.space(1.5)
    if action.look != "cover":
        framed = action.look in ("button", "primary")
        ground = theme.accent if action.look == "primary" else theme.raised if framed else theme.background
        share = 0.16 if down else 0.08 if over else 0.0
        painter.setPen(theme.border if framed else Qt.PenStyle.NoPen)
        painter.setBrush(mix(ground, theme.text, share) if framed or share else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, radius, radius)
        painter.setFont(style.small)
        idle = theme.text if framed or over else theme.muted
        painter.setPen(theme.on_accent if action.look == "primary" else idle)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, action.label)
    if focus:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.accent, 2))
        painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), radius, radius)


def ring(painter: QPainter, frame: QRect, style: Style) -> None:
    """The outline of the row under the keyboard."""
    reach = style.space(2)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(style.theme.accent, 2))
    painter.drawRoundedRect(
        QRectF(frame).adjusted(-reach, -reach, reach, reach), style.space(3), style.space(3)
    )


def button_width(action: Action, style: Style) -> int:
    """How wide an action is, in pixels."""
    framed = action.look in ("button", "primary")
    return style.small_width(action.label) + style.space(6 if framed else 4)


def _stroke(painter: QPainter, path: QPainterPath, colour: QColor, width: float) -> None:
    pen = QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen)
    painter.drawPath(path)
