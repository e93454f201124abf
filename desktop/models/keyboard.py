"""Keeps the keyboard on a page when what had it is hidden or goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtWidgets import QApplication, QWidget


@contextmanager
def keeping_keyboard(page: QWidget) -> Iterator[None]:
    """While this is entered, a change below `page` that takes the keyboard out of it gives it to `page`."""
    had = _has(page)
    yield
    if had and not _has(page):
        page.setFocus()


def _has(page: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and page.isAncestorOf(focused)
