"""The short account of the older part of a conversation that stands in for it when it no longer fits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runtime.messages import AssistantMessage, Message, ToolMessage, UserMessage

HEAD = "Earlier in this conversation, in short:"
USER_PIECE = 240
OTHER_PIECE = 120


def digest(messages: Sequence[Message], earlier: str, limit: int) -> str:
    """An account of `messages` after the account `earlier`, at most `limit` characters.

    What the user said comes first when room is short, their very first words before all. Made by rule, not by
    a model: it costs nothing, cannot fail and gives the same text every time.
    """
    lines = [line for line in earlier.splitlines() if line.startswith("- ")]
    lines += [line for message in messages if (line := _line(message, earlier))]
    room = limit - len(HEAD)
    if not lines:
        return ""
    kept = {0}
    room -= len(lines[0]) + 1
    users = [place for place, line in enumerate(lines) if line.startswith("- I")]
    others = [place for place, line in enumerate(lines) if not line.startswith("- I")]
    for place in [*reversed(users), *reversed(others)]:
        if place in kept:
            continue
        room -= len(lines[place]) + 1
        if room < 0:
            break
        kept.add(place)
    return "\n".join([HEAD, *(lines[place] for place in sorted(kept))])[:limit]


def _line(message: Message, earlier: str) -> str:
    match message:
        case UserMessage():
            text = message.text.removeprefix(earlier)
            return f"- I said: {_piece(text, USER_PIECE)}" if text.strip() else ""
        case AssistantMessage():
            used = ", ".join(call.name for call in message.calls)
            said = f"- You said: {_piece(message.text, OTHER_PIECE)}" if message.text.strip() else ""
            return said + (f"{' and' if said else '- You'} used {used}" if used else "")
        case ToolMessage():
            return f"- {message.name} gave: {_piece(message.text, OTHER_PIECE)}"


def _piece(text: str, limit: int) -> str:
    """The first sentences of `text` that fit."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    cut = flat[:limit]
    ends = [match.end() for match in re.finditer(r"[.!?…](?=\s)", cut)]
    return cut[: ends[-1]] if ends and ends[-1] > limit // 3 else cut.rstrip() + "…"
