"""What a conversation shows, row by row, and how stored rows become these; knows no Qt."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

_keys = itertools.count(1)


@dataclass(slots=True, kw_only=True)
class Row:
    """What all rows share. `version` grows with every change, `live` means more is coming."""

    id: str = ""
    time: float = 0.0
    live: bool = False
    open: bool = False
    version: int = 0
    key: int = field(default_factory=_keys.__next__)


@dataclass(slots=True, kw_only=True)
class UserRow(Row):
    """What the user said; `open` shows all of a long text."""

    text: str
    source: str = ""


@dataclass(slots=True, kw_only=True)
class AssistantRow(Row):
    """What the model answered; `partial` when the turn was cut off. Of an answer that was spoken and
    interrupted the first `heard` characters were heard; None where that is not so."""

    text: str = ""
    partial: bool = False
    stop_reason: str = ""
    heard: int | None = None


@dataclass(slots=True, kw_only=True)
class ThinkingRow(Row):
    """What the model thought first."""

    text: str = ""
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class ToolRow(Row):
    """One tool call. `status` is waiting, running, ok, failed, denied or unknown; `text` is the result."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    status: str = "running"
    failure: str = ""
    summary: str = ""
    log: str = ""
    text: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    risk: str = "low"

    @property
    def change(self) -> str:
        """The change that can be undone, or an empty string."""
        return str(self.details.get("change") or "")

    @property
    def undone(self) -> bool:
        """Whether its change was taken back."""
        return bool(self.details.get("undone"))


@dataclass(slots=True, kw_only=True)
class NoticeRow(Row):
    """Something the program has to say; `level` is quiet, stopped or error."""

    code: str
    fields: dict[str, Any] = field(default_factory=dict)
    level: str = "quiet"


@dataclass(slots=True, kw_only=True)
class ActivityRow(Row):
    """The agent works and does not say anything now; always the last row. `note` is what the state is about:
    the tool whose call is being written, or the service that is asked again after `seconds`."""

    state: str = ""
    progress: float = 0.0
    note: str = ""
    seconds: float = 0.0


AnyRow = UserRow | AssistantRow | ThinkingRow | ToolRow | NoticeRow | ActivityRow

_STOPPED = ("turn_interrupted", "turn_cancelled", "turn_iterations", "turn_budget", "turn_stopped")
_QUIET = (
    *(
        "agent_told",
        "history_shortened",
        "history_retold",
        "fallback_taken",
        "change_undone",
        "journal_damaged",
    ),
    *("content_left_out", "thinking_left_out", "tools_left_out", "cap_near"),
)


def stored(rows: Iterable[dict[str, Any]]) -> list[AnyRow]:
    """The rows to draw for a session's `rows()`; an unknown kind gives none."""
    made: list[AnyRow] = []
    for row in rows:
        kind = row.get("kind")
        if kind == "user":
            said = UserRow(id=row["id"], text=row["text"], source=row.get("source", ""), time=row["time"])
            made.append(said)
        elif kind == "assistant":
            made += _stored_answer(row)
        elif kind == "tool":
            made.append(_stored_tool(row))
        elif kind == "notice":
            made.append(notice(row["code"], dict(row.get("fields") or {}), float(row.get("time") or 0)))
    return made


def _stored_answer(row: dict[str, Any]) -> list[AnyRow]:
    made: list[AnyRow] = []
    if reasoning := row.get("reasoning"):
        seconds = float(row.get("thinking_seconds") or 0)
        made.append(ThinkingRow(text=reasoning, seconds=seconds, time=row["time"]))
    if text := row.get("text"):
        answer = AssistantRow(id=row["id"], text=text, partial=bool(row.get("partial")), time=row["time"])
        answer.stop_reason, answer.heard = row.get("stop_reason") or "", row.get("heard")
        made.append(answer)
    return made


def _stored_tool(row: dict[str, Any]) -> ToolRow:
    return ToolRow(
        id=row["id"],
        name=row["name"],
        arguments=dict(row.get("arguments") or {}),
        status=row.get("status", "ok"),
        failure=row.get("failure") or "",
        text=row.get("text") or "",
        details=dict(row.get("details") or {}),
        seconds=float(row.get("seconds") or 0),
        risk=row.get("risk") or "low",
        time=float(row.get("time") or 0),
    )


def notice(code: str, fields: dict[str, Any], time: float) -> NoticeRow:
    """A notice, its level told from its code."""
    level = "stopped" if code in _STOPPED else "quiet" if code in _QUIET else "error"
    return NoticeRow(code=code, fields=fields, level=level, time=time)
