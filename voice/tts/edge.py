"""Voices of the reading service of Microsoft Edge, streamed over the network by the user's permission."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from voice.errors import VoiceError
from voice.tts.edge_faults import translated
from voice.tts.loop import Loop
from voice.tts.mp3 import GrowingMp3
from voice.tts.voice import Sound

if TYPE_CHECKING:
    from edge_tts import Communicate

PREFIX = "edge:"
HOST = "speech.platform.bing.com"
"""The one host that is spoken to, on port 443."""

CONNECT_SECONDS = 5
SILENCE_SECONDS = 10
_PIECE_BYTES = 1500
_TICKS = 10_000_000
_PATIENCE = 1.0
_NAME = re.compile(r"([a-z]{2,3})-[A-Z]{2,4}(-[A-Za-z]+)?-[A-Za-z]+Neural")

_CHOSEN = """
af-ZA-AdriNeural ar-SA-ZariyahNeural bg-BG-KalinaNeural bn-IN-TanishaaNeural ca-ES-JoanaNeural
cs-CZ-VlastaNeural da-DK-ChristelNeural de-DE-KatjaNeural el-GR-AthinaNeural en-US-EmmaMultilingualNeural
es-ES-ElviraNeural et-EE-AnuNeural fa-IR-DilaraNeural fi-FI-NooraNeural fr-FR-DeniseNeural
gu-IN-DhwaniNeural he-IL-HilaNeural hi-IN-SwaraNeural hr-HR-GabrijelaNeural hu-HU-NoemiNeural
id-ID-GadisNeural it-IT-ElsaNeural ja-JP-NanamiNeural ka-GE-EkaNeural kn-IN-SapnaNeural ko-KR-SunHiNeural
lt-LT-OnaNeural lv-LV-EveritaNeural ml-IN-SobhanaNeural nb-NO-PernilleNeural nl-NL-ColetteNeural
pl-PL-ZofiaNeural pt-BR-FranciscaNeural ro-RO-AlinaNeural ru-RU-SvetlanaNeural sk-SK-ViktoriaNeural
sl-SI-PetraNeural sr-RS-SophieNeural sv-SE-SofieNeural sw-KE-ZuriNeural ta-IN-PallaviNeural
te-IN-ShrutiNeural th-TH-PremwadeeNeural tr-TR-EmelNeural uk-UA-PolinaNeural ur-PK-UzmaNeural
vi-VN-HoaiMyNeural zh-CN-XiaoxiaoNeural
"""
BY_LANGUAGE = {name.partition("-")[0]: name for name in _CHOSEN.split()} | {"no": "nb-NO-PernilleNeural"}
"""The voice that is taken for a language when none is named."""

COMMON_NAMES = {
    "alloy": "en-US-JennyNeural",
    "ash": "en-US-AndrewNeural",
    "ballad": "en-GB-ThomasNeural",
    "coral": "en-AU-NatashaNeural",
    "echo": "en-US-GuyNeural",
    "fable": "en-GB-SoniaNeural",
    "nova": "en-US-AriaNeural",
    "onyx": "en-US-EricNeural",
    "sage": "en-US-JennyNeural",
    "shimmer": "en-US-EmmaNeural",
    "verse": "en-US-BrianNeural",
}
"""Voices that stand in for the names of OpenAI's speech service, which profiles may carry."""


def is_edge_name(name: str) -> bool:
    """Whether `name`, with or without "edge:", can be a voice of the service ("de-DE-KatjaNeural")."""
    return _NAME.fullmatch(name.removeprefix(PREFIX)) is not None


class EdgeVoice:
    """One voice of the service. Nothing is opened before `speak`, and nothing stays open after it.

    `proxy` is an HTTP proxy's address or empty. `endpoint` stands for the service's own origin
    ("http://host:port") where something else speaks its protocol; empty means the service. `patience` is how
    many seconds it may say nothing.
    """

    def __init__(
        self, name: str, proxy: str = "", endpoint: str = "", patience: int = SILENCE_SECONDS
    ) -> None:
        short = name.removeprefix(PREFIX)
        match = _NAME.fullmatch(short)
        if match is None:
            raise VoiceError("voice_unknown", voice=name[:80])
        self.name = PREFIX + short
        self.languages = ("no",) if match[1] == "nb" else (match[1],)
        self._short = short
        self._proxy = proxy
        self._endpoint = endpoint
        self._patience = patience
        self._loop = Loop()
        self._stopped = False

    def load(self) -> None:
        """Import the client; nothing is sent."""
        import edge_tts

        del edge_tts

    def speak(self, text: str, rate: float) -> Iterator[Sound]:
        """The sound of `text` as it arrives, each stretch ending with a word; see Voice. Call it in a thread
        that runs no event loop."""
        self._stopped = False
        before = 0
        for piece in pieces(text):
            if self._stopped:
                return
            yield from self._loop.iterate(self._said(piece, rate, before))
            before += len(piece.split())

    def stop(self) -> None:
        """Hang up; see Voice."""
        self._stopped = True
        self._loop.stop()

    def close(self) -> None:
        """Hang up for good; see Voice."""
        self.stop()

    async def _said(self, text: str, rate: float, before: int) -> AsyncIterator[Sound]:
        from edge_tts import Communicate

        from voice.tts.edge_route import Route

        route = Route(self._endpoint)
        hearing = _Hearing(text, before)
        try:
            with translated(self.name):
                asked = Communicate(
                    text,
                    self._short,
                    rate=f"{min(max(round((rate - 1) * 100), -50), 100):+d}%",
                    boundary="WordBoundary",
                    connector=route,
                    proxy=self._proxy or None,
                    connect_timeout=CONNECT_SECONDS,
                    receive_timeout=self._patience,
                )
                async for sound in hearing.of(asked, self._patience):
                    yield sound
                if asked.state["chunk_audio_bytes"]:  # only the service's word that it has finished resets it
                    raise VoiceError("voice_edge_cut", voice=self.name)
        finally:
            await route.hang_up()


class _Hearing:
    """Turns what the service sends for one text into sound that ends with whole words.

    The service tells when each word begins and ends, ahead of its sound. Where it tells nothing within the
    first second, the sound is passed on as it comes, and nobody knows the words.
    """

    def __init__(self, text: str, before: int) -> None:
        self._text = text
        self._before = before
        self._position = 0
        self._mp3 = GrowingMp3()
        self._marks: list[tuple[float, int]] = []
        self._given = 0

    async def of(self, asked: Communicate, patience: float) -> AsyncIterator[Sound]:
        """The sound of `asked`, to its end or to where it breaks; TimeoutError after `patience` seconds of
        nothing, of which the client itself has no notion once it is connected."""
        messages = asked.stream()
        while (message := await asyncio.wait_for(anext(messages, None), patience)) is not None:
            if message["type"] == "audio":
                self._mp3.add(message["data"])
            else:
                self._mark(message["text"], (message["offset"] + message["duration"]) / _TICKS)
            if (sound := self._ready()) is not None:
                yield sound
        if asked.state["chunk_audio_bytes"]:
            self._mp3.end()
            if (sound := self._ready()) is not None:
                yield sound
        else:
            yield self._rest()

    def _mark(self, word: str, seconds: float) -> None:
        found = self._text.find(word, self._position)
        if found < 0:
            return
        self._position = found + len(word)
        tail = re.match(r"\S*", self._text[self._position :])
        open_word = tail is not None and any(char.isalnum() for char in tail[0])
        if not open_word:
            self._marks.append((seconds, len(self._text[: self._position].split())))

    def _ready(self) -> Sound | None:
        samples, rate = self._mp3.samples, self._mp3.rate
        if not self._marks:
            return self._upto(len(samples), None) if len(samples) > rate * _PATIENCE else None
        done = [
            (round(seconds * rate), words) for seconds, words in self._marks if seconds * rate <= len(samples)
        ]
        return self._upto(*done[-1]) if done else None

    def _rest(self) -> Sound:
        self._mp3.end()
        return Sound(self._mp3.samples[self._given :], self._mp3.rate, self._before + len(self._text.split()))

    def _upto(self, end: int, words: int | None) -> Sound | None:
        if end <= self._given:
            return None
        begin, self._given = self._given, end
        return Sound(self._mp3.samples[begin:end], self._mp3.rate, words and self._before + words)


def pieces(text: str) -> Iterator[str]:
    """`text` in stretches of whole words that the service takes at once; a longer word is cut."""
    piece: list[str] = []
    size = 0
    for word in text.split():
        while len(word.encode()) > _PIECE_BYTES:
            word, tail = word[: _PIECE_BYTES // 4], word[_PIECE_BYTES // 4 :]
            yield from ([" ".join(piece)] if piece else [])
            yield word
            piece, size, word = [], 0, tail
        if piece and size + len(word.encode()) + 1 > _PIECE_BYTES:
            yield " ".join(piece)
            piece, size = [], 0
        piece.append(word)
        size += len(word.encode()) + 1
    if piece:
        yield " ".join(piece)


async def listed(proxy: str = "", endpoint: str = "") -> list[tuple[str, str, str]]:
    """Every voice of the service as (name, language, gender), asked of the service itself; a VoiceError when
    it cannot be asked."""
    from edge_tts import list_voices

    from voice.tts.edge_route import Route

    route = Route(endpoint)
    try:
        with translated(HOST):
            found = await list_voices(connector=route, proxy=proxy or None)
            return [(PREFIX + v["ShortName"], v["Locale"].partition("-")[0], v["Gender"]) for v in found]
    finally:
        await route.hang_up()
