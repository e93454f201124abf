"""English voices of the hibari package, spoken in this process from a model that lies in the package."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice.errors import VoiceError
from voice.language import latin_share
from voice.tts.voice import Sound

if TYPE_CHECKING:
    from hibari import Hibari  # type: ignore[import-untyped]

BUNDLED = "heart"
_SLOWEST, _FASTEST = 0.5, 2.0
_READABLE = 0.5
_MOST_WORDS = 50
_LONGEST_WORD = 60
_NO = re.compile(r"\bno\.(?!\s*\d)")
"""The word at the end of a sentence: the package reads "number" there, but not with a capital letter."""
_LONG_NUMBER = re.compile(r"\d[\d,]{15,}")


def offered(folder: str) -> list[str]:
    """The names that HibariVoice takes: the voice in the package, and those whose file lies in `folder`."""
    names = [
        name for name, entry in _registry().items() if folder and (Path(folder) / entry["file"]).is_file()
    ]
    return [BUNDLED, *(name for name in names if name != BUNDLED)]


class HibariVoice:
    """One English voice. Loading takes a second, after that a sentence 15 to 60 ms of one core. The
    model puts a third of a second of silence before each sentence and half a second behind it.

    It writes nothing, logs nothing and never fetches anything: the package would download a voice it has
    no file for, so it is always handed the file.
    """

    languages = ("en",)

    def __init__(self, name: str = BUNDLED, folder: str = "") -> None:
        self.name = name
        self._folder = folder
        self._engine: Hibari | None = None

    def load(self) -> None:
        """Read the model and say a word into nowhere; loading twice does nothing.

        Raises VoiceError for a file that is missing or is not the one the package knows.
        """
        if self._engine is None:
            path = self._file()
            import onnxruntime
            from hibari import Hibari

            fault = onnxruntime.capi.onnxruntime_pybind11_state
            try:
                engine = Hibari(self.name, model=str(path), threads=1)
                engine("Warm up.")
            except (OSError, ValueError, fault.Fail, fault.InvalidProtobuf, fault.NoSuchFile) as error:
                raise VoiceError("voice_broken", voice=self.name, reason=str(error)[:200]) from error
            self._engine = engine

    def speak(self, text: str, rate: float) -> Iterator[Sound]:
        """The sound of `text`, a sentence at a time; see Voice. Other scripts than Latin are refused."""
        if latin_share(text) < _READABLE:
            raise VoiceError("voice_language", voice=self.name)
        self.load()
        assert self._engine is not None
        engine, words = self._engine, 0
        speed = min(max(rate, _SLOWEST), _FASTEST)
        for stretch, count in _stretches(engine.split_sentences(_NO.sub("No.", text.replace("](", "] (")))):
            phonemes = self._phonemes(engine, _LONG_NUMBER.sub(_spelled, stretch))
            for number, part in enumerate(phonemes, 1):
                samples = engine.from_phonemes(part, speed)
                yield Sound(samples, engine.sample_rate, words + count * (number == len(phonemes)))
            words += count

    def stop(self) -> None:
        """See Voice; what is under way here is one sentence of a few milliseconds."""

    def close(self) -> None:
        """Forget the model; see Voice."""
        self._engine = None

    def _phonemes(self, engine: Hibari, sentence: str) -> list[str]:
        try:
            phonemes: list[str] = engine.phonemize(sentence)
        except (ValueError, LookupError) as error:
            raise VoiceError("voice_broken", voice=self.name, reason=str(error)[:200]) from error
        return phonemes

    def _file(self) -> Path:
        entry = _registry().get(self.name)
        if entry is None:
            raise VoiceError("voice_unknown", voice=self.name)
        folder = _assets() if entry.get("bundled") else Path(self._folder)
        path = folder / str(entry["file"])
        try:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise VoiceError("voice_broken", voice=self.name, reason=error.strerror or str(error)) from error
        if found != entry["sha256"]:
            raise VoiceError(
                "voice_broken", voice=self.name, reason="the file is not the voice it is named for"
            )
        return path


def _stretches(sentences: list[str]) -> Iterator[tuple[str, int]]:
    """The sentences, each with the number of its words; a long one in parts, because the model takes a part
    at once and its memory grows with it."""
    for sentence in sentences:
        words = sentence.split()
        for at in range(0, len(words), _MOST_WORDS):
            part = words[at : at + _MOST_WORDS]
            yield " ".join(word[:_LONGEST_WORD] for word in part), len(part)


def _spelled(match: re.Match[str]) -> str:
    """A number beyond the package's scales, digit by digit."""
    return " ".join(match[0].replace(",", ""))


def _assets() -> Path:
    spec = find_spec("hibari")
    if spec is None or spec.origin is None:
        raise VoiceError("voice_broken", voice=BUNDLED, reason="the package hibari-tts is not installed")
    return Path(spec.origin).parent / "assets"


def _registry() -> dict[str, dict[str, Any]]:
    """What the package says of its voices: file, SHA-256, whether it is in the package."""
    voices: dict[str, dict[str, Any]] = json.loads((_assets() / "voices.json").read_text(encoding="utf-8"))
    return voices
