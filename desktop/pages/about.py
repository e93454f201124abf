"""The about page: what this program is, its version, its licence, and the way to diagnostics."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from desktop.bridge import Bridge
from desktop.desk import Desk
from desktop.icons import pixmap
from desktop.parts import button, label
from desktop.theme import spacing
from resources.translation import _


class AboutPage(QScrollArea):
    """Plain facts, selectable, so that they can be copied into a report."""

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(_("About"))
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(spacing(6), spacing(8), spacing(6), spacing(8))
        column.setSpacing(spacing(3))
        column.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        picture = QLabel()
        picture.setPixmap(pixmap("orion", QColor(), 72, self.devicePixelRatioF()))
        picture.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(picture)
        for text, role in self._lines():
            made = label(text, role, wrap=True, selectable=True)
            made.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            made.setMaximumWidth(560)
            column.addWidget(made)
        self.copy = button(_("Copy diagnostics"), self.on_copy)
        self.copied = label("", "small", wrap=True)
        column.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.copied, 0, Qt.AlignmentFlag.AlignHCenter)
        self.setWidget(body)

    def on_copy(self) -> None:
        """Put a report without secrets on the clipboard."""
        self._bridge.ask(Desk.diagnostics).then(self._on_diagnostics)

    def _on_diagnostics(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.copied.setText(_("Copied. It holds versions, settings and the last log lines, no secrets."))

    @staticmethod
    def _lines() -> list[tuple[str, str]]:
        return [
            ("Orion Desktop", "title"),
            (_("Version {version}").format(version=program_version()), "muted"),
            (
                _(
                    "An AI agent of your own, on your own desktop. The model it starts with runs on this "
                    "machine; nothing leaves it unless you allow that by name."
                ),
                "",
            ),
            (_("MIT licence. Qt is used under the LGPL and linked dynamically."), "muted"),
            (
                f"Python {platform.python_version()} · Qt {qVersion()} · {platform.platform(terse=True)}",
                "small",
            ),
        ]


def program_version() -> str:
    """The installed version, or "unknown" when the program runs from a bare checkout."""
    try:
        return version("orion-desktop")
    except PackageNotFoundError:
        return _("unknown")
