"""The tray icon and the notifications, on platforms that have them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon, QWidget

from resources.translation import _


class Tray(QObject):
    """Silent where the desktop has no tray. `show_requested` brings the window to the front."""

    show_requested = Signal()
    new_requested = Signal()
    quit_requested = Signal()

    def __init__(self, icon: QIcon, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._icon: QSystemTrayIcon | None = None
        if not QSystemTrayIcon.isSystemTrayAvailable():
            return
        self._icon = QSystemTrayIcon(icon, self)
        self._icon.setToolTip("Orion Desktop")
        self._menu = QMenu(window)
        self._menu.addAction(_("Show Orion"), self.show_requested.emit)
        self._menu.addAction(_("New chat"), self.new_requested.emit)
        self._menu.addSeparator()
        self._menu.addAction(_("Quit"), self.quit_requested.emit)
        self._icon.setContextMenu(self._menu)
        self._icon.activated.connect(self._on_activated)
        self._icon.messageClicked.connect(self.show_requested)
        self._icon.show()

    @property
    def there(self) -> bool:
        return self._icon is not None

    def notify(self, title: str, text: str) -> bool:
        """Notify when the window is not in front; False when nothing was shown. The taskbar entry of the
        window asks for attention either way."""
        if self._window.isActiveWindow():
            return False
        from PySide6.QtWidgets import QApplication

        QApplication.alert(self._window)
        if self._icon is None or not QSystemTrayIcon.supportsMessages():
            return False
        self._icon.showMessage(title, text[:200], self._icon.icon())
        return True

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self.show_requested.emit()
