"""Rectangles that cover what changed, whatever changed."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.guest.rects import MOST, Rect, bounds, changed, joined, runs

WIDTH, HEIGHT = 200, 130
_PLACES = st.tuples(st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1))
_RECTS = st.builds(Rect, st.integers(-50, 250), st.integers(-50, 250), st.integers(1, 90), st.integers(1, 90))


@given(places=st.lists(_PLACES, max_size=40), within=_RECTS)
def test_what_differs_is_covered_and_nothing_beyond_the_part_is(
    places: list[tuple[int, int]], within: Rect
) -> None:
    part = within.within(WIDTH, HEIGHT)
    if part is None:
        return
    part = Rect(part.x - part.x % 32, part.y - part.y % 32, part.width, part.height)
    before = numpy.zeros((HEIGHT, WIDTH), numpy.uint32)
    now = before.copy()
    for x, y in places:
        now[y, x] = 1
    sent = before.copy()
    found = changed(before, now, part)
    for rect in found:
        assert rect.within(part.x + part.width, part.y + part.height) == rect
        rows = slice(rect.y, rect.y + rect.height), slice(rect.x, rect.x + rect.width)
        assert now[rows].any() or len(found) == 1
        sent[rows] = now[rows]
    rows = slice(part.y, part.y + part.height), slice(part.x, part.x + part.width)
    assert (sent[rows] == now[rows]).all()
    assert len(found) <= MOST


def test_equal_pictures_have_no_parts() -> None:
    same = numpy.ones((40, 40), numpy.uint32)
    assert changed(same, same.copy(), Rect(0, 0, 40, 40)) == []


def test_more_parts_than_a_frame_takes_become_one() -> None:
    tiles = numpy.indices((20, 20)).sum(axis=0) % 2
    now = tiles.repeat(32, axis=0).repeat(32, axis=1).astype(numpy.uint32)
    assert changed(numpy.zeros_like(now), now, Rect(0, 0, 640, 640)) == [Rect(0, 0, 640, 640)]


@given(cells=st.lists(st.lists(st.booleans(), min_size=7, max_size=7), min_size=1, max_size=9))
def test_runs_cover_exactly_the_true_cells_once(cells: list[list[bool]]) -> None:
    grid = numpy.array(cells)
    covered = numpy.zeros(grid.shape, int)
    for rect in runs(grid):
        covered[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width] += 1
    assert (covered == grid).all()


def test_equal_runs_below_one_another_are_one() -> None:
    grid = numpy.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]], bool)
    assert sorted(runs(grid), key=lambda rect: rect.y) == [Rect(0, 0, 2, 2), Rect(1, 2, 2, 1)]


@given(rects=st.lists(_RECTS, max_size=12))
def test_joined_rectangles_cover_all_and_overlap_nowhere(rects: list[Rect]) -> None:
    covered = numpy.zeros((400, 400), int)
    wanted = numpy.zeros((400, 400), bool)
    for rect in rects:
        wanted[rect.y + 50 : rect.y + 50 + rect.height, rect.x + 50 : rect.x + 50 + rect.width] = True
    for rect in joined(rects):
        covered[rect.y + 50 : rect.y + 50 + rect.height, rect.x + 50 : rect.x + 50 + rect.width] += 1
    assert covered.max(initial=0) <= 1
    assert (covered.astype(bool) | ~wanted).all()


@pytest.mark.parametrize(
    ("rect", "inside"),
    [
        (Rect(-5, -5, 10, 10), Rect(0, 0, 5, 5)),
        (Rect(90, 40, 20, 20), Rect(90, 40, 10, 10)),
        (Rect(100, 0, 5, 5), None),
        (Rect(0, -5, 5, 5), None),
    ],
)
def test_within_cuts_to_the_screen(rect: Rect, inside: Rect | None) -> None:
    assert rect.within(100, 50) == inside


def test_bounds() -> None:
    assert bounds([Rect(5, 6, 1, 1), Rect(0, 10, 2, 3)]) == Rect(0, 6, 6, 7)
