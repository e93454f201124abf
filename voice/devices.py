"""Which microphones and loudspeakers this machine has, and when that changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["microphone", "loudspeaker"]


@dataclass(frozen=True)
class Device:
    """A microphone or loudspeaker: `id` is stable over restarts, `name` is what a person calls it, `rate` its
    own samples a second, `default` whether the system uses it unless told otherwise.
    """

    id: str
    name: str
    kind: Kind
    rate: int
    default: bool


def devices() -> tuple[Device, ...]:
    """All microphones and loudspeakers, the system's own first. Any thread; takes milliseconds."""
    import sounddevice

    found = []
    for number, facts in enumerate(sounddevice.query_devices()):
        for kind, channels, own in (
            ("microphone", "max_input_channels", 0),
            ("loudspeaker", "max_output_channels", 1),
        ):
            if facts[channels]:
                name, rate = str(facts["name"]), int(facts["default_samplerate"])
                found.append(Device(name, name, kind, rate, number == sounddevice.default.device[own]))  # type: ignore[arg-type]
    return tuple(sorted(found, key=lambda device: not device.default))


def refresh() -> bool:
    """Look for devices anew where only that finds them; False while a stream of this process is open."""
    import sounddevice

    sounddevice._terminate()
    sounddevice._initialize()
    return True


class Watch:
    """Calls `on_change` with all devices, in a thread of its own, whenever they change, until `close`."""

    def __init__(self, on_change: Callable[[tuple[Device, ...]], None]) -> None:
        self._on_change = on_change
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="voice devices", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching; no call comes afterwards."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        known = devices()
        while not self._closed.wait(2.0):
            if (now := devices()) != known:
                known = now
                self._on_change(now)


def watch(on_change: Callable[[tuple[Device, ...]], None]) -> Watch:
    """Watch for devices that come and go."""
    return Watch(on_change)
