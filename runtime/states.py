"""The states of a turn and the moves between them that are legal.

COMPILING goes back to THINKING only when another model takes over an answer that broke off.
"""

from __future__ import annotations

from collections.abc import Callable

from runtime.errors import OrionError
from runtime.events import State, StateChange

LEGAL: dict[State, frozenset[State]] = {
    "IDLE": frozenset({"PLANNING", "THINKING"}),
    "PLANNING": frozenset({"THINKING", "PAUSED", "IDLE"}),
    "THINKING": frozenset({"COMPILING", "TOOL_CALLING", "PAUSED", "IDLE"}),
    "COMPILING": frozenset({"THINKING", "TOOL_CALLING", "PAUSED", "IDLE"}),
    "TOOL_CALLING": frozenset({"OBSERVING", "PAUSED", "IDLE"}),
    "OBSERVING": frozenset({"THINKING", "PLANNING", "PAUSED", "IDLE"}),
    "PAUSED": frozenset({"IDLE"}),
}


class StateMachine:
    """One session's state. PAUSED goes back only to the state it interrupted, or to IDLE."""

    def __init__(self, emit: Callable[[StateChange], None]) -> None:
        self._emit = emit
        self._interrupted: State = "IDLE"
        self.state: State = "IDLE"

    def to(self, new: State) -> None:
        """Move to `new`; staying put is no move. Raises OrionError `illegal_transition` (a bug)."""
        old = self.state
        if new == old:
            return
        back = old == "PAUSED" and new == self._interrupted
        if new not in LEGAL[old] and not back:
            raise OrionError("illegal_transition", fault="bug", old=old, new=new)
        if new == "PAUSED":
            self._interrupted = old
        self.state = new
        self._emit(StateChange(old, new))

    def back(self) -> None:
        """Leave PAUSED for the state it interrupted."""
        if self.state == "PAUSED":
            self.to(self._interrupted)
