"""Answers that are sent while they are made, as they are or as server-sent events."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from voice.errors import VoiceError
from voice.services.refusal import Refusal

EVENTS = "text/event-stream"


class Stream(StreamingResponse):
    """Sends `first` and then the rest of `pieces`, and closes `pieces` also when the client went away."""

    def __init__(self, first: bytes, pieces: AsyncGenerator[bytes], media_type: str) -> None:
        super().__init__(_joined(first, pieces), media_type=media_type)
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer; see starlette."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._pieces.aclose()


async def first(pieces: AsyncGenerator[bytes]) -> bytes:
    """The first piece, which shows whether there is an answer at all; raises what making it raises."""
    return await anext(pieces)


def event(data: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return f"data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


async def audio_events(pieces: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """The events that carry a sound file made of `pieces`; a fault on the way is the last one.

    The form is OpenAI's, `speech.audio.delta` and `speech.audio.done`; no tokens are billed here.
    """
    begun = False
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                begun = True
                yield event({"type": "speech.audio.delta", "audio": base64.b64encode(piece).decode()})
    except (Refusal, VoiceError) as error:
        if not begun:
            raise
        yield event(Refusal.of(error).body())
        return
    usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    yield event({"type": "speech.audio.done", "usage": usage})


async def transcript_events(pieces: AsyncGenerator[str], whole: Callable[[], str]) -> AsyncGenerator[bytes]:
    """The events that carry a text made of `pieces`, and at last `whole`; a fault on the way is the last one.

    The form is OpenAI's, `transcript.text.delta` and `transcript.text.done`.
    """
    begun = False
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                if piece:
                    begun = True
                    yield event({"type": "transcript.text.delta", "delta": piece})
    except (Refusal, VoiceError) as error:
        if not begun:
            raise
        yield event(Refusal.of(error).body())
        return
    yield event({"type": "transcript.text.done", "text": whole()})


async def _joined(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece
