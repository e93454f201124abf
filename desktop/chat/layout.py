"""Places the parts of one row in a column, measures what is seen of it and paints it."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter

from desktop.chat import draw
from desktop.chat.compose import Source, plan
from desktop.chat.pieces import Documents, Piece, Spec
from desktop.chat.plan import Action, Plan, Strip
from desktop.chat.rows import ActivityRow, AnyRow, AssistantRow, ThinkingRow, ToolRow, UserRow
from desktop.chat.style import Style
from desktop.theme import mix
from resources.translation import _

Range = dict[int, tuple[int, int]]
"""Selected document positions of a row, by piece."""


class RowLayout:
    """One row at one width. `height` is an estimate as long as pieces of it were never seen.

    Coordinates are the row's own: 0,0 is the left end of the reading column at the row's top.
    """

    def __init__(self, row: AnyRow, style: Style, documents: Documents, width: int, *, last: bool) -> None:
        self.row, self.style, self.documents, self.width = row, style, documents, width
        self.pieces: list[Piece] = []
        self.actions: list[Action] = []
        self.height = 0
        self.frame = QRect()
        self._strips: list[tuple[Strip, QRect]] = []
        self._source = Source()
        self._plan = Plan([])
        self.sync(last=last)

    def sync(self, *, last: bool) -> None:
        """Take over what changed in the row."""
        self.version, self.last = self.row.version, last
        self._plan = plan(self.row, self.style, self._source, last=last)
        wanted = [element.content for element in self._plan.elements if isinstance(element.content, Spec)]
        while len(self.pieces) > len(wanted):
            self.documents.forget(self.pieces.pop())
        for piece, spec in zip(self.pieces, wanted, strict=False):
            piece.update(spec)
        for spec in wanted[len(self.pieces) :]:
            self.pieces.append(Piece(spec, self.style, self.documents))
        self.stack()

    def release(self) -> None:
        """Drop all documents of this row."""
        for piece in self.pieces:
            self.documents.forget(piece)

    def stack(self) -> None:
        """Give every part its place from the heights known now."""
        space, frame = self.style.space, self._plan.frame
        side = {"bubble": space(4), "card": space(3), "alert": space(4)}.get(frame, 0)
        rise = {"bubble": space(3), "card": space(2), "alert": space(3)}.get(frame, 0)
        left, width = side, self.width - 2 * side
        if frame == "bubble":
            width = round(self.width * 0.86) - 2 * side
        y = self._plan.gap + rise
        top, bottom = self._plan.gap, 0
        self.actions, self._strips = [], []
        pieces = iter(self.pieces)
        used = 0
        placed: list[Piece] = []
        for element in self._plan.elements:
            if element.outside:
                if frame == "bubble":
                    self._fit_bubble(placed, used, width, side)
                bottom = bottom or y + rise
                y = bottom
            y += element.gap
            if isinstance(element.content, Spec):
                piece = next(pieces)
                piece.fit = element.fit
                piece.place(left + element.indent, width - element.indent)
                piece.y = y
                y += piece.height
                used = max(used, piece.used)
                placed.append(piece)
            else:
                outer = 0 if element.outside else left
                full = self.width if element.outside else width
                rect = QRect(outer + element.indent, y, full - element.indent, element.content.height)
                self._place_strip(element.content, rect)
                if element.content.actions and frame == "bubble" and not element.outside:
                    used = max(used, space(40))
                y += element.content.height
        bottom = bottom or y + rise
        self.height = max(y, bottom + self._plan.gap)
        if frame == "bubble":
            self.frame = QRect(self.width - used - 2 * side, top, used + 2 * side, bottom - top)
        else:
            self.frame = QRect(0, top, self.width, bottom - top)
        self._place_code_actions()

    def _fit_bubble(self, placed: list[Piece], used: int, width: int, side: int) -> None:
        for piece in placed:
            piece.x = self.width - side - used
        for strip, rect in self._strips:
            rect.moveLeft(self.width - side - used)
            self._spread(strip, rect)

    def _place_strip(self, strip: Strip, rect: QRect) -> None:
        self._strips.append((strip, rect))
        self.actions += strip.actions
        self._spread(strip, rect)

    def _spread(self, strip: Strip, rect: QRect) -> None:
        if strip.side == "fill":
            for action in strip.actions:
                action.rect = QRect(rect)
            return
        widths = [draw.button_width(action, self.style) for action in strip.actions]
        x = rect.left() if strip.side == "left" else rect.right() + 1 - sum(widths)
        if strip.side == "left" and strip.actions and strip.actions[0].look == "quiet":
            x -= self.style.space(2)
        for action, width in zip(strip.actions, widths, strict=True):
            action.rect = QRect(x, rect.top(), width, rect.height())
            x += width

    def _place_code_actions(self) -> None:
        for index, piece in enumerate(self.pieces):
            if piece.box and not piece.spec.follows:
                copy = Action("code", _("Copy"), data=str(index))
                width = draw.button_width(copy, self.style)
                right = piece.x + piece.width - self.style.space(1)
                copy.rect = QRect(right - width, piece.y + self.style.space(1), width, self.style.space(6.5))
                self.actions.append(copy)

    def ensure(self, top: int, bottom: int) -> int:
        """Measure what lies between `top` and `bottom`; returns by how much parts above `top` grew."""
        above = 0
        for _round in range(12):
            changed, shift = False, 0
            for piece in self.pieces:
                if piece.y > bottom:
                    break
                if piece.y + piece.height < top:
                    continue
                before = (piece.height, piece.used)
                piece.measure()
                if (piece.height, piece.used) != before:
                    changed = True
                    shift += piece.height - before[0] if piece.y < top else 0
            if not changed:
                break
            self.stack()
            above, top, bottom = above + shift, top + shift, bottom + shift
        return above

    def code(self, index: int) -> str:
        """The whole code block that begins with piece `index`."""
        text = self.pieces[index].spec.text
        for piece in self.pieces[index + 1 :]:
            if not (piece.spec.follows and piece.spec.kind == "code"):
                break
            text += ("" if piece.spec.glued else "\n") + piece.spec.text
        return text

    def paint(self, painter: QPainter, clip: QRectF, selected: Range, *, hot: bool, phase: float) -> None:
        """Draw what of the row lies in `clip`."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_frame(painter)
        for index, piece in enumerate(self.pieces):
            if piece.y + piece.height >= clip.top() and piece.y <= clip.bottom():
                piece.paint(painter, clip, selected.get(index))
        for strip, rect in self._strips:
            if strip.paint and rect.bottom() >= clip.top() and rect.top() <= clip.bottom():
                painter.save()
                strip.paint(painter, rect, phase)
                painter.restore()
        if not hot:
            for action in self.actions:
                if not action.hidden and action.look != "cover":
                    draw.button(painter, action, self.style)
        if isinstance(self.row, AssistantRow) and self.row.live:
            self._paint_caret(painter, phase)

    def animated(self) -> bool:
        """Whether the row changes with the pulse."""
        return self.row.live and isinstance(self.row, AssistantRow | ThinkingRow | ToolRow | ActivityRow)

    def _paint_frame(self, painter: QPainter) -> None:
        theme, space = self.style.theme, self.style.space
        box = QRectF(self.frame).adjusted(0.5, 0.5, -0.5, -0.5)
        match self._plan.frame:
            case "bubble":
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(mix(theme.surface, theme.accent, 0.08 if theme.dark else 0.07))
                painter.drawRoundedRect(box, space(3.5), space(3.5))
            case "card":
                painter.setPen(theme.border)
                painter.setBrush(theme.surface)
                painter.drawRoundedRect(box, space(2.5), space(2.5))
            case "alert":
                painter.setPen(mix(theme.background, theme.danger, 0.45))
                painter.setBrush(mix(theme.background, theme.danger, 0.08))
                painter.drawRoundedRect(box, space(2.5), space(2.5))
            case "bar":
                start = self.pieces[0].y if self.pieces else 0
                line = QRectF(space(2) - 1, start, max(2, space(0.5)), self.frame.bottom() - start)
                painter.fillRect(line, theme.border)

    def _paint_caret(self, painter: QPainter, phase: float) -> None:
        if not self.pieces or self.pieces[-1].document is None:
            return
        piece = self.pieces[-1]
        end = piece.caret(piece.ready().characterCount() - 1)
        size = self.style.space(2.2)
        colour = self.style.theme.accent
        painter.setOpacity(0.35 + 0.65 * abs(1 - 2 * phase))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawEllipse(
            QRectF(end.right() + self.style.space(1), end.center().y() - size / 2, size, size)
        )
        painter.setOpacity(1)


def estimates(rows: Iterable[AnyRow], style: Style, width: int) -> list[int]:
    """A guess of each row's height without looking at more than the length of its text; called for whole
    conversations at once."""
    around, tool, other = style.space(18), style.space(24), style.space(12)
    line, per_letter = style.line, style.line * style.letter / width
    made: list[int] = []
    for row in rows:
        if isinstance(row, (UserRow, AssistantRow)):
            text = row.text
            size = len(text)
            if size > 4000 and isinstance(row, UserRow) and not row.open:
                size = 4000
            made.append(int(size * per_letter + (text.count("\n", 0, 2000) + 1) * line) + around)
        else:
            made.append(tool if isinstance(row, ToolRow) else other)
    return made
