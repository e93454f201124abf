"""What is selected in the transcript, from one spot to another across rows, and the text it stands for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from desktop.chat import wording
from desktop.chat.layout import Range, RowLayout
from desktop.chat.rows import ActivityRow, AnyRow

END = 1 << 40


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A place in the transcript: row, piece of the row, UTF-16 position in the piece's document."""

    row: int
    piece: int
    position: int


@dataclass(slots=True)
class Selection:
    """Two spots; equal ones select nothing."""

    anchor: Spot = Spot(0, 0, 0)
    head: Spot = Spot(0, 0, 0)

    @property
    def empty(self) -> bool:
        """Whether nothing is selected."""
        return self.anchor == self.head

    @property
    def ends(self) -> tuple[Spot, Spot]:
        """The spots in reading order."""
        return (self.anchor, self.head) if self.anchor <= self.head else (self.head, self.anchor)

    def clear(self) -> None:
        """Select nothing."""
        self.anchor = self.head

    def everything(self, rows: int) -> None:
        """Select all `rows` rows."""
        self.anchor, self.head = Spot(0, 0, 0), Spot(max(0, rows - 1), END, END)

    def ranges(self, index: int, pieces: int) -> Range:
        """The selected positions of the pieces of row `index`."""
        first, last = self.ends
        if self.empty or not first.row <= index <= last.row:
            return {}
        found: Range = {}
        for piece in range(pieces):
            if Spot(index, piece, END) < first or Spot(index, piece, 0) > last:
                continue
            start = first.position if (first.row, first.piece) == (index, piece) else 0
            end = last.position if (last.row, last.piece) == (index, piece) else END
            found[piece] = (start, end)
        return found

    def text(self, rows: list[AnyRow], layout: Callable[[int], RowLayout]) -> str:
        """The selected text. Rows selected as a whole give their stored text; several rows name speakers."""
        first, last = self.ends
        if self.empty:
            return ""
        if first.row == last.row:
            whole = last.piece == END and (first.piece, first.position) == (0, 0)
            return wording.whole_text(rows[first.row]) if whole else _partial(self, first.row, layout)
        parts: list[str] = []
        for index in range(first.row, min(last.row, len(rows) - 1) + 1):
            row = rows[index]
            cut = (index == first.row and (first.piece, first.position) != (0, 0)) or (
                index == last.row and last.piece != END
            )
            text = _partial(self, index, layout) if cut else wording.whole_text(row)
            if text and not isinstance(row, ActivityRow):
                parts.append(f"{wording.speaker(row)}:\n{text}")
        return "\n\n".join(parts)


def _partial(selection: Selection, index: int, layout: Callable[[int], RowLayout]) -> str:
    pieces = layout(index).pieces
    text = ""
    for number, (start, end) in selection.ranges(index, len(pieces)).items():
        spec = pieces[number].spec
        if text:
            text += "" if spec.glued else "\n" if spec.follows else "\n\n"
        text += pieces[number].plain(start, None if end == END else end)
    return text
