"""Words typed and not yet sent, kept per session so that a crash costs none of them."""

from __future__ import annotations

import logging
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from desktop.window_state import write_atomically

_log = logging.getLogger("orion.desktop.drafts")
DELAY_MS = 400


class Drafts(QObject):
    """One file per session in `folder`, written whole at most every 400 ms. Main thread only."""

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self._pending: dict[str, str] = {}
        self._forgetful: set[str] = set()
        self._timer = QTimer(self)
        self._timer.setObjectName("drafts")
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self.flush)

    def keep_in_memory(self, session: str) -> None:
        """Never write this session's draft: it is private."""
        self._forgetful.add(session)

    def get(self, session: str) -> str:
        """The draft of `session`, "" where there is none."""
        if session in self._pending:
            return self._pending[session]
        try:
            return self._file(session).read_bytes().decode("utf-8", "surrogatepass")
        except (OSError, UnicodeDecodeError):
            return ""

    def put(self, session: str, text: str) -> None:
        """Remember `text` as the draft of `session`; an empty one deletes it."""
        self._pending[session] = text
        if session not in self._forgetful:
            self._timer.start()

    def flush(self) -> None:
        """Write what is pending now. A disk that refuses keeps the drafts in memory."""
        self._timer.stop()
        for session in [name for name in self._pending if name not in self._forgetful]:
            text = self._pending[session]
            try:
                if text:
                    self._folder.mkdir(parents=True, exist_ok=True)
                    write_atomically(self._file(session), text.encode("utf-8", "surrogatepass"))
                else:
                    self._file(session).unlink(missing_ok=True)
            except OSError as error:
                _log.warning("draft not saved: %s", error)
            else:
                del self._pending[session]

    def _file(self, session: str) -> Path:
        safe = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in session)
        return self._folder / f"{safe or 'new'}.txt"
