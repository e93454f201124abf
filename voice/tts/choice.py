"""Chooses who says a clause, and who goes on when a voice fails in the middle of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from voice.clauses import Clause
from voice.config import VoiceConfig
from voice.errors import VoiceError
from voice.language import detect
from voice.tts.edge import BY_LANGUAGE, COMMON_NAMES, PREFIX, EdgeVoice, is_edge_name
from voice.tts.hibari import HibariVoice
from voice.tts.hibari import offered as hibari_voices
from voice.tts.piper import offered as piper_voices
from voice.tts.system import offered as system_voices
from voice.tts.voice import ANY, Sound, Voice

_WARM = 2
"""Voices that are loaded before anything is said."""

REST_SECONDS = 60.0
"""How long a voice that failed is not asked again."""

_OF_ONE_VOICE = frozenset({"voice_edge_silent"})
"""Faults of a service that its other voices need not have."""

WORDS_A_SECOND = 2.0
"""A slow reader's pace: of a voice that cannot tell how far it came, rather fewer words count than more."""


def available(config: VoiceConfig, endpoint: str = "") -> list[Voice]:
    """Every voice that this machine and these permissions have, best first.

    The one that is named; then the online service where it is allowed, the bundled voice, Piper's, the
    system's. Looks at folders and for programs, loads and opens nothing. `endpoint`: see EdgeVoice.
    """
    named = _named(config)
    found: list[Voice] = []
    if config.online_voices:
        chosen = [named] if is_edge_name(named) else []
        names = dict.fromkeys(name.removeprefix(PREFIX) for name in [*chosen, *BY_LANGUAGE.values()])
        found += [EdgeVoice(name, config.proxy, endpoint) for name in names]
    found += [HibariVoice(name, config.piper_voices) for name in hibari_voices(config.piper_voices)]
    found += piper_voices(config.piper, config.piper_voices)
    found += system_voices()
    return sorted(found, key=lambda voice: not _is_called(voice, named))


def is_there(config: VoiceConfig) -> bool:
    """Whether the voice that `config` names is one that may speak here."""
    return any(_is_called(voice, _named(config)) for voice in available(config))


def _named(config: VoiceConfig) -> str:
    """The name of the chosen voice, in full where the service has a short one for it."""
    return COMMON_NAMES.get(config.voice, config.voice) if config.online_voices else config.voice


def _is_called(voice: Voice, name: str) -> bool:
    """Whether `name` means `voice`, with or without the engine before the colon."""
    return bool(name) and name in (voice.name, voice.name.rpartition(":")[2])


def choose(config: VoiceConfig, on_trouble: Callable[[VoiceError], None], endpoint: str = "") -> Speaker:
    """The speaker that `config` asks for; nothing is loaded yet. See Speaker and `available`."""
    return Speaker(available(config, endpoint), on_trouble, config.rate, config.language)


class Speaker:
    """Says clauses with the best voice there is. One thread calls `warm` and `speak`; the rest may come from
    any thread. `voices` are its own from now on, best first.

    `on_trouble` gets one VoiceError for each voice or service that fails and for each language no voice has,
    in the thread of `speak`. What failed is left alone for a minute, then it is asked again.
    """

    def __init__(
        self,
        voices: Sequence[Voice],
        on_trouble: Callable[[VoiceError], None],
        rate: float = 1.0,
        language: str = "",
    ) -> None:
        self._voices = tuple(voices)
        self._on_trouble = on_trouble
        self._rate = rate
        self._language = language or "en"
        self._resting: dict[str, float] = {}
        self._told: set[str] = set()
        self._speaking: Voice | None = None
        self._stopped = False

    def warm(self) -> None:
        """Load the voice that will most likely say the first clause, and the one that goes on when it fails:
        neither is waited for."""
        ready = 0
        for voice in self._order(self._language):
            try:
                voice.load()
            except VoiceError as error:
                self._failed(voice, error)
                continue
            ready += 1
            if ready == _WARM:
                return

    def speak(self, clause: Clause) -> Iterator[Sound]:
        """The sound of `clause.spoken`, whoever makes it; nothing when no voice can or nothing is to be said.

        When a voice fails in the middle, the next begins with the first word that was not said to its end.
        """
        rest = clause.spoken
        if not rest.strip():
            return
        self._stopped = False
        language = self._language = detect(rest, self._language)
        for voice in self._order(language):
            progress = _Progress(rest, self._rate)
            self._speaking = voice
            try:
                for sound in voice.speak(rest, self._rate):
                    progress.note(sound)
                    if len(sound.samples):
                        yield sound
                return
            except VoiceError as error:
                self._failed(voice, error)
            finally:
                self._speaking = None
            rest = progress.rest()
            if self._stopped or not rest:
                return
        self._tell(f"language {language}", VoiceError("voice_none", language=language))

    def stop(self) -> None:
        """Break off `speak`; its iterator ends soon."""
        self._stopped = True
        if (voice := self._speaking) is not None:
            voice.stop()

    def close(self) -> None:
        """Close all voices; may be called twice."""
        self.stop()
        for voice in self._voices:
            voice.close()

    def _order(self, language: str) -> list[Voice]:
        able = [voice for voice in self._voices if language in voice.languages or ANY in voice.languages]
        now = time.monotonic()
        return [voice for voice in able if not self._rests(voice, now)]

    def _rests(self, voice: Voice, now: float) -> bool:
        """Whether it, or the service that it belongs to, has failed shortly before."""
        return any(self._resting.get(name, 0.0) > now for name in (voice.name, _service(voice)))

    def _failed(self, voice: Voice, error: VoiceError) -> None:
        cause = voice.name if error.code in _OF_ONE_VOICE else _service(voice)
        self._resting[cause] = time.monotonic() + REST_SECONDS
        self._tell(cause, error)

    def _tell(self, cause: str, error: VoiceError) -> None:
        if cause not in self._told:
            self._told.add(cause)
            self._on_trouble(error)


def _service(voice: Voice) -> str:
    """What fails as a whole: all voices of the online service together, each of the others for itself."""
    return PREFIX if is_edge_name(voice.name) else voice.name


class _Progress:
    """How far a voice came with a text."""

    def __init__(self, text: str, rate: float) -> None:
        self._text = text
        self._pace = WORDS_A_SECOND * rate
        self._words = 0
        self._unsure = 0.0

    def note(self, sound: Sound) -> None:
        """`sound` was made; its words count when it tells them, else its time."""
        if sound.words is None:
            self._unsure += sound.seconds
        else:
            self._words, self._unsure = sound.words, 0.0

    def rest(self) -> str:
        """What has still to be said."""
        said = self._words + int(self._unsure * self._pace)
        return " ".join(self._text.split()[said:])
