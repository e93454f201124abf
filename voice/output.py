"""One opened loudspeaker: a stream that takes its frames from a playlist and knows when they are heard."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from voice.device import Device
from voice.playlist import Playlist
from voice.portaudio import Stream
from voice.resample import Resampler
from voice.sound import RATE
from voice.timeline import Timeline

if TYPE_CHECKING:
    from voice.sound import Samples

FADE = 0.005
"""Seconds in which the sound falls silent, so that nothing clicks."""

STALL = 1.0
"""Seconds in which the device takes nothing, after which it is taken for broken."""

_LATENCY = 0.02
"""Seconds that the device's buffer holds: less starves on a busy machine, more is slow to fall silent."""

_TAIL = 0.5
"""Seconds after the last sound in which `wake` is still set, so that its end is noticed."""


class Output:
    """Plays `playlist` on `device`. The list may be exchanged at any time: the old one fades out.

    `played` holds what was given to the device, as (frame number, mono frames), for one reader; `wake` is
    set when there is more. The maker starts and closes it.
    """

    def __init__(self, device: Device, volume: float, wake: threading.Event) -> None:
        self.device = device
        self.volume = volume
        self.made = 0
        self.quiet_since = time.monotonic()
        self.played: deque[tuple[int, Samples]] = deque(maxlen=1000)
        self._wake = wake
        self._ended = False
        self._last = time.monotonic()
        self._sounded = -1
        self._stream = Stream(device, self._fill, self._on_finished, _LATENCY)
        self.rate = self._stream.rate
        self.timeline = Timeline(self.rate)
        self.playlist = self._playing = Playlist(self.rate)

    def start(self, playlist: Playlist) -> None:
        """Begin to play `playlist`, which is at the stream's rate."""
        self.playlist = self._playing = playlist
        self._stream.start()

    def close(self) -> None:
        """Let the device go; what is in its buffer is not heard."""
        self._stream.close()

    def position(self, playlist: Playlist) -> int:
        """How many frames of `playlist` were heard until now."""
        frame = self.timeline.frame_at(time.monotonic())
        return 0 if frame is None else playlist.position(frame)

    def delay(self) -> float:
        """Seconds until what is given to the device now is heard."""
        heard = self.timeline.time_of(self.made)
        return 0.0 if heard is None else max(0.0, heard - time.monotonic())

    def is_broken(self) -> bool:
        """Whether the stream ended by itself or stands still."""
        return self._ended or time.monotonic() - self._last > STALL

    def _fill(self, data: Any, moment: Any, status: Any) -> None:
        import numpy as np

        del status
        count, frame, self._last = len(data), self.made, time.monotonic()
        self.timeline.tick(frame, self._last + max(0.0, moment.outputBufferDacTime - moment.currentTime))
        mono, faded = np.zeros(count, np.float32), 0
        playlist = self.playlist
        if playlist is not self._playing:
            rest = self._playing.take(min(count, round(FADE * self.rate)), frame)
            faded = len(rest)
            mono[:faded] = rest * np.linspace(1.0, 0.0, faded, dtype=np.float32)
            self._playing = playlist
        piece = playlist.take(count - faded, frame + faded)
        mono[faded : faded + len(piece)] = piece
        mono *= self.volume
        data[:] = np.clip(mono, -1.0, 1.0, out=mono)[:, None]
        self.made = frame + count
        if faded or len(piece):
            self._sounded = self.made
        if self._sounded >= 0 and frame < self._sounded + _TAIL * self.rate:
            self.played.append((frame, mono))
            self._wake.set()

    def _on_finished(self) -> None:
        self._ended = True
        self._wake.set()


class Far:
    """Makes of what outputs played the 16 kHz sound, with times, that an echo canceller wants."""

    def __init__(self) -> None:
        self._output: Output | None = None
        self._resampler = Resampler(RATE, RATE)
        self._begun = 0
        self._next = -1
        self._made = 0

    def of(self, output: Output) -> Iterator[tuple[Samples, float]]:
        """What was played since the last call: samples, and when (time.monotonic) the first is heard."""
        while output.played:
            frame, mono = output.played.popleft()
            if output is not self._output or frame != self._next:
                self._output, self._begun, self._made = output, frame, 0
                self._resampler = Resampler(output.rate, RATE)
            self._next = frame + len(mono)
            samples = self._resampler.feed(mono)
            heard = output.timeline.time_of(self._begun + self._made * output.rate / RATE)
            self._made += len(samples)
            if len(samples) and heard is not None:
                yield samples, heard
