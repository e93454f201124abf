"""The microphone: blocks of 20 ms, whatever the device's own rate and channels are."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from voice.errors import VoiceError
from voice.resample import Resampler
from voice.sound import BLOCK, RATE, Block, loudness

if TYPE_CHECKING:
    from voice.sound import Samples


class Microphone:
    """A microphone by its id, empty for the system's own (which is followed when it changes).

    `on_block` gets every block in one thread, from `open` to `close`. `on_trouble` gets a fault that comes
    later, once; the microphone is closed then. `open` and `close` are for one thread.
    """

    def __init__(
        self,
        device: str,
        on_block: Callable[[Block], None],
        on_trouble: Callable[[VoiceError], None],
    ) -> None:
        self.overruns = 0
        self._device = device
        self._on_block = on_block
        self._on_trouble = on_trouble
        self._queue: queue.Queue[tuple[Samples, float] | None] = queue.Queue(200)
        self._recent: deque[Samples] = deque(maxlen=15)
        self._stream: Any = None
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Begin to listen; VoiceError where that is not possible."""
        import sounddevice

        try:
            self._stream = sounddevice.InputStream(
                device=self._device or None, channels=1, dtype="float32", latency="low", callback=self._heard
            )
        except (sounddevice.PortAudioError, ValueError) as error:
            raise VoiceError("microphone_missing", name=self._device, reason=str(error)) from error
        self._thread = threading.Thread(target=self._read, name="voice microphone", daemon=True)
        self._thread.start()
        self._stream.start()

    def close(self) -> None:
        """Stop listening; no call comes afterwards."""
        if self._stream is not None:
            self._stream.abort()
            self._stream.close()
            self._stream = None
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def preroll(self) -> Samples:
        """The last 300 ms (fewer just after `open`), at 16 kHz. Any thread."""
        import numpy as np

        return np.concatenate([np.zeros(0, np.float32), *self._recent])

    def _heard(self, data: Samples, frames: int, moment: Any, status: Any) -> None:
        del frames
        try:
            self._queue.put_nowait(
                (data[:, 0].copy(), time.monotonic() - moment.currentTime + moment.inputBufferAdcTime)
            )
        except queue.Full:
            self.overruns += 1
        self.overruns += bool(status.input_overflow)

    def _read(self) -> None:
        import numpy as np

        resampler, rest = Resampler(int(self._stream.samplerate), RATE), np.zeros(0, np.float32)
        while (piece := self._queue.get()) is not None:
            rest = np.concatenate([rest, resampler.feed(piece[0])])
            while len(rest) >= BLOCK:
                samples, rest = rest[:BLOCK], rest[BLOCK:]
                self._recent.append(samples)
                self._on_block(Block(samples, piece[1], loudness(samples)))
