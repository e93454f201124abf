"""The loudspeaker: plays queued sound, falls silent at once, and knows what was really heard."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from voice.device import fault
from voice.devices import Device, Watch, devices, find, succeed
from voice.errors import VoiceError
from voice.output import FADE, LONG, SHORT, STALL, Far, Output
from voice.playlist import Playlist

if TYPE_CHECKING:
    from voice.sound import Samples

Moment = Literal["begun", "ended"]
OnMark = Callable[[int, Moment], None]
OnFar = Callable[["Samples", float], None]

IDLE = 10.0
"""Seconds of silence after which the device is let go, so that it can sleep; the next sound opens it."""

WAITING_BYTES = 32_000_000
"""How much sound may wait: nearly three minutes at 48 kHz."""

_SLOW = 0.04
"""Seconds in a device's buffer beyond which it is emptied by force instead of playing the fade."""


class Loudspeaker:
    """A loudspeaker by its id, empty for the system's own, which is then followed when it changes.

    A mark is a number that the caller gives to a stretch of sound; several calls of `play` in a row may
    share one, until `end`. In a thread of the loudspeaker's own, `on_mark(mark, "begun" | "ended")` comes
    when the stretch begins and has ended to be heard, `on_far(samples, time)` with what is heard from `time`
    (time.monotonic) on, at 16 kHz and a little ahead of it, and `on_trouble` with faults that come later,
    each once. After `loudspeaker_gone` it is closed but keeps its queue: `open` plays on, `stop` forgets it.

    Other methods are for any thread, also from within those calls, but `close` is not.
    """

    def __init__(
        self,
        device: str,
        on_mark: OnMark,
        on_far: OnFar | None,
        on_trouble: Callable[[VoiceError], None],
        volume: float = 1.0,
    ) -> None:
        self._volume = volume
        self._latency = SHORT
        self._wanted = device
        self._on_mark = on_mark
        self._on_far = on_far
        self._on_trouble = on_trouble
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._closing = False
        self._present: tuple[Device, ...] | None = None
        self._untold: list[VoiceError] = []
        self._list: Playlist | None = None
        self._output: Output | None = None
        self._watch: Watch | None = None
        self._thread: threading.Thread | None = None

    @property
    def volume(self) -> float:
        """The factor of loudness, 1 as recorded; it may be changed at any time."""
        return self._volume

    @volume.setter
    def volume(self, factor: float) -> None:
        with self._lock:
            self._volume = factor
            if self._output is not None:
                self._output.volume = factor

    @property
    def device(self) -> Device | None:
        """The device that is open now; None while it is closed or asleep."""
        output = self._output
        return None if output is None else output.device

    def open(self) -> None:
        """Make ready, so that the first sound is not late; again it only puts the sleep off.

        VoiceError `loudspeaker_missing`, `_unplugged`, `_busy`, `_refused`, `_unusable`, or `sound_…`.
        """
        with self._lock:
            self._closing = False
            if self._output is None:
                self._go_to(find("loudspeaker", self._wanted, devices()))
            else:
                self._output.quiet_since = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="voice loudspeaker", daemon=True)
                self._thread.start()
                self._watch = Watch(self._on_devices)

    def close(self) -> None:
        """Fall silent, let the device go and forget the queue; no call comes afterwards."""
        with self._lock:
            self._closing = True
            watch, self._watch = self._watch, None
            thread, self._thread = self._thread, None
            self._let_go()
            self._list = None
        self._wake.set()
        if watch is not None:
            watch.close()
        if thread is not None:
            thread.join()

    def play(self, samples: Samples, rate: int, mark: int) -> bool:
        """Queue mono `samples` at `rate` as a part of `mark` and return at once; False where it is full.

        Opens the device where it is closed, with the errors of `open`.
        """
        with self._lock:
            self.open()
            queue = self._list
            if queue is None or queue.waiting * 4 > WAITING_BYTES:
                return False
            queue.add(samples, rate, mark)
            if self._output is not None:
                self._output.run()
        return True

    def end(self, mark: int) -> None:
        """Nothing more belongs to `mark`: it has ended as soon as what it has is heard."""
        with self._lock:
            queue = self._list
            if queue is not None and queue.stretches and queue.stretches[-1].mark == mark:
                queue.end()
        self._wake.set()

    def stop(self) -> list[tuple[int, float]]:
        """Fall silent within the device's buffer and forget the queue.

        Returns the marks that were begun and whose end was not told, each with the seconds of it that were
        heard. The end of one of them may be told just now.
        """
        with self._lock:
            old, output = self._list, self._output
            if old is None or output is None:
                self._list = None
                return [] if old is None else old.heard(0)
            self._list = Playlist(old.rate)
            heard = output.position()
            if output.delay() <= _SLOW:
                heard = old.taken + min(old.waiting, round(FADE * old.rate))
            else:
                output.halt()
            output.playlist = self._list
            return old.heard(heard)

    def played(self) -> tuple[int, float] | None:
        """The mark that is heard now and how many seconds of it were; None where none is."""
        with self._lock:
            heard = [] if self._list is None else self._list.heard(self._position())
        return heard[-1] if heard else None

    def _on_devices(self, present: tuple[Device, ...]) -> None:
        self._present = present
        self._wake.set()

    # --- under the lock -----------------------------------------------------------------------------------

    def _position(self) -> int:
        """How many frames of the list were heard; none since a stream that ended left only its rest."""
        return 0 if self._output is None else self._output.position()

    def _go_to(self, device: Device) -> None:
        """Be ready to play on `device` from where the last one stopped."""
        self._let_go()
        self._output = output = Output(device, self._list, self._latency, self._wake)
        output.volume = self._volume
        self._list = output.playlist
        if device.muted:
            self._untold.append(fault("loudspeaker", "muted", name=device.name))
            self._wake.set()
        if self._list.waiting:
            output.run()

    def _go_on(self, device: Device, gone: VoiceError) -> None:
        """The same in the middle of an answer, where a device that cannot be opened is `gone`."""
        try:
            self._go_to(device)
        except VoiceError as error:
            raise gone from error

    def _let_go(self) -> None:
        """Close the device, and keep of the list what it has not played."""
        output, self._output = self._output, None
        if output is not None:
            heard = output.position()
            output.close()
            if self._list is not None:
                self._list = self._list.rest(heard, self._list.rate)

    # --- in the loudspeaker's thread ----------------------------------------------------------------------

    def _run(self) -> None:
        far = Far()
        while True:
            self._wake.wait(self._patience())
            self._wake.clear()
            with self._lock:
                if self._closing:
                    return
                output, told = self._output, self._news()
                try:
                    self._follow()
                except VoiceError as error:
                    self._let_go()
                    self._untold.append(error)
                troubles, self._untold = self._untold, []
            if output is not None and self._on_far is not None:
                for samples, heard in far.of(output):
                    self._on_far(samples, heard)
            for mark, moment in told:
                self._on_mark(mark, moment)
            for trouble in troubles:
                self._on_trouble(trouble)

    def _patience(self) -> float | None:
        """Seconds after which there is something to look at though nothing woke the thread."""
        output = self._output
        if output is None:
            return None
        return STALL / 4 if output.running else IDLE / 4

    def _news(self) -> list[tuple[int, Moment]]:
        """What began or ended to be heard since the last call."""
        news: list[tuple[int, Moment]] = []
        if self._list is None:
            return news
        position = self._position()
        for stretch in self._list.stretches:
            over = stretch.whole and stretch.end <= position
            if not stretch.told and (over or stretch.begin < position):
                stretch.told = True
                news.append((stretch.mark, "begun"))
            if over:
                news.append((stretch.mark, "ended"))
        self._list.forget(position)
        return news

    def _follow(self) -> None:
        """Go to another device or to the same one anew where that is called for, or let it sleep."""
        output, now = self._output, time.monotonic()
        present, self._present = self._present, None
        if output is None or self._list is None:
            return
        broken, gone = output.is_broken(), fault("loudspeaker", "gone", name=output.device.name)
        if present is not None or broken:
            if broken and not output.made:
                raise gone
            present = devices() if present is None else present
            after = succeed(output.device, self._wanted, present, broken=broken)
            output.device = after.device
            if after.reopen:
                self._go_on(after.device, gone)
            if after.trouble is not None:
                self._untold.append(after.trouble)
        elif output.starved and self._latency < LONG:
            self._latency = LONG
            self._go_on(output.device, gone)
        elif not output.is_quiet():
            output.quiet_since = now
        elif now - output.quiet_since > IDLE:
            self._let_go()
        else:
            output.halt()
