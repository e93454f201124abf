"""Enters into the computer's audit log what is no action on the screen, such as commands and the wheel."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from runtime.errors import OrionError
from runtime.messages import JsonObject

if TYPE_CHECKING:
    from sandbox.audit import AuditLog

FILE = "computer_use_log.jsonl"


class ComputerAudit:
    """The log in `folder`, which is opened at its first use. Used from one loop; needs no closing."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._log: AuditLog | None = None

    @property
    def log(self) -> AuditLog:
        """The log itself, for actions on the screen."""
        if self._log is None:
            from sandbox.audit import AuditLog

            self._log = AuditLog(self._path)
        return self._log

    async def enter(
        self,
        who: Literal["agent", "user", "program"],
        action: str,
        arguments: JsonObject,
        *,
        session: str = "",
        call: str = "",
    ) -> None:
        """Append a record; durable on return. Raises OrionError `audit_unwritable` (path, reason)."""
        record = {"who": who, "session": session, "call": call, "action": action, "arguments": arguments}
        try:
            await asyncio.to_thread(self.log.append, record | {"verdict": "", "picture": ""})
        except (OSError, ValueError) as error:  # ValueError: the log is damaged, and is not gone on with
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise OrionError("audit_unwritable", path=str(self._path), reason=reason) from error
