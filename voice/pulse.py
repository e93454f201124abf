"""The sound devices of a PulseAudio or PipeWire server, asked and watched through libpulse.

PortAudio reaches these servers through ALSA and so sees one device called "pulse"; only the server knows the
real microphones and loudspeakers, which of them is the system's own, and when one comes or goes.
The structures below are the beginnings of those in pulse/introspect.h, whose layout has been kept since 1.0.
"""

from __future__ import annotations

import ctypes
import sys
import time
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_uint8, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, Literal

_READY, _FAILED = 4, 5
_NO_AUTOSPAWN = 1
_SOURCES_SINKS_SERVER = 0x0001 | 0x0002 | 0x0080
_NO_INDEX = 0xFFFFFFFF
_ERR_ACCESS = 1
PATIENCE = 2.0
"""Seconds a server may take to answer."""


class PulseError(Exception):
    """There is no server, it went away, or (`refused`) it does not let this user in."""

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        super().__init__(reason)
        self.refused = refused


@dataclass(frozen=True)
class PulseDevice:
    """A source or sink: `name` is the server's stable one, `description` the one people know."""

    name: str
    description: str
    kind: Literal["source", "sink"]
    rate: int
    channels: int
    muted: bool


@dataclass(frozen=True)
class Facts:
    """The devices and the names of the system's own, which may not be among them.

    Left out are the monitors of loudspeakers and abstract devices: wires between programs and the dummy that
    a server makes where there is no hardware, which nobody hears.
    """

    devices: tuple[PulseDevice, ...]
    default_source: str
    default_sink: str


class _Spec(ctypes.Structure):
    _fields_ = [("format", c_int), ("rate", c_uint32), ("channels", c_uint8)]


class _Map(ctypes.Structure):
    _fields_ = [("channels", c_uint8), ("map", c_int * 32)]


class _Volume(ctypes.Structure):
    _fields_ = [("channels", c_uint8), ("values", c_uint32 * 32)]


class _Info(ctypes.Structure):
    """The common beginning of pa_sink_info and pa_source_info."""

    _fields_ = [
        ("name", c_char_p),
        ("index", c_uint32),
        ("description", c_char_p),
        ("spec", _Spec),
        ("map", _Map),
        ("owner", c_uint32),
        ("volume", _Volume),
        ("mute", c_int),
        ("other", c_uint32),  # the sink's monitor, or the sink of which the source is the monitor
        ("other_name", c_char_p),
        ("latency", c_uint64),
        ("driver", c_char_p),
        ("flags", c_int),
        ("properties", c_void_p),
    ]


class _Server(ctypes.Structure):
    _fields_ = [
        ("user", c_char_p),
        ("host", c_char_p),
        ("version", c_char_p),
        ("program", c_char_p),
        ("spec", _Spec),
        ("sink", c_char_p),
        ("source", c_char_p),
    ]


_ON_INFO = CFUNCTYPE(None, c_void_p, POINTER(_Info), c_int, c_void_p)
_ON_SERVER = CFUNCTYPE(None, c_void_p, POINTER(_Server), c_void_p)
_ON_EVENT = CFUNCTYPE(None, c_void_p, c_int, c_uint32, c_void_p)


class Pulse:
    """A connection that is used by one thread; only `wake` may be called by another.

    PulseError when there is no server; `close` ends it.
    """

    def __init__(self) -> None:
        self._lib = _library()
        self._changed = True
        self._woken = False
        self._answered = 0
        self._devices: list[PulseDevice] = []
        self._defaults = ("", "")
        # Kept here because libpulse holds only their addresses.
        self._on_source = _ON_INFO(lambda _c, info, end, _u: self._take("source", info, end))
        self._on_sink = _ON_INFO(lambda _c, info, end, _u: self._take("sink", info, end))
        self._on_server = _ON_SERVER(lambda _c, info, _u: self._take_server(info))
        self._on_event = _ON_EVENT(self._take_event)
        self._loop: int | None = self._lib.pa_mainloop_new()
        self._context: int | None = self._lib.pa_context_new(
            self._lib.pa_mainloop_get_api(self._loop), b"Orion"
        )
        try:
            self._connect()
        except PulseError:
            self.close()
            raise

    def facts(self) -> Facts:
        """What the server has now."""
        lib, context = self._lib, self._context
        self._devices, self._answered, self._changed = [], 0, False
        for operation in (
            lib.pa_context_get_server_info(context, self._on_server, None),
            lib.pa_context_get_source_info_list(context, self._on_source, None),
            lib.pa_context_get_sink_info_list(context, self._on_sink, None),
        ):
            self._release(operation)
        self._until(lambda: self._answered == 3)
        return Facts(tuple(self._devices), *self._defaults)

    def wait(self) -> None:
        """Return when a device came, went or changed since `facts`, or after `wake`. Blocks; no polling."""
        while not self._changed and not self._woken:
            self._step(None)
        self._woken = False

    def wake(self) -> None:
        """Let `wait` return, now or when it is called next. Any thread."""
        self._woken = True
        self._lib.pa_mainloop_wakeup(self._loop)

    def close(self) -> None:
        """End the connection; nothing else may be called then."""
        if self._context is not None:
            self._lib.pa_context_disconnect(self._context)
            self._lib.pa_context_unref(self._context)
            self._context = None
        if self._loop is not None:
            self._lib.pa_mainloop_free(self._loop)
            self._loop = None

    # --- the conversation ---------------------------------------------------------------------------------

    def _connect(self) -> None:
        lib, context = self._lib, self._context
        if lib.pa_context_connect(context, None, _NO_AUTOSPAWN, None) < 0:
            raise self._error()
        self._until(lambda: lib.pa_context_get_state(context) == _READY)
        lib.pa_context_set_subscribe_callback(context, self._on_event, None)
        self._release(lib.pa_context_subscribe(context, _SOURCES_SINKS_SERVER, None, None))

    def _until(self, done: Any) -> None:
        deadline = time.monotonic() + PATIENCE
        while not done():
            left = deadline - time.monotonic()
            if left <= 0:
                raise PulseError("the sound server does not answer")
            self._step(left)

    def _step(self, seconds: float | None) -> None:
        """Let the connection work once, waiting at most `seconds` for something to do."""
        lib = self._lib
        if lib.pa_mainloop_prepare(self._loop, -1 if seconds is None else int(seconds * 1e6)) < 0:
            raise self._error()
        if self._woken:  # what `wake` wrote before was taken away by the preparation
            lib.pa_mainloop_wakeup(self._loop)
        if lib.pa_mainloop_poll(self._loop) < 0:
            raise self._error()
        if lib.pa_mainloop_dispatch(self._loop) < 0 or lib.pa_context_get_state(self._context) >= _FAILED:
            raise self._error()

    def _error(self) -> PulseError:
        number = self._lib.pa_context_errno(self._context)
        text = self._lib.pa_strerror(number) or b"the sound server is gone"
        return PulseError(text.decode(errors="replace"), refused=number == _ERR_ACCESS)

    def _release(self, operation: int | None) -> None:
        if not operation:
            raise self._error()
        self._lib.pa_operation_unref(operation)

    # --- its answers --------------------------------------------------------------------------------------

    def _take(self, kind: Literal["source", "sink"], info: Any, end: int) -> None:
        if end:
            self._answered += 1
            return
        facts = info.contents
        monitor = kind == "source" and facts.other != _NO_INDEX
        if monitor or self._lib.pa_proplist_gets(facts.properties, b"device.class") == b"abstract":
            return
        name = facts.name.decode(errors="replace")
        description = (facts.description or facts.name).decode(errors="replace")
        rate, channels = int(facts.spec.rate), int(facts.spec.channels)
        self._devices.append(PulseDevice(name, description, kind, rate, channels, bool(facts.mute)))

    def _take_server(self, info: Any) -> None:
        if info:
            facts = info.contents
            names = (facts.source or b"", facts.sink or b"")
            self._defaults = (names[0].decode(errors="replace"), names[1].decode(errors="replace"))
        self._answered += 1

    def _take_event(self, context: int, event: int, index: int, user: int) -> None:
        del context, event, index, user
        self._changed = True


def _library() -> Any:
    if not sys.platform.startswith("linux"):
        raise PulseError("this system has another sound server")
    try:
        lib = ctypes.CDLL("libpulse.so.0")
    except OSError as error:
        raise PulseError("libpulse0 is not installed") from error
    p, i = c_void_p, c_int
    for name, result, arguments in (
        ("pa_mainloop_new", p, []),
        ("pa_mainloop_get_api", p, [p]),
        ("pa_mainloop_prepare", i, [p, i]),
        ("pa_mainloop_poll", i, [p]),
        ("pa_mainloop_dispatch", i, [p]),
        ("pa_mainloop_wakeup", None, [p]),
        ("pa_mainloop_free", None, [p]),
        ("pa_context_new", p, [p, c_char_p]),
        ("pa_context_connect", i, [p, c_char_p, i, p]),
        ("pa_context_get_state", i, [p]),
        ("pa_context_errno", i, [p]),
        ("pa_context_disconnect", None, [p]),
        ("pa_context_unref", None, [p]),
        ("pa_context_set_subscribe_callback", None, [p, _ON_EVENT, p]),
        ("pa_context_subscribe", p, [p, i, p, p]),
        ("pa_context_get_server_info", p, [p, _ON_SERVER, p]),
        ("pa_context_get_source_info_list", p, [p, _ON_INFO, p]),
        ("pa_context_get_sink_info_list", p, [p, _ON_INFO, p]),
        ("pa_operation_unref", None, [p]),
        ("pa_proplist_gets", c_char_p, [p, c_char_p]),
        ("pa_strerror", c_char_p, [i]),
    ):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib
