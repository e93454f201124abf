"""Heights and layouts of all rows at one width; knows which rows were seen, but no scroll bar."""

from __future__ import annotations

from collections import OrderedDict

from desktop.chat.heights import Heights
from desktop.chat.layout import RowLayout, estimates
from desktop.chat.pieces import Documents
from desktop.chat.rows import ActivityRow, AnyRow
from desktop.chat.style import Style
from desktop.chat.transcript import Transcript

_LAYOUTS = 160
_EVERYTHING = 1 << 30
_WHOLE = 40
"""Rows of at most so many pieces are measured as a whole, so that they do not grow once seen."""


class Column:
    """The rows of `transcript`, one below the other. Layouts of rows long unseen are dropped."""

    def __init__(self, transcript: Transcript, style: Style, documents: Documents) -> None:
        self.transcript, self.style, self.documents = transcript, style, documents
        self.width = 400
        self.heights = Heights()
        self.kept: set[int] = set()
        self._keys: list[int] = []
        self._where: dict[int, int] = {}
        self._layouts: OrderedDict[int, RowLayout] = OrderedDict()
        self._last_key = 0

    def __len__(self) -> int:
        return len(self._keys)

    def index_of(self, key: int) -> int:
        """Which row has this key, -1 for none."""
        return self._where.get(key, -1)

    def reset(self, style: Style, width: int) -> None:
        """Start anew from the rows as they are. Where only colours changed, all heights still hold."""
        for layout in self._layouts.values():
            layout.release()
        self._layouts.clear()
        self.documents.clear()
        keys = [row.key for row in self.transcript.rows]
        fits = keys == self._keys and width == self.width and style.measures == self.style.measures
        self.style, self.width = style, width
        if fits:
            return
        self._keys = keys
        self._where = {key: index for index, key in enumerate(keys)}
        self._last_key = self._last()
        self._guess()

    def resize(self, width: int) -> None:
        """Lay everything out for another width."""
        if width == self.width:
            return
        self.width = width
        for layout in self._layouts.values():
            layout.width = width
            layout.stack()
        self._guess()

    def follow(self) -> None:
        """Take over rows that were added or removed at the end."""
        rows = self.transcript.rows
        while self._keys and (len(self._keys) > len(rows) or rows[len(self._keys) - 1].key != self._keys[-1]):
            key = self._keys.pop()
            self._where.pop(key)
            self.heights.pop()
            if gone := self._layouts.pop(key, None):
                gone.release()
        for row in rows[len(self._keys) :]:
            self._where[row.key] = len(self._keys)
            self._keys.append(row.key)
            self.heights.append(estimates([row], self.style, self.width)[0])

    def refresh(self, rows: dict[int, AnyRow]) -> None:
        """Lay out rows whose content changed; the last row with something to say changes with its place."""
        last = self._last()
        changed = set(rows)
        if last != self._last_key:
            changed |= {last, self._last_key}
            self._last_key = last
        for key in changed:
            layout = self._layouts.get(key)
            if layout is not None:
                layout.sync(last=key == last)
                self.heights.set(self._where[key], layout.height)

    def layout_of(self, index: int) -> RowLayout:
        """The layout of a row, made if need be."""
        key = self._keys[index]
        layout = self._layouts.get(key)
        if layout is None:
            row = self.transcript.rows[index]
            layout = RowLayout(row, self.style, self.documents, self.width, last=key == self._last_key)
            self._layouts[key] = layout
            if len(self._layouts) > _LAYOUTS:
                self._drop()
        self._layouts.move_to_end(key)
        return layout

    def measure(self, y: int, height: int) -> tuple[int, bool]:
        """Measure what lies in the window of `height` at `y`.

        Returns how far the window must move to show the same, and whether anything changed at all.
        """
        shift, changed = 0, False
        index = self.heights.at(y)
        top = self.heights.top(index)
        while index < len(self._keys) and top < y + shift + height:
            fresh = self._keys[index] not in self._layouts
            layout = self.layout_of(index)
            if fresh and len(layout.pieces) <= _WHOLE:
                layout.ensure(0, _EVERYTHING)
            above = layout.ensure(y + shift - top, y + shift - top + height)
            change = self.heights.set(index, layout.height)
            changed = changed or change != 0
            if top < y + shift:
                shift += change if fresh else above
            top += layout.height
            index += 1
        return shift, changed

    def _guess(self) -> None:
        self.heights = Heights(estimates(self.transcript.rows, self.style, self.width))
        for key, layout in self._layouts.items():
            self.heights.set(self._where[key], layout.height)

    def _drop(self) -> None:
        for key in list(self._layouts)[: len(self._layouts) - _LAYOUTS]:
            if self._where.get(key) not in self.kept:
                self._layouts.pop(key).release()

    def _last(self) -> int:
        rows = reversed(self.transcript.rows)
        return next((row.key for row in rows if not isinstance(row, ActivityRow)), 0)
