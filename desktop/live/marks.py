"""What is drawn over the picture: the agent's pointer, where it clicked and dragged, what it typed."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, hypot

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from desktop.live.action_log import tone
from desktop.live.geometry import Fit
from desktop.live.wording import verdict_sign
from desktop.theme import Theme
from runtime.computer_events import ActionSeen

RING = 1.1
BADGE = 2.6
"""Seconds for which a ring, and a badge with words, can be seen."""
GLIDE = 0.07
"""Seconds in which the pointer does two thirds of the way that is left."""
LETTERS = 48
MANY = 12

_CLICKS = ("click", "mouse_down", "mouse_up")
_ARROW = ((0, 0), (0, 17), (4, 13.4), (6.6, 19.4), (9.2, 18.3), (6.6, 12.4), (12, 12.2))


@dataclass(slots=True)
class Mark:
    """One action in the picture. Points are pixels of the screen, times seconds of the caller's clock."""

    action: str
    summary: str
    trail: list[tuple[int, int]]
    began: float
    ended: float = 0.0
    verdict: str = ""

    @property
    def until(self) -> float:
        """When it cannot be seen any more; far away while it is being done."""
        return self.ended + BADGE if self.ended else float("inf")


class Marks:
    """Main thread only. `still` turns the movements off, for those who do not want any."""

    def __init__(self, still: bool = False) -> None:
        self.still = still
        self._marks: dict[int, Mark] = {}
        self._target: tuple[int, int] | None = None
        self._at: tuple[float, float] | None = None
        self._moved = 0.0

    def see(self, seen: ActionSeen, now: float) -> None:
        """An action begins or ends."""
        mark = self._marks.get(seen.id)
        if mark is None:
            start = [self._target] if self._target and "drag" in seen.action else []
            mark = self._marks[seen.id] = Mark(seen.action, seen.summary, start, now)
            while len(self._marks) > MANY:
                self._marks.pop(next(iter(self._marks)))
        if seen.point is not None and seen.point not in mark.trail[-1:]:
            mark.trail.append(seen.point)
        if seen.phase == "ended":
            mark.ended, mark.verdict = now, seen.verdict
            if seen.point is not None:
                self.point_at(seen.point, now)

    def point_at(self, point: tuple[int, int], now: float) -> None:
        """The pointer is at a pixel of the screen."""
        if self._at is None or self.still:
            self._at = (float(point[0]), float(point[1]))
        if self._target != point:
            self._target, self._moved = point, now
            for mark in self._marks.values():
                if not mark.ended and "drag" in mark.action:
                    mark.trail.append(point)

    def clear(self) -> None:
        """Nothing is shown; the pointer is nowhere."""
        self._marks.clear()
        self._target = self._at = None

    def step(self, now: float, seconds: float) -> bool:
        """Let `seconds` pass; whether anything still moves or fades."""
        for number in [number for number, mark in self._marks.items() if mark.until <= now]:
            del self._marks[number]
        if self._at is not None and self._target is not None:
            share = 1 - exp(-max(0.0, seconds) / GLIDE)
            gap = (self._target[0] - self._at[0], self._target[1] - self._at[1])
            near = hypot(*gap) < 0.7
            self._at = (
                (float(self._target[0]), float(self._target[1]))
                if near
                else (self._at[0] + gap[0] * share, self._at[1] + gap[1] * share)
            )
            if not near:
                return True
        return any(mark.ended for mark in self._marks.values())

    # --- drawing --------------------------------------------------------------------------------------

    def places(self, fit: Fit, metrics: QFontMetricsF) -> list[QRect]:
        """Where in the viewport something is drawn now."""
        found = [self._ring_place(fit, mark) for mark in self._marks.values()]
        found += [
            box.adjusted(-4, -4, 4, 4)
            for mark in self._worded()
            if (box := self._badge_place(fit, mark, metrics))
        ]
        if self._at is not None:
            tip = fit.to_view(*self._at)
            found.append(QRectF(tip.x() - 3, tip.y() - 3, 22, 28))
        return [rect.toAlignedRect() for rect in found]

    def draw(self, painter: QPainter, fit: Fit, theme: Theme, now: float, pointer: bool = True) -> None:
        """Draw everything in units of the window; the pointer on top where it is the agent's."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for mark in self._marks.values():
            ink = tone(theme, mark.verdict, theme.accent)
            painter.setOpacity(_left(now, mark, RING))
            self._draw_trail(painter, fit, mark, ink)
            self._draw_ring(painter, fit, mark, ink, now)
        metrics = QFontMetricsF(painter.font())
        for mark in self._worded():
            if box := self._badge_place(fit, mark, metrics):
                painter.setOpacity(_left(now, mark, BADGE))
                _draw_badge(painter, box, _words(mark), theme, tone(theme, mark.verdict, theme.accent))
        painter.setOpacity(1.0)
        if pointer and self._at is not None:
            _draw_pointer(painter, fit.to_view(*self._at), theme)

    def _worded(self) -> list[Mark]:
        """The marks whose words are shown: only the newest, over which no other lies."""
        return list(self._marks.values())[-1:]

    def _draw_trail(self, painter: QPainter, fit: Fit, mark: Mark, colour: QColor) -> None:
        if len(mark.trail) > 1:
            line = QPolygonF([fit.to_view(*point) for point in mark.trail])
            for ink, width in ((QColor("white"), 5.0), (colour, 2.5)):
                painter.setPen(QPen(ink, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
                painter.drawPolyline(line)

    def _draw_ring(self, painter: QPainter, fit: Fit, mark: Mark, colour: QColor, now: float) -> None:
        if not mark.trail or not any(word in mark.action for word in _CLICKS):
            return
        age = min(1.0, (now - mark.began) / RING) if not self.still else 0.5
        rings = 3 if "triple" in mark.action else 2 if "double" in mark.action else 1
        middle = fit.to_view(*mark.trail[-1])
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for ring in range(rings):
            side = 7 + 5 * ring + 8 * age
            for ink, width in ((QColor("white"), 4.5), (colour, 2.2)):
                painter.setPen(QPen(ink, width))
                painter.drawEllipse(middle, side, side)

    def _ring_place(self, fit: Fit, mark: Mark) -> QRectF:
        if not mark.trail:
            return QRectF()
        points = [fit.to_view(*point) for point in mark.trail]
        left, right = min(p.x() for p in points), max(p.x() for p in points)
        top, bottom = min(p.y() for p in points), max(p.y() for p in points)
        return QRectF(left - 32, top - 32, right - left + 64, bottom - top + 64)

    def _badge_place(self, fit: Fit, mark: Mark, metrics: QFontMetricsF) -> QRectF | None:
        words = _words(mark)
        if not words:
            return None
        wide, high = metrics.horizontalAdvance(words) + 16, metrics.height() + 8
        picture = QRectF(
            fit.left / fit.ratio, fit.top / fit.ratio, fit.width / fit.ratio, fit.height / fit.ratio
        )
        where = mark.trail[-1] if mark.trail else self._target
        at = fit.to_view(*where) if where else QPointF(picture.center().x(), picture.bottom() - high - 30)
        left = min(max(at.x() + 16, picture.left() + 4), picture.right() - wide - 4)
        top = at.y() + 22 if at.y() + 22 + high < picture.bottom() else at.y() - high - 14
        return QRectF(left, top, wide, high)


def _words(mark: Mark) -> str:
    words = " ".join(mark.summary.split())
    shown = words if len(words) <= LETTERS else words[: LETTERS - 1] + "…"
    if not verdict_sign(mark.verdict):
        return shown
    return f"{verdict_sign(mark.verdict)} · {shown}"


def _left(now: float, mark: Mark, seconds: float) -> float:
    """How much of a mark's strength is left, 0–1: whole while it is being done, then fading at the end."""
    if not mark.ended:
        return 1.0
    return min(1.0, max(0.0, 2.0 * (1.0 - (now - mark.ended) / seconds)))


def _draw_badge(painter: QPainter, box: QRectF, words: str, theme: Theme, colour: QColor) -> None:
    painter.setPen(QPen(colour, 1.5))
    painter.setBrush(theme.raised)
    painter.drawRoundedRect(box, 7, 7)
    painter.setPen(theme.text)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)


def _draw_pointer(painter: QPainter, tip: QPointF, theme: Theme) -> None:
    arrow = QPainterPath()
    arrow.addPolygon(QPolygonF([QPointF(x, y) for x, y in _ARROW]))
    arrow.closeSubpath()
    painter.translate(tip)
    painter.setPen(QPen(QColor("white"), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.setBrush(QColor("#0f6872") if not theme.dark else QColor("#0b7f8b"))
    painter.drawPath(arrow)
    painter.translate(-tip)
