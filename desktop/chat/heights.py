"""Where each row lies: heights with prefix sums that change in logarithmic time."""

from __future__ import annotations

from collections.abc import Sequence


class Heights:
    """Row heights in pixels, all at least 1. Rows count from 0, `top` of row n is the sum of the n before."""

    def __init__(self, heights: Sequence[int] = ()) -> None:
        self._values = list(heights)
        self._tree = [0, *self._values]
        for at in range(1, len(self._tree)):
            above = at + (at & -at)
            if above < len(self._tree):
                self._tree[above] += self._tree[at]

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, row: int) -> int:
        return self._values[row]

    @property
    def total(self) -> int:
        """Height of everything."""
        return self.top(len(self._values))

    def top(self, row: int) -> int:
        """Distance of the top of `row` from the top of the first row."""
        total = 0
        while row > 0:
            total += self._tree[row]
            row -= row & -row
        return total

    def set(self, row: int, height: int) -> int:
        """Change one height; returns by how much."""
        change = height - self._values[row]
        if change:
            self._values[row] = height
            at = row + 1
            while at < len(self._tree):
                self._tree[at] += change
                at += at & -at
        return change

    def append(self, height: int) -> None:
        """Add a row at the end."""
        at = len(self._tree)
        below = self.top(at - 1) - self.top(at - (at & -at))
        self._values.append(height)
        self._tree.append(below + height)

    def pop(self) -> None:
        """Remove the last row."""
        self._values.pop()
        self._tree.pop()

    def at(self, y: int) -> int:
        """The row that covers `y`; the first or last one when `y` lies outside."""
        row, step = 0, 1 << len(self._values).bit_length()
        while step:
            following = row + step
            if following < len(self._tree) and self._tree[following] <= y:
                row, y = following, y - self._tree[following]
            step >>= 1
        return max(0, min(row, len(self._values) - 1))
