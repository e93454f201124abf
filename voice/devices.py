"""Which microphones and loudspeakers this machine has, under names people know, and when that changes.

On Linux the sound server (PulseAudio, or PipeWire with its PulseAudio side) is asked, because PortAudio sees
of it only one ALSA device called "pulse"; a stream reaches the chosen device through ALSA's plugin for the
server (voice/portaudio.py). Where no server answers, and on Windows and macOS, the list is PortAudio's own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from voice import hardware, portaudio
from voice.device import Device, Kind, fault, ordered
from voice.errors import VoiceError
from voice.pulse import Facts, Pulse, PulseError

__all__ = ["Device", "Kind", "Next", "Watch", "devices", "find", "of_server", "refresh", "succeed", "watch"]

_PAUSE = 2.0
"""Seconds between looks where nothing reports a change."""


def devices() -> tuple[Device, ...]:
    """All microphones and loudspeakers, the system's own first. Any thread; about a millisecond on Linux.

    VoiceError `sound_refused` where the sound server does not let this user in.
    """
    try:
        pulse = Pulse()
    except PulseError as error:
        return _without_server(error)
    try:
        return of_server(pulse.facts())
    except PulseError as error:
        return _without_server(error)
    finally:
        pulse.close()


def find(kind: Kind, wanted: str, among: tuple[Device, ...]) -> Device:
    """The device with id `wanted`, or the system's own where that is empty.

    VoiceError `microphone_missing`, `microphone_unplugged` (a chosen one) or the same of a loudspeaker.
    """
    fitting = [device for device in among if device.kind == kind]
    if not fitting:
        raise fault(kind, "missing")
    for device in fitting:
        if device.id == wanted or not wanted:
            return device
    raise fault(kind, "unplugged", name=wanted.partition(":")[2])


@dataclass(frozen=True)
class Next:
    """What a stream on a device does after a change: stay, or open `device` (also the same one) anew.

    `trouble` is what the user is told of it, if anything.
    """

    device: Device
    reopen: bool
    trouble: VoiceError | None = None


def succeed(current: Device, wanted: str, present: tuple[Device, ...], *, broken: bool) -> Next:
    """Where a stream on `current` goes on when the devices are `present`; `broken` when it ended by itself.

    `wanted` is the chosen id, empty for the system's own, which is followed. A chosen device is never
    replaced: VoiceError `microphone_gone` or `loudspeaker_gone`, also when no device is left.
    """
    kind = current.kind
    try:
        new = find(kind, wanted, present)
    except VoiceError as error:
        raise fault(kind, "gone", name=current.name) from error
    if new.id != current.id:
        left = all(device.id != current.id for device in present)
        trouble = fault(kind, "replaced", name=current.name, other=new.name) if left else None
        return Next(new, True, trouble)
    muted = fault(kind, "muted", name=new.name) if new.muted and not current.muted else None
    # When the system's own device becomes another, a server moves the streams of the old one there, even
    # those that were opened on it by name.
    return Next(new, broken or new.default != current.default or new.rate != current.rate, muted)


def refresh() -> bool:
    """Make PortAudio look for devices anew; False, and nothing is done, while a stream is open."""
    return portaudio.renew()


def of_server(facts: Facts) -> tuple[Device, ...]:
    """The devices of a sound server; their ids are `pulse:` and the server's name for them."""
    kinds: dict[str, Kind] = {"source": "microphone", "sink": "loudspeaker"}
    own = {"source": facts.default_source, "sink": facts.default_sink}
    found = [
        Device(
            id=f"pulse:{device.name}",
            name=device.description,
            kind=kinds[device.kind],
            rate=device.rate,
            default=device.name == own[device.kind],
            channels=device.channels,
            muted=device.muted,
        )
        for device in facts.devices
    ]
    return ordered(found)


class Watch:
    """Tells `on_change` all devices in a thread of its own, at first and whenever they change, until `close`.

    The sound server reports changes at once. Elsewhere, and while a server is away, the machine is asked
    every two seconds which sound devices it has, which costs next to nothing.
    """

    def __init__(self, on_change: Callable[[tuple[Device, ...]], None]) -> None:
        self._on_change = on_change
        self._closed = threading.Event()
        self._guard = threading.Lock()
        self._pulse: Pulse | None = None
        self._known: tuple[Device, ...] | None = None
        self._seen: tuple[str, ...] | None = None
        self._thread = threading.Thread(target=self._run, name="voice devices", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching and wait for the thread; no call comes afterwards. Not from `on_change`."""
        self._closed.set()
        with self._guard:
            if self._pulse is not None:
                self._pulse.wake()
        self._thread.join()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                pulse = Pulse()
            except PulseError as error:
                self._look_around(error)
                continue
            with self._guard:
                self._pulse = pulse
            try:
                while not self._closed.is_set():
                    self._tell(of_server(pulse.facts()))
                    pulse.wait()
            except PulseError:
                self._tell(())
            finally:
                with self._guard:
                    self._pulse = self._seen = None
                pulse.close()

    def _look_around(self, error: PulseError) -> None:
        """Tell what there is without a server, then wait a little."""
        if (seen := hardware.fingerprint()) != self._seen:
            self._seen = seen
            refresh()
            try:
                self._tell(_without_server(error))
            except VoiceError:
                self._tell(())
        self._closed.wait(_PAUSE)

    def _tell(self, now: tuple[Device, ...]) -> None:
        if now != self._known:
            self._known = now
            self._on_change(now)


def watch(on_change: Callable[[tuple[Device, ...]], None]) -> Watch:
    """Begin to watch for devices that come and go."""
    return Watch(on_change)


def _without_server(error: PulseError) -> tuple[Device, ...]:
    if error.refused:
        raise VoiceError("sound_refused", reason=str(error)) from error
    return portaudio.found()
