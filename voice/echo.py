"""Takes what the loudspeaker plays out of what the microphone hears, with WebRTC's echo canceller."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from voice.sound import RATE

if TYPE_CHECKING:
    from livekit.rtc.apm import AudioProcessingModule

    from voice.sound import Samples

_FRAME = RATE // 100
_KEPT = 2 * RATE
"""Samples of the loudspeaker's sound that are remembered."""


class EchoCanceller:
    """Both sides are 16 kHz mono with the times (time.monotonic) of their first samples.

    `far` and `near` may be called in different threads. `load` comes first; whoever made it closes it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._module: AudioProcessingModule | None = None
        self._far: list[tuple[float, Samples]] = []

    def load(self) -> None:
        """Load the library (about 0.3 s)."""
        from livekit.rtc.apm import AudioProcessingModule

        self._module = AudioProcessingModule(echo_cancellation=True, high_pass_filter=True)

    def far(self, samples: Samples, time: float) -> None:
        """What the loudspeaker plays from `time` on; given before the microphone can hear it."""
        with self._lock:
            self._far.append((time, samples))
            while len(self._far) > 1 and time - self._far[0][0] > _KEPT / RATE:
                del self._far[0]

    def near(self, samples: Samples, time: float) -> Samples:
        """`samples` as the microphone heard them from `time` on, without the loudspeaker's part."""
        import numpy as np

        cleaned = np.zeros(len(samples), np.float32)
        for start in range(0, len(samples) - _FRAME + 1, _FRAME):
            far = self._stretch(time + start / RATE)
            cleaned[start : start + _FRAME] = self._frame(far, samples[start : start + _FRAME])
        return cleaned

    def close(self) -> None:
        """Free the canceller; it may be loaded again."""
        if self._module is not None:
            self._module._ffi_handle.dispose()
            self._module = None

    def _stretch(self, time: float) -> Samples:
        """10 ms of the loudspeaker's sound from `time` on, with silence where there is none."""
        import numpy as np

        made = np.zeros(_FRAME, np.float32)
        with self._lock:
            for begun, piece in self._far:
                at = round((begun - time) * RATE)
                low, high = max(0, at), min(_FRAME, at + len(piece))
                if low < high:
                    made[low:high] = piece[low - at : high - at]
        return made

    def _frame(self, far: Samples, near: Samples) -> Samples:
        import numpy as np
        from livekit.rtc.audio_frame import AudioFrame

        if self._module is None:
            return near
        frames = [
            AudioFrame(bytearray((np.clip(x, -1, 1) * 32767).astype(np.int16).tobytes()), RATE, 1, _FRAME)
            for x in (far, near)
        ]
        self._module.process_reverse_stream(frames[0])
        self._module.set_stream_delay_ms(0)
        self._module.process_stream(frames[1])
        return np.frombuffer(frames[1].data, np.int16).astype(np.float32) / np.float32(32768)
