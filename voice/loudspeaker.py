"""The loudspeaker: plays queued sound, falls silent at once, and knows what was really heard."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from voice.errors import VoiceError
from voice.resample import Resampler
from voice.sound import RATE

if TYPE_CHECKING:
    from voice.sound import Samples

Moment = Literal["begun", "ended"]

QUEUE_SECONDS = 120
"""Sound that may wait to be played; more is refused."""


class Loudspeaker:
    """A loudspeaker by its id, empty for the system's own (which is followed when it changes).

    A mark is a number the caller gives to a stretch of sound; several `play`s in a row may share one.
    `on_mark(mark, "begun" | "ended")` comes when the stretch is heard, `on_far(samples, time)` with what is
    heard from `time` (time.monotonic) on at 16 kHz, a little before; `on_trouble` with a fault, once. All
    three come in a thread of the loudspeaker and must not call it back. The other methods may be called in any thread.
    """

    def __init__(
        self,
        device: str,
        on_mark: Callable[[int, Moment], None],
        on_far: Callable[[Samples, float], None],
        on_trouble: Callable[[VoiceError], None],
        volume: float = 1.0,
    ) -> None:
        self.volume = volume
        self._device = device
        self._on_mark = on_mark
        self._on_far = on_far
        self._on_trouble = on_trouble
        self._lock = threading.Lock()
        self._queue: list[tuple[int, Samples]] = []
        self._heard: dict[int, float] = {}
        self._stream: Any = None
        self._far = Resampler(48_000, RATE)

    def open(self) -> None:
        """Open the device so that the first sound is not late; VoiceError where that is not possible."""
        import sounddevice

        try:
            self._stream = sounddevice.OutputStream(
                samplerate=48_000,
                device=self._device or None,
                channels=1,
                dtype="float32",
                latency="low",
                callback=self._fill,
            )
            self._stream.start()
        except (sounddevice.PortAudioError, ValueError) as error:
            raise VoiceError("loudspeaker_missing", name=self._device, reason=str(error)) from error

    def close(self) -> None:
        """Fall silent and let the device go; no call comes afterwards."""
        if self._stream is not None:
            self._stream.abort()
            self._stream.close()
            self._stream = None

    def play(self, samples: Samples, rate: int, mark: int) -> bool:
        """Queue `samples` at `rate` as a part of `mark` and return at once; False where the queue is full.

        Opens the device where it is closed; VoiceError where that is not possible.
        """
        if self._stream is None:
            self.open()
        with self._lock:
            if sum(len(piece) for _, piece in self._queue) > QUEUE_SECONDS * 48_000:
                return False
            self._queue.append((mark, Resampler(rate, 48_000).feed(samples, last=True)))
        return True

    def end(self, mark: int) -> None:
        """Nothing more belongs to `mark`: it is ended as soon as what it has is heard."""

    def stop(self) -> list[tuple[int, float]]:
        """Fall silent at once and forget the queue; the marks with the seconds of each that were heard."""
        with self._lock:
            self._queue.clear()
            heard, self._heard = list(self._heard.items()), {}
        return heard

    def played(self) -> tuple[int, float] | None:
        """The mark that is heard now and how many seconds of it were; None before the first."""
        with self._lock:
            return list(self._heard.items())[-1] if self._heard else None

    def _fill(self, out: Samples, frames: int, moment: Any, status: Any) -> None:
        del status
        out.fill(0)
        begun: list[int] = []
        ended: list[int] = []
        with self._lock:
            at = 0
            while self._queue and at < frames:
                mark, piece = self._queue[0]
                if mark not in self._heard:
                    begun.append(mark)
                take = min(len(piece), frames - at)
                out[at : at + take, 0] = piece[:take] * self.volume
                self._heard[mark] = self._heard.get(mark, 0.0) + take / 48_000
                at += take
                self._queue[0] = (mark, piece[take:])
                if take == len(piece):
                    del self._queue[0]
                    if not self._queue or self._queue[0][0] != mark:
                        ended.append(mark)
        for mark in begun:
            self._on_mark(mark, "begun")
        for mark in ended:
            self._on_mark(mark, "ended")
        self._on_far(
            self._far.feed(out[:, 0].copy()),
            time.monotonic() - moment.currentTime + moment.outputBufferDacTime,
        )
