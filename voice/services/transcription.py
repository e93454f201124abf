"""POST /v1/audio/transcriptions: what is said in a sound file."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import IO

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from voice.errors import VoiceError
from voice.services.departure import unless_gone
from voice.services.engine import Engine
from voice.services.hearing import Hearing
from voice.services.languages import NAMES
from voice.services.limits import Limits
from voice.services.passages import Passages
from voice.services.refusal import Refusal
from voice.services.stream import EVENTS, Stream, first, transcript_events
from voice.services.transcript import Transcript
from voice.services.transcription_request import TranscriptionRequest, sound_in

_FIELDS = 200
_FIELD_BYTES = 64 * 1024


class TranscriptionService:
    """Writes recordings down: `reading` reads the files, and `engine` hears what is said in them.

    Both threads are ended by their owner.
    """

    def __init__(self, engine: Engine, reading: Engine, hearing: Hearing, limits: Limits) -> None:
        self._engine = engine
        self._reading = reading
        self._hearing = hearing
        self._limits = limits

    async def answer(self, request: Request) -> Response:
        """What is said in the file of `request`, in the form it asks for; raises Refusal."""
        form = await request.form(max_files=1, max_fields=_FIELDS, max_part_size=_FIELD_BYTES)
        try:
            wanted = TranscriptionRequest.of(form)
            language = await self._language(wanted)
            file = sound_in(form)
        except (Refusal, VoiceError) as error:
            await form.close()
            raise Refusal.of(error, "language") from None
        transcript = Transcript(language=language)
        texts = self._texts(file, wanted, language, transcript)
        try:
            if wanted.stream:
                events = transcript_events(texts, lambda: transcript.text)
                return Stream(await unless_gone(request, first(events)), events, EVENTS)
            await unless_gone(request, _to_the_end(texts))
        except VoiceError as error:
            raise Refusal.of(error, "file") from None
        return _answer(wanted, transcript)

    async def answer_in_english(self, request: Request) -> Response:
        """Speech of any language as English text, which no recogniser here can give; raises Refusal."""
        del request
        raise Refusal(400, "transcription_no_translation", "model")

    async def _language(self, wanted: TranscriptionRequest) -> str:
        """The language to expect, "" to find out; raises Refusal for one that is not known here."""
        code = wanted.spoken
        if code not in ("", "en") and code not in await self._engine.run(self._hearing.languages):
            raise Refusal(400, "transcription_language_other", "language", language=NAMES[code].title())
        return code

    async def _texts(
        self, file: IO[bytes], wanted: TranscriptionRequest, language: str, transcript: Transcript
    ) -> AsyncGenerator[str]:
        """What each passage of `file` adds to `transcript`, if anything; takes over the file."""
        passages = Passages(file, self._limits.sound)
        hear = partial(self._hearing.hear, transcript=transcript, hints=wanted.hints, words=wanted.words)
        try:
            with self._engine.place():
                async with aclosing(self._reading.steps(passages)) as steps:
                    async for passage in steps:
                        language = language or transcript.language
                        yield await self._engine.run(partial(hear, passage, language=language))
        finally:
            self._reading.submit(passages.close)


async def _to_the_end(texts: AsyncGenerator[str]) -> None:
    async with aclosing(texts):
        async for _text in texts:
            pass


def _answer(wanted: TranscriptionRequest, transcript: Transcript) -> Response:
    match wanted.response_format:
        case "json":
            return JSONResponse(transcript.json())
        case "verbose_json":
            return JSONResponse(transcript.verbose(segments=wanted.segments, words=wanted.words))
        case "srt":
            return PlainTextResponse(transcript.srt())
        case "vtt":
            return PlainTextResponse(transcript.vtt(), media_type="text/vtt")
        case "text":
            return PlainTextResponse(transcript.text + "\n")
