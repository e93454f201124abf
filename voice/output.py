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
from voice.standstill import Standstill
from voice.timeline import Timeline

if TYPE_CHECKING:
    from voice.sound import Samples

FADE = 0.005
"""Seconds in which the sound falls silent, so that nothing clicks."""

STALL = 1.0
"""Seconds in which the device takes nothing, after which it is taken for broken."""

TAIL = 0.5
"""Seconds of silence after the last sound, at the end of which the device is halted."""

SHORT = 0.02
"""Seconds that the device's buffer holds at first, which is soon empty when it has to fall silent."""

LONG = 0.08
"""The same on a machine so busy that a shorter buffer runs dry."""


LEAD = 0.01
"""Seconds of silence before the first sound: the first milliseconds after a start do not always get out."""


class Output:
    """Plays `playlist` on `device` while it runs. The list may be exchanged: the old one fades out.

    A device that is halted starts with the first frames at once, while one that plays silence would first
    play what its buffer holds. `played` holds what was given to the device, as (frame number, mono frames),
    for one reader; `wake` is set when there is more. The maker closes it. Not for several threads at once,
    but for `position` and `delay`.
    """

    def __init__(
        self, device: Device, playlist: Playlist | None, latency: float, wake: threading.Event
    ) -> None:
        self.device = device
        self.volume = 1.0
        self.starved = 0
        self.made = 0
        self.quiet_since = time.monotonic()
        self.played: deque[tuple[int, Samples]] = deque(maxlen=1000)
        self._wake = wake
        self._ended = False
        self._fresh = True
        self._lead = 0
        self._standstill = Standstill()
        self._sounded = 0
        self._stream = Stream(device, self._fill, self._on_finished, latency)
        self.rate = self._stream.rate
        self.timeline = Timeline(self.rate)
        if playlist is None:
            playlist = Playlist(self.rate)
        elif playlist.rate != self.rate:
            playlist = playlist.rest(0, self.rate)
        self.playlist = self._playing = playlist

    def run(self) -> None:
        """Begin to play where it does not; VoiceError where the device refuses."""
        if not self._stream.running:
            self._standstill, self._fresh, self._playing = Standstill(), True, self.playlist
            self._stream.start()

    def halt(self) -> None:
        """Stop at once and drop what is in the device's buffer."""
        self._stream.halt()

    def close(self) -> None:
        """Let the device go; what is in its buffer is not heard."""
        self._stream.close()

    def position(self) -> int:
        """How many frames of the list were heard until now."""
        frame = self.timeline.frame_at(time.monotonic())
        return 0 if frame is None else self.playlist.position(frame)

    def delay(self) -> float:
        """Seconds until what is given to the device now is heard."""
        heard = self.timeline.time_of(self.made)
        return 0.0 if heard is None else max(0.0, heard - time.monotonic())

    def is_quiet(self) -> bool:
        """Whether all was heard, and then silence for a while."""
        silent = not self.running or self.made >= self._sounded + TAIL * self.rate
        return silent and not self.playlist.waiting

    def is_broken(self) -> bool:
        """Whether the stream ended by itself or stands still."""
        still = self._standstill.look() >= STALL and self._stream.running
        return self._ended or self._stream.stuck or still

    @property
    def running(self) -> bool:
        """Whether the device plays, if only silence."""
        return self._stream.running

    def _fill(self, data: Any, moment: Any, status: Any) -> None:
        import numpy as np

        self._standstill.sign()
        count, frame = len(data), self.made
        lead, now = self._stream.ahead(moment), time.monotonic()
        if self._fresh or status.output_underflow:
            self.starved += not self._fresh
            self._lead = round(LEAD * self.rate) if self._fresh else 0
            self._fresh = False
            self.timeline.restart(frame, now)
        elif moment.outputBufferDacTime > moment.currentTime:  # else the buffer is filled for the first time
            self.timeline.tick(frame, now + lead)
        mono, at = np.zeros(count, np.float32), min(self._lead, count)
        self._lead -= at
        playlist = self.playlist
        if playlist is not self._playing:
            rest = self._playing.take(min(count - at, round(FADE * self.rate)), frame + at)
            mono[at : at + len(rest)] = rest * np.linspace(1.0, 0.0, len(rest), dtype=np.float32)
            self._playing = playlist
            at += len(rest)
        piece = playlist.take(count - at, frame + at)
        mono[at : at + len(piece)] = piece
        mono *= self.volume
        data[:] = np.clip(mono, -1.0, 1.0, out=mono)[:, None]
        self.made = frame + count
        if at or len(piece):
            self._sounded = self.made
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
