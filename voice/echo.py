"""Takes what the loudspeaker plays out of what the microphone hears, with WebRTC's echo canceller."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from voice.sound import RATE

if TYPE_CHECKING:
    from livekit.rtc.apm import AudioProcessingModule

    from voice.sound import Samples

_FRAME = RATE // 100
"""Samples that the canceller takes at a time: 10 ms."""

_KEPT = 4 * RATE
"""Samples of the loudspeaker's sound that are remembered."""

_SLACK = RATE // 50
"""Samples by which times may wander: below it sound is taken to go on without a gap, since the canceller
learns how the room answers, and with one sample more or less it is another room."""

_MARGIN = 0.01
"""Seconds by which the loudspeaker's sound is fed ahead of its echo, for times that are not quite right.
The canceller finds the delay itself; up to a tenth of a second in all it does so at once."""


class EchoCanceller:
    """Both sides are mono at 16 kHz with the time (time.monotonic) of their first sample.

    `far` and `near` may be called in different threads, `near` in one. `load` comes first; the maker closes.
    Noise suppression and gain control stay off: recognisers of speech do better without them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._module: AudioProcessingModule | None = None
        self._line: Any = None
        self._epoch = 0.0
        self._end = 0
        self._cursor = 0

    def load(self) -> None:
        """Load the library, which takes about 0.3 s; it starts threads of its own and uses no network."""
        import numpy as np
        from livekit.rtc.apm import AudioProcessingModule

        self._line = np.zeros(_KEPT, np.float32)
        self._module = AudioProcessingModule(echo_cancellation=True, high_pass_filter=True)

    def close(self) -> None:
        """Free the canceller, when neither side is used; `near` then gives back what it gets."""
        module, self._module = self._module, None
        if module is not None:
            module._ffi_handle.dispose()

    def far(self, samples: Samples, time: float) -> None:
        """What the loudspeaker plays from `time` on, handed in before the microphone can hear it."""
        if self._module is None or not len(samples):
            return
        with self._lock:
            if not self._end:
                self._epoch = time
            begin = round((time - self._epoch) * RATE) + 1
            if abs(begin - self._end) > _SLACK:
                self._put(self._end, max(0, min(begin - self._end, _KEPT)), 0.0)
                self._end = begin
            self._put(self._end, len(samples), samples)
            self._end += len(samples)

    def near(self, samples: Samples, time: float) -> Samples:
        """`samples`, whole frames of 10 ms that the microphone heard from `time` on, without the echo."""
        import numpy as np

        if self._module is None:
            return samples
        cleaned = np.array(samples, np.float32)
        with self._lock:
            begin = round((time - self._epoch + _MARGIN) * RATE) + 1
            if abs(begin - self._cursor) > _SLACK:
                self._cursor = begin
            far = [self._stretch(self._cursor + at) for at in range(0, len(samples), _FRAME)]
            self._cursor += len(samples)
        for number, piece in enumerate(far):
            at = number * _FRAME
            if at + _FRAME <= len(samples):
                cleaned[at : at + _FRAME] = self._frame(piece, cleaned[at : at + _FRAME])
        return cleaned

    def _put(self, begin: int, count: int, samples: Any) -> None:
        """Write into the ring from absolute sample `begin` on; the last seconds of it are kept."""
        import numpy as np

        self._line[np.arange(begin, begin + count) % _KEPT] = samples

    def _stretch(self, begin: int) -> Samples:
        """10 ms of the loudspeaker's sound, with silence where there is none."""
        import numpy as np

        numbers = np.arange(begin, begin + _FRAME)
        known = (numbers >= 0) & (numbers < self._end) & (numbers >= self._end - _KEPT)
        made: Samples = np.where(known, self._line[numbers % _KEPT], np.float32(0))
        return made

    def _frame(self, far: Samples, near: Samples) -> Samples:
        import numpy as np
        from livekit.rtc.audio_frame import AudioFrame

        assert self._module is not None
        frames = [
            AudioFrame(bytearray((np.clip(side, -1, 1) * 32767).astype(np.int16)), RATE, 1, _FRAME)
            for side in (far, near)
        ]
        self._module.process_reverse_stream(frames[0])
        self._module.set_stream_delay_ms(round(_MARGIN * 1000))
        self._module.process_stream(frames[1])
        made: Samples = np.frombuffer(frames[1].data, np.int16).astype(np.float32) / np.float32(32768)
        return made
