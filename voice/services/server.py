"""Both services in one process: their engines, their ports, and a clean end."""

from __future__ import annotations

import signal
import socket
from types import FrameType

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from voice.config import VoiceConfig
from voice.services.app import make_app
from voice.services.door import Door
from voice.services.engine import Engine
from voice.services.hearing import Hearing
from voice.services.limits import Limits
from voice.services.names import SPEECH_MODELS, TRANSCRIPTION_MODELS, VOICES
from voice.services.speakers import Speakers, local_voices
from voice.services.speech import SpeechService
from voice.services.transcription import TranscriptionService
from voice.stt.recogniser import Recogniser

_CONNECTIONS = 100
_GRACE = 1
"""Seconds that requests get to end in once the program is asked to end."""

_LAST_PASS = 0.5
"""Seconds for which an engine that is in a pass is waited for."""


class SpeechServices:
    """The engines of both services and what answers with them; `close` must be called."""

    def __init__(self, config: VoiceConfig, limits: Limits) -> None:
        self._limits = limits
        self._speaking = Engine("speech", limits)
        self._reading = Engine("sound-files", limits)
        self._recognising = Engine("recogniser", limits)
        self._speakers = Speakers(local_voices(config), config.language)
        self._hearing = Hearing(Recogniser(config.recogniser, config.threads))
        self._speech = SpeechService(self._speaking, self._speakers, limits)
        self._transcription = TranscriptionService(self._recognising, self._reading, self._hearing, limits)

    def warm(self) -> None:
        """Load the engines, so that the first requests need not wait; returns at once."""
        self._speaking.submit(self._speakers.warm)
        self._recognising.submit(self._hearing.load)

    def app(self, *, speech: bool, transcription: bool, token: str) -> ASGIApp:
        """The application with the paths of one service, or of both."""
        answers = {}
        models: tuple[str, ...] = ()
        if speech:
            answers["/v1/audio/speech"] = self._speech.answer
            models += SPEECH_MODELS
        if transcription:
            answers["/v1/audio/transcriptions"] = self._transcription.answer
            answers["/v1/audio/translations"] = self._transcription.answer_in_english
            models += TRANSCRIPTION_MODELS
        return Door(make_app(answers, models, lambda: self._speakers.names() + VOICES), self._limits, token)

    def close(self) -> bool:
        """End the engines; False when one is in a pass that does not end soon."""
        self._reading.stop()
        self._recognising.stop()
        self._speaking.stop(self._speakers.close)
        engines = (self._reading, self._recognising, self._speaking)
        ended = [engine.ended(_LAST_PASS) for engine in engines]
        return all(ended)


async def serve(
    services: SpeechServices, speech: socket.socket, transcription: socket.socket, token: str
) -> None:
    """Answer on both sockets, which may be one, until SIGINT or SIGTERM; runs in the main thread.

    Requests that run then get _GRACE seconds. The sockets are closed at the end.
    """
    ports = {"speech": _port(speech), "transcription": _port(transcription)}
    by_port = {
        port: services.app(
            speech=port == ports["speech"], transcription=port == ports["transcription"], token=token
        )
        for port in ports.values()
    }

    async def by_its_port(scope: Scope, receive: Receive, send: Send) -> None:
        await by_port[scope["server"][1]](scope, receive, send)

    config = uvicorn.Config(
        by_its_port,
        lifespan="off",
        ws="none",
        http="h11",
        loop="asyncio",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE,
    )
    before = {number: signal.signal(number, _heard) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        sockets = [speech] if speech is transcription else [speech, transcription]
        await uvicorn.Server(config).serve(sockets)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _heard(number: int, frame: FrameType | None) -> None:
    """Takes the signals that the server raises once more after it has ended because of them."""
    del number, frame


def _port(listening: socket.socket) -> int:
    port: int = listening.getsockname()[1]
    return port
