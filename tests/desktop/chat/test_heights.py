"""Prefix sums stay right while heights change, come and go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from desktop.chat.heights import Heights

SIZES = st.lists(st.integers(1, 500), min_size=1, max_size=40)


@given(SIZES, SIZES, st.data())
def test_tops_and_rows_agree_with_plain_sums(first: list[int], more: list[int], data: st.DataObject) -> None:
    heights, plain = Heights(first), list(first)
    for value in more:
        heights.append(value)
        plain.append(value)
    row = data.draw(st.integers(0, len(plain) - 1))
    assert heights.set(row, 7) == 7 - plain[row]
    plain[row] = 7
    heights.pop()
    plain.pop()
    assert [heights.top(n) for n in range(len(plain) + 1)] == [sum(plain[:n]) for n in range(len(plain) + 1)]
    assert heights.total == sum(plain)
    for n in range(len(plain)):
        assert heights.at(sum(plain[:n])) == n
        assert heights.at(sum(plain[: n + 1]) - 1) == n


def test_a_place_outside_is_the_nearest_row() -> None:
    heights = Heights([10, 10])
    assert heights.at(-5) == 0
    assert heights.at(500) == 1
