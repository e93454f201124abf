"""A sound server with a voice child for the benches of speech, and how they measure on it."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from resources import recogniser_dir
from tests.bench.figure import percentile
from tests.sound_stage import RATE, Recording, SoundStage
from tests.voice.spoken import Samples
from voice.stt.reading import BEAM
from voice.stt.recogniser import Recogniser

LOUD = 0.004
"""Samples above this size are heard."""


@contextmanager
def stage() -> Iterator[SoundStage]:
    """A private sound server, which this process and its children use meanwhile."""
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder, SoundStage(Path(folder)) as made:
        before = dict(os.environ)
        os.environ.update(made.environment)
        try:
            yield made
        finally:
            os.environ.clear()
            os.environ.update(before)


async def pass_time(seconds: float) -> None:
    """Let sound pass for so long: what is measured here happens at its own times."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    loop.call_later(seconds, over.set_result, None)
    await over


def first_sound(recording: Recording, begin: int) -> float | None:
    """When (time.monotonic) the first audible sample at or after `begin` had arrived; None before it has."""
    loud = np.flatnonzero(np.abs(recording.samples[begin:]) > LOUD)
    return recording.arrival(begin + int(loud[0])) if len(loud) else None


def last_sound(recording: Recording) -> float:
    """When the last audible sample had arrived; 0 where there was none."""
    loud = np.flatnonzero(np.abs(recording.samples) > LOUD)
    return recording.arrival(int(loud[-1])) if len(loud) else 0.0


def is_loud(recording: Recording, seconds: float = 0.03) -> bool:
    """Whether the last `seconds` that arrived are audible throughout: no pause between two words."""
    tail = np.abs(recording.samples[-int(seconds * RATE) :])
    return bool(len(tail)) and all(part.max() > 0.02 for part in np.array_split(tail, 3))


def monitor_delay(recording: Recording, times: int = 10) -> list[float]:
    """Milliseconds from a bare PortAudio stream's decision to sound until the monitor has it."""
    import sounddevice

    found: list[float] = []
    loud = [False]

    def fill(out: Any, frames: int, moment: Any, status: Any) -> None:
        del frames, moment, status
        out.fill(0.5 if loud[0] else 0.0)

    with sounddevice.OutputStream(samplerate=RATE, channels=1, latency="low", callback=fill):
        for _ in range(times):
            recording.wait_for_silence(0.2)
            begin, began, loud[0] = len(recording.samples), time.monotonic(), True
            recording.wait(lambda begin=begin: first_sound(recording, begin) is not None, "a sound")  # type: ignore[misc]
            arrived, loud[0] = first_sound(recording, begin), False
            assert arrived is not None
            found.append(1000 * (arrived - began))
    return found


def lone_pass() -> Callable[[Samples], str]:
    """faster-whisper with the bundled model and the same beam, reading a whole sound at once."""
    Recogniser(recogniser_dir()).load()  # which is how faster_whisper is imported here
    from faster_whisper import WhisperModel

    folder, threads = str(recogniser_dir()), os.cpu_count() or 1
    options = {"device": "cpu", "compute_type": "int8", "cpu_threads": threads, "local_files_only": True}
    model: Any = WhisperModel(folder, **options)

    def read(samples: Samples) -> str:
        segments, _ = model.transcribe(samples, language="en", beam_size=BEAM)
        return " ".join(segment.text.strip() for segment in segments)

    return read


def spread(name: str, values: list[float]) -> dict[str, float]:
    """The median and the 95th percentile as references."""
    return {f"{name}, p50": percentile(values, 50), f"{name}, p95": percentile(values, 95)}
