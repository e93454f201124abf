"""Stored rows to show, and what to ask of the rows shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from desktop.chat.view import ChatView

Row = dict[str, Any]
Send = Callable[..., None]


def user(text: str, number: int = 1) -> Row:
    """A stored message of the user."""
    return {"kind": "user", "id": f"u{number}", "text": text, "time": 1.0, "source": "window"}


def answer(text: str, number: int = 1, **more: Any) -> Row:
    """A stored answer."""
    row: Row = {"kind": "assistant", "id": f"a{number}", "text": text, "reasoning": "", "thinking_seconds": 0}
    return row | {"partial": False, "stop_reason": "stop", "time": 1.0} | more


def tool(**more: Any) -> Row:
    """A stored tool call."""
    row: Row = {"kind": "tool", "id": "t1", "name": "write_file", "arguments": {"path": "notes/a.md"}}
    return (
        row | {"status": "ok", "failure": "", "text": "", "details": {}, "seconds": 1.0, "risk": "low"} | more
    )


def shown(view: ChatView, index: int) -> str:
    """The text that is to be seen in a row, as rendered."""
    pieces = view.canvas.layout_of(index).pieces
    return "\n".join(piece.ready().toPlainText() for piece in pieces)


def actions(view: ChatView, index: int) -> list[str]:
    """The names of what can be done on a row."""
    return [action.name for action in view.canvas.layout_of(index).actions]
