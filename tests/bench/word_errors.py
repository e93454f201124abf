"""How many words the recogniser gets wrong, beside faster-whisper alone, and what it hears where none are."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import resources
from tests.bench.figure import Figure
from voice.sound import BLOCK, RATE, Block
from voice.stt.reading import BEAM
from voice.stt.recogniser import Recogniser
from voice.stt.utterance import Utterance

if TYPE_CHECKING:
    from voice.sound import Samples

VARIABLE = "ORION_BENCH_SPEECH"
"""Names a folder of recordings with manifest.json, a list of {"path", "text"}."""

GOAL_PERCENT = 5.0
GOAL_MORE = 3.0
SECONDS = 60

Hear = Callable[["Samples"], str]
"""Sound at 16 kHz to text: the recogniser alone, or the way through a microphone."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Speech at 16 kHz, and the words that are in it."""

    name: str
    samples: Samples
    text: str


def measure(*, peers: bool = False) -> list[Figure]:
    """The word errors of an utterance fed block by block, and of one reading of the whole by faster-whisper;
    words heard in a minute of each kind of silence, noise and music, which needs no recordings."""
    del peers
    recogniser = Recogniser(resources.recogniser_dir(), threads=os.cpu_count() or 1)
    recogniser.load()
    figures = [_invented(recogniser)]
    folder = os.environ.get(VARIABLE, "")
    if not folder:
        print(f"word_errors needs recordings: set {VARIABLE} to a folder with a manifest.json")
        return figures
    spoken = recordings(Path(folder))
    alone, whole = _alone(), word_errors(spoken, lambda samples: recogniser.transcribe(samples).text)
    lone = word_errors(spoken, alone)
    ours = word_errors(spoken, lambda samples: uttered(recogniser, samples))
    reference = {f"faster-whisper alone, beam {BEAM} (words)": float(lone.wrong), "of words": float(ours.of)}
    reference |= {"transcribed at once (words)": float(whole.wrong), "ours (words)": float(ours.wrong)}
    reference |= {"faster-whisper alone (s)": lone.seconds, "transcribed at once (s)": whole.seconds}
    more = Figure("words_more", float(ours.wrong - lone.wrong), "words", GOAL_MORE, "lower")
    return [Figure("word_errors", ours.percent, "%", GOAL_PERCENT, "lower", reference), more, *figures]


# --- counting -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Errors:
    """`wrong` words (replaced, missing or too many) `of` all, and the seconds that hearing took."""

    wrong: int
    of: int
    seconds: float
    worst: tuple[str, ...] = ()

    @property
    def percent(self) -> float:
        """The word error rate."""
        return 100.0 * self.wrong / max(1, self.of)


def word_errors(spoken: Sequence[Recording], hear: Hear) -> Errors:
    """Have every recording heard; `worst` shows those with errors."""
    wrong = of = 0
    worst: list[str] = []
    began = time.perf_counter()
    for recording in spoken:
        heard = hear(recording.samples)
        said = words(recording.text)
        found = distance(said, words(heard))
        wrong, of = wrong + found, of + len(said)
        if found:
            worst.append(f"{found} {recording.name}: {heard}")
    return Errors(wrong, of, time.perf_counter() - began, tuple(worst))


def recordings(folder: Path) -> list[Recording]:
    """What manifest.json in `folder` lists, as mono sound at 16 kHz."""
    import soundfile
    import soxr

    found = []
    for entry in json.loads((folder / "manifest.json").read_text("utf-8")):
        samples, rate = soundfile.read(folder / entry["path"], dtype="float32", always_2d=True)
        mono = samples.mean(axis=1)
        found.append(
            Recording(entry["path"], mono if rate == RATE else soxr.resample(mono, rate, RATE), entry["text"])
        )
    return found


_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SPELLED = {"mr": "mister", "mrs": "missus", "dr": "doctor"}


def words(text: str) -> list[str]:
    """The words of `text` in small letters without punctuation, numbers spelled out."""
    found: list[str] = []
    for word in re.findall(r"\d+|[^\W\d_]+(?:'[^\W\d_]+)*", text.lower().replace("’", "'")):
        found += number(int(word)) if word.isdecimal() else [_SPELLED.get(word, word)]
    return found


def number(value: int) -> list[str]:
    """A whole number as it is read; one of four digits between 1100 and 1999 as a year."""
    if value < len(_ONES):
        return [_ONES[value]]
    if value < 100:
        return [_TENS[value // 10 - 2], *(number(value % 10) if value % 10 else [])]
    if 1100 <= value < 2000 and value % 1000:
        return [*number(value // 100), *(number(value % 100) if value % 100 else ["hundred"])]
    for size, name in ((1_000_000, "million"), (1000, "thousand"), (100, "hundred")):
        if value >= size:
            return [*number(value // size), name, *(number(value % size) if value % size else [])]
    return []


def distance(said: Sequence[str], heard: Sequence[str]) -> int:
    """How many words have to be replaced, left out or put in (Levenshtein)."""
    row = list(range(len(heard) + 1))
    for place, word in enumerate(said, 1):
        before, row[0] = row[0], place
        for other, rival in enumerate(heard, 1):
            before, row[other] = row[other], min(row[other] + 1, row[other - 1] + 1, before + (word != rival))
    return row[-1]


# --- hearing --------------------------------------------------------------------------------------------


def uttered(recogniser: Recogniser, samples: Samples) -> str:
    """What an utterance makes of `samples`, fed block by block and as fast as it takes them."""
    import numpy as np

    utterance = Utterance(recogniser)
    padded = np.concatenate((samples, np.zeros(-len(samples) % BLOCK, np.float32)))
    for number_of, block in enumerate(padded.reshape(-1, BLOCK)):
        utterance.feed(Block(block, number_of * BLOCK / RATE, 0.0))
    return utterance.finish().text


def _alone() -> Hear:
    """faster-whisper with its own settings and the same beam."""
    from faster_whisper import WhisperModel

    model: Any = WhisperModel(
        str(resources.recogniser_dir()),
        device="cpu",
        compute_type="int8",
        cpu_threads=os.cpu_count() or 1,
        local_files_only=True,
    )

    def hear(samples: Samples) -> str:
        found, _ = model.transcribe(samples, language="en", beam_size=BEAM)
        return " ".join(segment.text.strip() for segment in found)

    return hear


# --- silence, noise and music ---------------------------------------------------------------------------


def _invented(recogniser: Recogniser) -> Figure:
    heard = {name: uttered(recogniser, samples) for name, samples in without_speech(SECONDS)}
    counts = {f"{name} (words)": float(len(text.split())) for name, text in heard.items()}
    return Figure("invented_words", sum(counts.values()), "words", 0.0, "lower", counts)


def without_speech(seconds: int) -> Iterator[tuple[str, Samples]]:
    """Names and sound in which nobody speaks, the same on every machine."""
    import numpy as np

    chance = np.random.default_rng(0)
    count = seconds * RATE
    place = np.arange(count) / RATE
    white = chance.standard_normal(count)
    spectrum, frequency = np.fft.rfft(white), np.maximum(1.0, np.arange(count // 2 + 1))
    pink = np.fft.irfft(spectrum / np.sqrt(frequency), count)
    brown = np.fft.irfft(spectrum / frequency, count)
    hum = sum(0.1 / over * np.sin(2 * np.pi * 50 * over * place) for over in range(1, 8))
    clicks = np.zeros(count)
    clicks[chance.integers(0, count, 2 * seconds)] = 0.9
    sounds = {
        "silence": np.zeros(count),
        "a quiet room": 1e-4 * white,
        "white noise": 0.05 * white,
        "loud white noise": 0.3 * white,
        "pink noise": 0.1 * pink / pink.std(),
        "brown noise": 0.2 * brown / brown.std(),
        "hum": hum + 0.002 * white,
        "clicks": clicks,
        "a constant": np.full(count, 0.3),
        "a keyboard": _keyboard(chance, count),
        "music": _music(chance, count),
    }
    for name, samples in sounds.items():
        yield name, np.clip(samples, -1.0, 1.0).astype(np.float32)


def _keyboard(chance: Any, count: int) -> Any:
    import numpy as np

    found = 0.0005 * chance.standard_normal(count)
    stroke = np.exp(-np.arange(800) / 120)
    for start in chance.integers(0, count - 800, 6 * count // RATE):
        found[start : start + 800] += chance.uniform(0.05, 0.4) * stroke * chance.standard_normal(800)
    return found


def _music(chance: Any, count: int) -> Any:
    """A melody of plucked notes over chords."""
    import numpy as np

    found = np.zeros(count + 2 * RATE)
    scale = (0, 2, 4, 5, 7, 9, 11, 12)
    chords = ((0, 4, 7), (5, 9, 12), (7, 11, 14), (9, 12, 16))
    for beat, start in enumerate(range(0, count, 2 * RATE // 5)):
        notes = [(261.6, scale[chance.integers(len(scale))], 0.8, 0.2)]
        if beat % 4 == 0:
            notes += [(130.8, step, 1.8, 0.12) for step in chords[beat // 4 % 4]]
        for base, step, length, loud in notes:
            place = np.arange(int(length * RATE)) / RATE
            pitch = base * 2 ** (step / 12)
            tone = sum(np.sin(2 * np.pi * pitch * over * place) / over**1.5 for over in range(1, 7))
            found[start : start + len(place)] += (
                loud * tone * np.minimum(1, place / 0.01) * np.exp(-2 * place)
            )
    return found[:count]
