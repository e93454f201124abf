"""One window per home: a second start raises the first and ends."""

from __future__ import annotations

import hashlib
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

_WORD = b"raise\n"
_PATIENCE_MS = 1000


class Instance(QObject):
    """Holds `window.lock` in the home and listens for later starts. `raise_requested` fires for each."""

    raise_requested = Signal()

    def __init__(self, home: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = "orion-" + hashlib.sha256(str(home).encode("utf-8", "surrogateescape")).hexdigest()[:20]
        self._lock = QLockFile(str(home / "window.lock"))
        self._lock.setStaleLockTime(0)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def claim(self) -> bool:
        """True when this process is the home's window. False when another is: it has been asked to show
        itself. A home that cannot hold a lock (read-only) is claimed without one."""
        if not self._lock.tryLock(0) and self._lock.error() == QLockFile.LockError.LockFailedError:
            return not self._wake_other()
        QLocalServer.removeServer(self._name)
        self._server.listen(self._name)
        return True

    def release(self) -> None:
        """Let the next start be the window; idempotent."""
        self._server.close()
        self._lock.unlock()

    def _wake_other(self) -> bool:
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(_PATIENCE_MS):
            return False
        socket.write(_WORD)
        socket.waitForBytesWritten(_PATIENCE_MS)
        socket.disconnectFromServer()
        return True

    def _on_connection(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.disconnected.connect(socket.deleteLater)
            self.raise_requested.emit()
