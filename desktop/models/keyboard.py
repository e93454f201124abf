"""Keeps the keyboard on a page when what had it goes, and leads the Tab key through it as one reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLayout, QWidget


@contextmanager
def keeping_keyboard(page: QWidget) -> Iterator[None]:
    """While this is entered, a change below `page` that takes the keyboard out of it gives it to `page`."""
    had = _has(page)
    yield
    if had and not _has(page):
        page.setFocus()


def follow_layout(page: QWidget) -> None:
    """Let the Tab key go through what is laid out on `page` in the order of its layout."""
    layout = page.layout()
    for before, after in pairwise(_stops(layout) if layout is not None else ()):
        QWidget.setTabOrder(before, after)


def _stops(layout: QLayout) -> Iterator[QWidget]:
    for place in range(layout.count()):
        item = layout.itemAt(place)
        if item is None:
            continue
        widget, inner = item.widget(), item.layout()
        # one that can only be clicked now may be a stop later: in a row of words it is the chosen one
        if widget is not None and widget.focusPolicy() != Qt.FocusPolicy.NoFocus:
            yield widget
        if widget is not None:
            inner = widget.layout()
        if inner is not None:
            yield from _stops(inner)


def _has(page: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and page.isAncestorOf(focused)
