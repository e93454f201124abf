"""A conversation as Markdown that people can read and keep."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path

from resources.sentences import sentence
from resources.translation import _
from runtime.messages import JsonObject

LAST_WORDS = 6


def as_markdown(title: str, rows: Iterable[JsonObject]) -> str:
    """One document: a heading a message, thoughts as quotes, tool calls with arguments and result."""
    out = [f"# {title}", ""]
    for row in rows:
        match row["kind"]:
            case "user":
                out += [f"## {_('You')} · {_when(row['time'])}", "", row["text"], ""]
            case "assistant":
                out += _assistant(row)
            case "tool":
                out += _tool(row)
            case "notice":
                out += [f"*{sentence(row['code'], **row['fields'])}*", ""]
    return "\n".join(out).rstrip() + "\n"


def _assistant(row: JsonObject) -> list[str]:
    out = [f"## Orion · {_when(row['time'])}", ""]
    if row["reasoning"]:
        out += ["> " + line for line in row["reasoning"].splitlines()] + [""]
    if row["text"]:
        out += [row["text"], ""]
    if (heard := row.get("heard")) is not None:
        last = " ".join(str(row["text"])[:heard].split()[-LAST_WORDS:])
        out += [f"*{_('Interrupted after “{words}”; the rest was not heard.').format(words=last)}*", ""]
    return out


def _tool(row: JsonObject) -> list[str]:
    arguments = json.dumps(row["arguments"], indent=1, ensure_ascii=False)
    result = str(row["text"])
    return [
        f"### {_('Tool')} {row['name']} ({row['status']})",
        "",
        *_fenced(arguments, "json"),
        *(_fenced(result, "") if result else []),
    ]


def _fenced(text: str, language: str) -> list[str]:
    """A code block whose fence no line of the text can close."""
    longest = max((len(line) - len(line.lstrip("`")) for line in text.splitlines()), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence + language, text, fence, ""]


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def archive(sessions: Path, session: str, title: str, rows: list[JsonObject]) -> Path:
    """Write the rows as Markdown into the archive beside the sessions; where to."""
    path = sessions / "archive" / f"{session}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(as_markdown(title, rows), "utf-8", errors="replace")
    return path
