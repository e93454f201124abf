"""Pictures of the screen in a conversation: how one is carried, and which of them a model is still shown."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import replace

from runtime.messages import Image, Message, Text, ToolMessage

KEPT, CHUNK = 4, 6
"""The newest pictures that are always shown, and how many older ones go at once."""

GONE = "[an earlier picture of the screen, no longer shown]"


def as_image(data: bytes) -> Image:
    """An encoded PNG or JPEG as a part of a message."""
    kind = "image/png" if data.startswith(b"\x89PNG") else "image/jpeg"
    return Image(kind, base64.b64encode(data).decode("ascii"))


def recent(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages with at most KEPT + CHUNK - 1 pictures in results of tools: of the older ones a whole
    number of chunks is left out, so that a cached prompt stays valid for as many new pictures."""
    found = tuple(messages)
    count = sum(len(_pictures(message)) for message in found)
    drop = max(count - KEPT, 0) // CHUNK * CHUNK
    shown: list[Message] = []
    for message in found:
        if drop and isinstance(message, ToolMessage) and _pictures(message):
            parts = []
            for part in message.parts:
                gone = drop > 0 and isinstance(part, Image)
                drop -= gone
                parts.append(Text(GONE) if gone else part)
            message = replace(message, parts=tuple(parts))
        shown.append(message)
    return tuple(shown)


def _pictures(message: Message) -> list[Image]:
    if not isinstance(message, ToolMessage):
        return []
    return [part for part in message.parts if isinstance(part, Image)]
