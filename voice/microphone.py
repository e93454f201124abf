"""The microphone: blocks of 20 ms at 16 kHz, whatever rate and channels the device has."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from voice.device import fault
from voice.devices import Device, Watch, devices, find, succeed
from voice.errors import VoiceError
from voice.portaudio import Stream
from voice.resample import Resampler
from voice.ring import Ring
from voice.sound import BLOCK, RATE, Block, loudness
from voice.standstill import Standstill
from voice.timeline import Timeline

if TYPE_CHECKING:
    from voice.sound import Samples

STALL = 2.0
"""Seconds without sound after which a device is opened anew, and given up when that does not help."""

_LOOK = 0.25
"""Seconds between two looks at a device that gives nothing."""

_LATENCY = 0.04
"""Seconds that the device's buffer holds; a quarter of it comes at a time."""

_HELD = 4.0
"""Seconds of sound that may wait for `on_block`."""

_LOCKED = 3.0
"""Seconds of exact zeros from the first on by which Windows and macOS show that they let nobody listen."""


class Microphone:
    """A microphone by its id, empty for the system's own, which is then followed when it changes.

    `on_block` gets every block in one thread of the microphone's own, from `open` to `close`; it may take
    seconds before sound is lost (`overruns` counts that). `on_trouble` gets faults that come later, in the
    same thread, each once; after `microphone_gone` the microphone is closed and may be opened again.
    `open` and `close` are for the owner's thread, the rest for any.
    """

    def __init__(
        self,
        device: str,
        on_block: Callable[[Block], None],
        on_trouble: Callable[[VoiceError], None],
    ) -> None:
        self._wanted = device
        self._on_block = on_block
        self._on_trouble = on_trouble
        self._wake = threading.Event()
        self._closing = False
        self._present: tuple[Device, ...] | None = None
        self._lost = 0
        self._capture: _Capture | None = None
        self._watch: Watch | None = None
        self._thread: threading.Thread | None = None

    @property
    def device(self) -> Device | None:
        """The device that listens now; None while the microphone is closed."""
        capture = self._capture
        return None if capture is None else capture.device

    @property
    def overruns(self) -> int:
        """How often sound was lost because nobody took it in time."""
        capture = self._capture
        return self._lost + (0 if capture is None else capture.overruns)

    def open(self) -> None:
        """Begin to listen.

        VoiceError `microphone_missing`, `_unplugged`, `_busy`, `_refused`, `_unusable`, or `sound_…`.
        """
        self.close()
        self._closing, self._present = False, None
        device = find("microphone", self._wanted, devices())
        self._capture = _Capture(device, self._wake)
        self._thread = threading.Thread(target=self._listen, name="voice microphone", daemon=True)
        self._thread.start()
        self._watch = Watch(self._on_devices)

    def close(self) -> None:
        """Stop listening and let the device go; no call comes afterwards. Not from `on_block`."""
        self._closing = True
        self._wake.set()
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _on_devices(self, present: tuple[Device, ...]) -> None:
        self._present = present
        self._wake.set()

    # --- in the microphone's thread -----------------------------------------------------------------------

    def _listen(self) -> None:
        trouble: VoiceError | None = None
        try:
            if self._capture is not None and self._capture.device.muted:
                self._on_trouble(fault("microphone", "muted", name=self._capture.device.name))
            while not self._closing:
                self._wake.wait(_LOOK)
                self._wake.clear()
                self._hand_on()
                self._follow()
        except VoiceError as error:
            trouble = error
        finally:
            self._let_go()
        if trouble is not None and not self._closing:
            self._on_trouble(trouble)

    def _hand_on(self) -> None:
        capture = self._capture
        assert capture is not None
        for block in capture.blocks():
            if self._closing:
                return
            self._on_block(block)
        if capture.is_locked():
            self._on_trouble(VoiceError("microphone_silent", name=capture.device.name))

    def _follow(self) -> None:
        """Go to another device, or to the same one anew, where that is called for."""
        capture = self._capture
        assert capture is not None
        present, self._present = self._present, None
        broken = capture.is_broken()
        if self._closing or (present is None and not broken):
            return
        gone = fault("microphone", "gone", name=capture.device.name)
        if broken and not capture.made:
            raise gone
        after = succeed(
            capture.device, self._wanted, devices() if present is None else present, broken=broken
        )
        capture.device = after.device
        if after.reopen:
            self._let_go()
            try:
                self._capture = _Capture(after.device, self._wake)
            except VoiceError as error:
                raise gone from error
        if after.trouble is not None:
            self._on_trouble(after.trouble)

    def _let_go(self) -> None:
        capture, self._capture = self._capture, None
        if capture is not None:
            self._lost += capture.overruns
            capture.close()


class _Capture:
    """One opened device and what makes blocks of its frames; `wake` is set when there are some.

    The callback writes into the ring; everything else happens in the microphone's thread.
    """

    def __init__(self, device: Device, wake: threading.Event) -> None:
        self.device = device
        self.made = 0
        self.overruns = 0
        self._wake = wake
        self._ended = False
        self._zeros = True
        self._rest: list[Samples] = []
        self._stream = Stream(device, self._heard, self._on_finished, _LATENCY)
        self._ring = Ring(round(self._stream.rate * _HELD), self._stream.channels)
        self._timeline = Timeline(self._stream.rate)
        self._resampler = Resampler(self._stream.rate, RATE)
        self._last = time.monotonic()
        self._standstill = Standstill()
        self._stream.start()

    def close(self) -> None:
        """Let the device go; what was not yet read is dropped."""
        self._stream.close()

    def blocks(self) -> Iterator[Block]:
        """The whole blocks that came since; a rest waits for the next call."""
        import numpy as np

        _, frames = self._ring.read()
        if len(frames):
            self._rest.append(self._resampler.feed(frames.mean(axis=1)))
        while sum(map(len, self._rest)) >= BLOCK:
            samples = np.concatenate(self._rest)
            samples, self._rest = samples[:BLOCK], [samples[BLOCK:]]
            begun = self._timeline.time_of(self.made * self._stream.rate / RATE)
            self.made += BLOCK
            self._zeros = self._zeros and not samples.any()
            yield Block(samples, begun if begun is not None else self._last, loudness(samples))

    def is_broken(self) -> bool:
        """Whether the stream ended by itself or stands still."""
        return self._standstill.look() >= STALL or self._ended

    def is_locked(self) -> bool:
        """True once where the system gives zeros in place of sound, as it does without the permission."""
        locked = self._zeros and self.made > _LOCKED * RATE and not sys.platform.startswith("linux")
        self._zeros = self._zeros and not locked
        return locked

    def _heard(self, data: Any, moment: Any, status: Any) -> None:
        age = max(0.0, -self._stream.ahead(moment))
        self._last = now = time.monotonic()
        self._standstill.sign()
        if status.input_overflow:
            self._timeline.restart(self._ring.written, now)
        self._timeline.tick(self._ring.written, now - age)
        if not self._ring.write(data) or status.input_overflow:
            self.overruns += 1
        self._wake.set()

    def _on_finished(self) -> None:
        self._ended = True
        self._wake.set()
