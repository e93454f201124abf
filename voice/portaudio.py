"""PortAudio streams on devices of voice/devices.py, and what its errors mean for a person.

The library is one for the whole process: its list of devices is as old as its start, so it is started anew
when a device is not found, which only works while no stream is open. A device of the sound server is reached
through ALSA's plugin "pulse" (or "pipewire"), which reads the device's name from the environment while it
opens.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from voice.device import Device, Kind, fault, ordered
from voice.errors import VoiceError

_BUSY = -9985
"""paDeviceUnavailable of portaudio.h."""

_PLUGINS = ("pulse", "pipewire")

GRACE = 1.0
"""Seconds that a stream may take to end."""

_library = threading.RLock()
_open: list[Stream] = []


class Stream:
    """A stream of float32 frames at the device's own rate; VoiceError where it cannot be opened.

    After `start`, `callback(data, moment, status)` runs in PortAudio's thread, with `data` of shape (frames,
    channels) to be read (microphone) or filled (loudspeaker); it may not wait for anything. `finished` is
    called there when the stream ends by itself. `latency` is how many seconds the device should hold.
    `running` is whether it was started. The maker closes it.
    """

    def __init__(
        self,
        device: Device,
        callback: Callable[[Any, Any, Any], None],
        finished: Callable[[], None],
        latency: float,
    ) -> None:
        self.device = device
        self.running = False
        self._finished = finished
        self._closed = False
        self._ending: threading.Thread | None = None
        with _library:
            self._stream = _opened(device, callback, self._on_finished, latency)
            _open.append(self)
        self.rate = int(self._stream.samplerate)
        self.channels = int(self._stream.channels)

    def start(self) -> None:
        """Begin to call; VoiceError, and the stream is closed, where that is not possible."""
        self.running = True
        try:
            self._stream.start()
        except _sounddevice().PortAudioError as error:
            self.close()
            raise meaning(self.device.kind, self.device.name, error) from error

    def halt(self) -> None:
        """Drop what is in the buffer; no callback comes until it is started again."""
        if self.running:
            self.running = False
            self._end(self._stream.abort)

    def close(self) -> None:
        """Halt and let the device go. Where its server hangs, that goes on behind the caller's back."""
        with _library:
            if not self._closed:
                self._closed = True
                self.halt()
                self._end(self._bury)

    def ahead(self, moment: Any) -> float:
        """Seconds until the first frame of a callback's data is heard, or (below 0) since it was in a
        microphone; 0 where the system does not say. For the callback alone.

        Counted from this call on: a busy program comes to run long after PortAudio noted `currentTime`.
        """
        heard = self.device.kind == "loudspeaker"
        at = float(moment.outputBufferDacTime if heard else moment.inputBufferAdcTime)
        return at - float(self._stream.time) if at else 0.0

    @property
    def stuck(self) -> bool:
        """Whether the stream is still about to halt or to close."""
        return self._ending is not None and self._ending.is_alive()

    def _end(self, action: Callable[[], None]) -> None:
        """PortAudio waits without limit for a sound server that hangs; this waits a second."""
        before = self._ending

        def end() -> None:
            if before is not None:
                before.join()
            action()

        self._ending = threading.Thread(target=end, name="voice stream end", daemon=True)
        self._ending.start()
        self._ending.join(GRACE)

    def _bury(self) -> None:
        self._stream.close()
        _open.remove(self)

    def _on_finished(self) -> None:
        if self.running:
            self._finished()


def found() -> tuple[Device, ...]:
    """The devices as PortAudio lists them; VoiceError `sound_library_missing` where it is not installed."""
    with _library:
        sounddevice = _sounddevice()
        return of_portaudio(list(sounddevice.query_devices()), list(sounddevice.query_hostapis()))


def of_portaudio(listed: list[dict[str, Any]], hosts: list[dict[str, Any]]) -> tuple[Device, ...]:
    """The devices of PortAudio's lists; their ids are `portaudio:` and the name without changing numbers.

    Windows shows each device once for each of its sound systems; only WASAPI's are taken there. Of ALSA's
    many plugins only the default is taken, and only beside a card: without one it leads to a server.
    """
    names = [str(host["name"]) for host in hosts]
    host = names.index("Windows WASAPI") if "Windows WASAPI" in names else 0
    found: list[Device] = []
    sides: tuple[tuple[Kind, str], ...] = (("microphone", "input"), ("loudspeaker", "output"))
    for number, facts in enumerate(listed):
        for kind, side in sides:
            channels = int(facts[f"max_{side}_channels"])
            if facts["hostapi"] != host or not channels or not hosts:
                continue
            name = plain_name(str(facts["name"]))
            default = number == hosts[host][f"default_{side}_device"]
            rate = int(facts["default_samplerate"])
            found.append(Device(f"portaudio:{name}", name, kind, rate, default, channels, port=number))
    if names[host : host + 1] == ["ALSA"]:
        cards = {plain_name(str(facts["name"])) for facts in listed if "(hw:" in str(facts["name"])}
        usable = cards | {"default"} if cards else set()
        found = [device for device in found if device.name in usable]
    return ordered(found)


def renew() -> bool:
    """Start PortAudio anew, so that it finds what was plugged in; False while a stream is open."""
    with _library:
        if _open:
            return False
        sounddevice = _sounddevice()
        sounddevice._terminate()
        sounddevice._initialize()
        return True


def plain_name(name: str) -> str:
    """A device's name without the number of its card, which changes from start to start."""
    return name.partition(" (hw:")[0]


def meaning(kind: Kind, name: str, error: Exception) -> VoiceError:
    """What a PortAudioError means: busy, refused, or not usable for the reason given."""
    said = " ".join(str(part) for part in error.args)
    lower = said.lower()
    if _BUSY in error.args or "busy" in lower or "in_use" in lower or "0x8889000a" in lower:
        return fault(kind, "busy", name=name)
    denied = ("permission denied", "access is denied", "access denied", "accessdenied", "0x80070005")
    if any(word in lower for word in denied) or _is_locked_away():
        return fault(kind, "refused", name=name)
    text = str(error.args[0]) if error.args else str(error)
    return fault(kind, "unusable", name=name, reason=text.removesuffix("."))


def _opened(
    device: Device,
    callback: Callable[[Any, Any, Any], None],
    finished: Callable[[], None],
    latency: float,
) -> Any:
    sounddevice = _sounddevice()
    make = sounddevice.InputStream if device.kind == "microphone" else sounddevice.OutputStream
    number = _number(device)
    if number is None and renew():
        number = _number(device)
    if number is None:
        if device.id.startswith("pulse:"):
            raise VoiceError("sound_plugin_missing")
        raise fault(device.kind, "unplugged", name=device.name)
    last: Exception | None = None
    for channels in dict.fromkeys((min(2, device.channels), 1, device.channels)):
        try:
            with _chosen(device):
                return make(
                    device=number,
                    samplerate=device.rate,
                    channels=channels,
                    dtype="float32",
                    latency=latency,
                    callback=lambda data, _frames, moment, status: callback(data, moment, status),
                    finished_callback=finished,
                )
        except (sounddevice.PortAudioError, ValueError) as error:
            last = error
            if "channels" not in str(error):
                break
    assert last is not None
    raise meaning(device.kind, device.name, last) from last


def _number(device: Device) -> int | None:
    """Where `device`, or the plugin that leads to it, stands in PortAudio's list."""
    if not device.id.startswith("pulse:"):
        known = [other for other in found() if (other.id, other.kind) == (device.id, device.kind)]
        return known[0].port if known else None
    side = "input" if device.kind == "microphone" else "output"
    listed = [facts for facts in _sounddevice().query_devices() if facts[f"max_{side}_channels"]]
    for name in _PLUGINS:
        for facts in listed:
            if facts["name"] == name:
                return int(facts["index"])
    return None


@contextlib.contextmanager
def _chosen(device: Device) -> Iterator[None]:
    """The environment in which ALSA's plugins open `device` of the sound server."""
    if not device.id.startswith("pulse:"):
        yield
        return
    name = device.id.removeprefix("pulse:")
    side = "PULSE_SOURCE" if device.kind == "microphone" else "PULSE_SINK"
    set_now = {side: name, "PIPEWIRE_NODE": name}
    before = {variable: os.environ.get(variable) for variable in set_now}
    os.environ.update(set_now)
    try:
        yield
    finally:
        for variable, value in before.items():
            if value is None:
                del os.environ[variable]
            else:
                os.environ[variable] = value


def _is_locked_away() -> bool:
    """Whether the cards of this Linux machine are there but not for this user."""
    if not sys.platform.startswith("linux") or not os.path.isdir("/dev/snd"):
        return False
    cards = [f"/dev/snd/{name}" for name in os.listdir("/dev/snd") if name.startswith("pcm")]
    return bool(cards) and not any(os.access(card, os.R_OK | os.W_OK) for card in cards)


def _sounddevice() -> Any:
    try:
        import sounddevice
    except OSError as error:
        raise VoiceError("sound_library_missing") from error
    return sounddevice
