"""The recogniser: a Whisper model in a folder, run by faster-whisper on the processor, without a network."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from voice.errors import VoiceError
from voice.stt import hints as names
from voice.stt.heard import Heard, Part, joined
from voice.stt.reading import Reader, Reading, Wish
from voice.stt.samples import clean
from voice.stt.silence import WINDOW, Activity, Evidence, invented
from voice.stt.stretch import stretches

if TYPE_CHECKING:
    from voice.sound import Samples

_FILES = ("config.json", "model.bin", "tokenizer.json")
_DOUBT = 0.3
_UNSURE = -0.7
_VOCABULARIES = ("vocabulary.txt", "vocabulary.json")

__all__ = ["Heard", "Recogniser"]


class Recogniser:
    """The model in `folder`, which uses `threads` threads. It may be used from several threads; readings come
    one after the other. `close` frees the memory; the next use loads it again.

    Every method but `close` raises VoiceError recogniser_unusable where the folder holds no working model.
    """

    def __init__(self, folder: str | Path, threads: int = 2) -> None:
        self.cost = 0.2
        """Seconds that a reading took of late."""
        self._folder = Path(folder)
        self._threads = max(1, threads)
        self._lock = threading.Lock()
        self._reader: Reader | None = None
        self._activity = Activity()

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of the languages that the model knows."""
        return self._loaded().languages

    def load(self) -> None:
        """Read the model, about half a second for the bundled one; a second call does nothing."""
        self._loaded()

    def close(self) -> None:
        """Free the memory of the model."""
        with self._lock:
            self._reader = None

    def activity(self) -> Activity:
        """What tells speech from other sound, for one stream."""
        with self._lock:
            return self._activity.another()

    def transcribe(
        self, samples: Samples, language: str = "", hints: Sequence[str] = (), words: bool = False
    ) -> Heard:
        """What is said in mono sound at 16,000 samples a second, of any length and type of number.

        `language` is a code, empty to find out (only multilingual models do). `hints` are names that may be
        said. Sound that is not finite counts as silence.
        """
        sound = clean(samples)
        parts: list[Part] = []
        for passed, stretch in stretches(sound, self.activity()):
            first, last = ((passed + place) * WINDOW for place in stretch.span)
            wish = Wish(language, timed=True, until=stretch.until)
            found = self.read(sound[first:last], wish, hints, stretch.speech)
            if found is not None:
                parts.append(stretch.part(found, passed))
                language = language or found.language
        return joined(parts, words)

    def read(
        self,
        samples: Samples,
        wish: Wish,
        hints: Sequence[str],
        speech: float,
        stop: Callable[[], bool] = lambda: False,
    ) -> Reading | None:
        """One reading of at most 28 s of clean sound, `speech` seconds of which sounded like speech.

        It has no text where that was invented. None when `stop` said so, which is asked between its steps.
        """
        reader = self._loaded()
        with self._lock:
            began = time.monotonic()
            before = () if wish.before else names.prompt(hints, reader.encode)
            asked = replace(wish, before=before or wish.before)
            found = _native(reader, samples, asked, stop)
            if found is not None and before and _echo(found, hints):
                found = _native(reader, samples, wish, stop)
            if found is None:
                return None
            self.cost += 0.3 * (time.monotonic() - began - self.cost)
        if invented(found.text, Evidence(speech, found.no_speech, found.logprob)):
            return Reading(language=found.language, no_speech=found.no_speech, logprob=found.logprob)
        return found

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of `tokens` of a reading."""
        return self._loaded().decode(tokens)

    def _loaded(self) -> Reader:
        with self._lock:
            if self._reader is None:
                self._activity.load()
                self._reader = _load(self._folder, self._threads)
            return self._reader


def _echo(found: Reading, hints: Sequence[str]) -> bool:
    """Whether a reading may be nothing but the hints it was told."""
    doubt = found.no_speech > _DOUBT or found.logprob < _UNSURE
    return doubt and names.repeats(found.text, hints)


def _native(reader: Reader, samples: Samples, wish: Wish, stop: Callable[[], bool]) -> Reading | None:
    try:
        return reader.read(samples, wish, stop)
    except (RuntimeError, ValueError) as error:
        raise VoiceError("recogniser_failed", reason=str(error)) from error


def _load(folder: Path, threads: int) -> Reader:
    """The model in `folder`; raises VoiceError where there is none."""
    _check(folder)
    model_class = _engine()
    try:
        model = model_class(
            str(folder), device="cpu", compute_type="int8", cpu_threads=threads, local_files_only=True
        )
    except (RuntimeError, ValueError) as error:
        raise _unusable(folder, str(error)) from error
    if model.model.n_mels != model.feature_extractor.mel_filters.shape[0]:
        raise _unusable(folder, "its preprocessor_config.json belongs to another model")
    return Reader(model)


def _engine() -> Any:
    """The class of faster-whisper, imported so that it never asks the network and needs no decoder of files.

    PyAV only reads sound files, which are read elsewhere here, and its wheels carry encoders under the GPL:
    an empty module stands in for it.
    """
    os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")
    sys.modules.setdefault("av", ModuleType("av"))
    from faster_whisper import WhisperModel

    return WhisperModel


def _check(folder: Path) -> None:
    """That `folder` holds the files of a model, and that those which are JSON can be read."""
    if not folder.is_dir():
        raise _unusable(folder, "there is no such folder")
    absent = [name for name in _FILES if not (folder / name).is_file()]
    if not any((folder / name).is_file() for name in _VOCABULARIES):
        absent.append(_VOCABULARIES[0])
    if absent:
        raise _unusable(folder, f"{absent[0]} is not there")
    for name in ("config.json", "tokenizer.json"):
        try:
            read = json.loads((folder / name).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise _unusable(folder, f"{name} cannot be read: {error}") from error
        model = read.get("model") if isinstance(read, dict) else None
        if not isinstance(read, dict) or (name == "tokenizer.json" and not _has_words(model)):
            raise _unusable(folder, f"{name} is damaged")


def _has_words(model: object) -> bool:
    return isinstance(model, dict) and bool(model.get("vocab"))


def _unusable(folder: Path, reason: str) -> VoiceError:
    return VoiceError("recogniser_unusable", path=str(folder), reason=reason)
