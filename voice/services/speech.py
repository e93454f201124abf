"""POST /v1/audio/speech: a text is read aloud."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from voice.errors import VoiceError
from voice.services.departure import unless_gone
from voice.services.encoding import MEDIA_TYPES
from voice.services.engine import Engine
from voice.services.limits import Limits
from voice.services.names import SPEECH_MODELS, VOICES
from voice.services.recital import Recital
from voice.services.refusal import Refusal
from voice.services.speakers import Speakers
from voice.services.stream import EVENTS, Stream, audio_events, first

_FIELDS = TypeAdapter(dict[str, Any])
_SAID = "LNS"
"""Letters, numbers and symbols: a text without any of them is silent, however long it is."""


class VoiceId(BaseModel):
    """A voice as an object, the other form that OpenAI's interface has for it."""

    id: str


class SpeechRequest(BaseModel):
    """The fields of the request that mean something here; the others are passed over."""

    input: str
    model: str = SPEECH_MODELS[0]
    voice: str | VoiceId = VOICES[0]
    response_format: Literal["mp3", "opus", "aac", "flac", "wav", "pcm"] = "mp3"
    speed: float = Field(1.0, ge=0.25, le=4.0, allow_inf_nan=False)
    stream_format: Literal["audio", "sse"] = "audio"

    @property
    def voice_name(self) -> str:
        """The voice's name, whichever form it had."""
        return self.voice if isinstance(self.voice, str) else self.voice.id


class SpeechService:
    """Reads texts aloud in the thread of `engine`, which its owner closes."""

    def __init__(self, engine: Engine, speakers: Speakers, limits: Limits) -> None:
        self._engine = engine
        self._speakers = speakers
        self._limits = limits

    async def answer(self, request: Request) -> Response:
        """The sound of the text in `request`, sent while it is made; raises Refusal."""
        wanted = _parsed(request.headers.get("content-type", ""), await request.body())
        voice = self._checked_voice(wanted)
        pieces = self._pieces(wanted, voice)
        media_type = MEDIA_TYPES[wanted.response_format]
        if wanted.stream_format == "sse":
            pieces, media_type = audio_events(pieces), EVENTS
        try:
            begun = await unless_gone(request, first(pieces))
        except VoiceError as error:
            raise Refusal.of(error, "input") from None
        return Stream(begun, pieces, media_type)

    def _checked_voice(self, wanted: SpeechRequest) -> str:
        """The name of the voice to use, empty for the one that fits; raises Refusal."""
        if wanted.model not in SPEECH_MODELS:
            known = ", ".join(SPEECH_MODELS)
            raise Refusal(404, "service_model_unknown", "model", model=wanted.model[:80], known=known)
        if not wanted.input.strip():
            raise Refusal(400, "speech_empty", "input")
        if (count := len(wanted.input)) > self._limits.characters:
            most = self._limits.characters
            raise Refusal(400, "speech_too_long", "input", characters=count, most=most)
        if not any(unicodedata.category(char)[0] in _SAID for char in wanted.input):
            raise Refusal(400, "speech_nothing_to_say", "input")
        if wanted.response_format == "aac":
            raise Refusal(400, "speech_format_unavailable", "response_format", format="aac")
        if (name := wanted.voice_name) in VOICES:
            return ""
        if name not in (names := self._speakers.names()):
            known = ", ".join((*names, *VOICES))
            raise Refusal(400, "speech_voice_unknown", "voice", voice=name[:80], known=known)
        return name

    async def _pieces(self, wanted: SpeechRequest, voice: str) -> AsyncGenerator[bytes]:
        with self._engine.place():
            recital = Recital(self._speakers, wanted.input, voice, wanted.speed, wanted.response_format)
            async with aclosing(self._engine.steps(recital)) as steps:
                async for piece in steps:
                    if piece:
                        yield piece


def _parsed(content_type: str, body: bytes) -> SpeechRequest:
    """The request in `body`; fields that are null count as left out."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise Refusal(415, "service_not_json")
    try:
        data = _FIELDS.validate_json(body)
        return SpeechRequest.model_validate({name: data[name] for name in data if data[name] is not None})
    except ValidationError as error:
        raise Refusal.of_fields(error) from None
