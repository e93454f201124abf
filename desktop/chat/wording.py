"""The words of the transcript: names, states, times and the text of each row."""

from __future__ import annotations

import json
from typing import Any

from desktop.chat.rows import (
    ActivityRow,
    AnyRow,
    AssistantRow,
    NoticeRow,
    ThinkingRow,
    ToolRow,
    UserRow,
)
from resources.sentences import sentence
from resources.translation import _

_TELLING = ("path", "file", "command", "query", "url", "expression", "text", "name", "title")


def duration(seconds: float) -> str:
    """A length of time for people."""
    if seconds < 0.95:
        return _("under a second")
    if seconds < 9.95:
        return _("{seconds} s").format(seconds=f"{seconds:.1f}".removesuffix(".0"))
    if seconds < 60:
        return _("{seconds} s").format(seconds=round(seconds))
    minutes, rest = divmod(round(seconds), 60)
    return _("{minutes} min {seconds} s").format(minutes=minutes, seconds=rest)


def tool_title(row: ToolRow) -> str:
    """The tool's name in words."""
    return row.name.replace("__", " ").replace("_", " ").strip().capitalize() or _("Tool")


def tool_summary(row: ToolRow) -> str:
    """What the call is about, on one line."""
    telling = [
        row.arguments[name] for name in _TELLING if isinstance(row.arguments.get(name), str | int | float)
    ]
    if telling:
        return " ".join(str(telling[0]).split())[:200]
    if row.summary:
        return " ".join(row.summary.split())[:200]
    pairs = [
        f"{name}: {value}" for name, value in row.arguments.items() if isinstance(value, str | int | float)
    ]
    return " ".join(", ".join(pairs).split())[:200]


def tool_status(row: ToolRow) -> str:
    """The state of a call in a word or two."""
    if row.undone:
        return _("Undone")
    words = {
        "waiting": _("Waiting for you"),
        "running": _("Running"),
        "ok": _("Done"),
        "failed": _("Failed"),
        "denied": _("Denied"),
        "unknown": _("Outcome unknown"),
    }
    if row.status == "failed" and row.failure in ("timeout", "cancelled"):
        return _("Timed out") if row.failure == "timeout" else _("Cancelled")
    return words.get(row.status, row.status)


def arguments(values: dict[str, Any]) -> tuple[str, str]:
    """Arguments as readable text and the language to colour it in."""
    simple = all(isinstance(value, str | int | float | bool) or value is None for value in values.values())
    if simple and all("\n" not in str(value) for value in values.values()):
        return "\n".join(f"{name}: {value}" for name, value in values.items()), "yaml"
    if simple:
        return "\n\n".join(f"{name}:\n{value}" for name, value in values.items()), ""
    return json.dumps(values, indent=2, ensure_ascii=False), "json"


def thinking(row: ThinkingRow) -> str:
    """The one line of a thought."""
    if row.live:
        return _("Thinking…")
    return _("Thought for {time}").format(time=duration(row.seconds)) if row.seconds else _("Thought")


def activity(row: ActivityRow) -> str:
    """What the agent does before it says anything."""
    match row.state:
        case "starting" | "loading":
            return _("Loading the model…")
        case "waiting":
            return _("Waiting for the model…")
        case "evaluating" if row.progress:
            return _("Reading the conversation… {percent} %").format(percent=round(row.progress * 100))
        case "evaluating":
            return _("Reading the conversation…")
        case "restarted":
            return _("The model was restarted…")
        case "writing" if row.note:
            return _("Writing a call of {tool}…").format(tool=row.note)
        case "writing":
            return _("Writing a call of a tool…")
        case "retrying":
            return _("{service} cannot answer now; asking again in {seconds}…").format(
                service=row.note or _("The service"), seconds=duration(row.seconds)
            )
    return _("Working…")


def notice(row: NoticeRow) -> str:
    """The sentence of a notice."""
    return sentence(row.code, **row.fields)


def speaker(row: AnyRow) -> str:
    """Who a row is from, as a screen reader names it."""
    match row:
        case UserRow():
            return _("You")
        case AssistantRow(heard=None):
            return _("Orion")
        case AssistantRow():
            return _("Orion, interrupted while speaking")
        case ThinkingRow():
            return _("Orion thinking")
        case ToolRow():
            return _("Tool {name}: {status}").format(name=tool_title(row), status=tool_status(row))
        case NoticeRow():
            return _("Error") if row.level == "error" else _("Notice")
        case ActivityRow():
            return _("Orion")


def whole_text(row: AnyRow) -> str:
    """Everything a row says, as stored: what copying the row gives and what is searched."""
    match row:
        case UserRow() | AssistantRow() | ThinkingRow():
            return row.text
        case ToolRow():
            shown = [
                tool_title(row) + (f": {tool_summary(row)}" if tool_summary(row) else ""),
                tool_status(row),
            ]
            return "\n".join([*shown, row.text or row.log]).rstrip()
        case NoticeRow():
            return notice(row)
        case ActivityRow():
            return activity(row)
