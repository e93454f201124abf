"""One window per home: a second start raises the first and ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLockFile, QObject, Signal

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer

_WORD = b"raise\n"
_PATIENCE_MS = 1000


class Instance(QObject):
    """Holds `window.lock` in the home and listens for later starts. `raise_requested` fires for each.

    QtNetwork is loaded by `listen` or when there is another window, so that the first frame need not wait.
    """

    raise_requested = Signal()

    def __init__(self, home: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._home = home
        self._lock = QLockFile(str(home / "window.lock"))
        self._lock.setStaleLockTime(0)
        self._server: QLocalServer | None = None

    def claim(self) -> bool:
        """True when this process is the home's window. False when another is: it has been asked to show
        itself. A home that cannot hold a lock (read-only) is claimed without one."""
        if not self._lock.tryLock(0) and self._lock.error() == QLockFile.LockError.LockFailedError:
            return not self._wake_other()
        return True

    def listen(self) -> None:
        """Hear of later starts from now on."""
        from PySide6.QtNetwork import QLocalServer

        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.newConnection.connect(self._on_connection)
        QLocalServer.removeServer(self._name())
        server.listen(self._name())
        self._server = server

    def release(self) -> None:
        """Let the next start be the window; idempotent."""
        if self._server is not None:
            self._server.close()
        self._lock.unlock()

    def _wake_other(self) -> bool:
        from PySide6.QtNetwork import QLocalSocket

        socket = QLocalSocket()
        socket.connectToServer(self._name())
        if not socket.waitForConnected(_PATIENCE_MS):
            return False
        socket.write(_WORD)
        socket.waitForBytesWritten(_PATIENCE_MS)
        socket.disconnectFromServer()
        return True

    def _name(self) -> str:
        import hashlib

        return "orion-" + hashlib.sha256(str(self._home).encode("utf-8", "surrogateescape")).hexdigest()[:20]

    def _on_connection(self) -> None:
        while self._server is not None and (socket := self._server.nextPendingConnection()) is not None:
            socket.disconnected.connect(socket.deleteLater)
            self.raise_requested.emit()
