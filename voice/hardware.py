"""A cheap look at which sound devices the operating system has, for noticing that one came or went."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any


def fingerprint() -> tuple[str, ...]:
    """Differs from an earlier one when a sound device came, went or became the system's own."""
    if sys.platform == "win32":
        return _of_windows(ctypes.WinDLL("winmm"))
    if sys.platform == "darwin":
        return _of_macos(ctypes.CDLL("/System/Library/Frameworks/CoreAudio.framework/CoreAudio"))
    try:
        return tuple(sorted(os.listdir("/dev/snd")))
    except OSError:
        return ()


def _of_windows(winmm: Any) -> tuple[str, ...]:
    """The numbers of devices and the preferred ones, which DRVM_MAPPER_PREFERRED_GET (mmddk.h) tells."""
    words = []
    mapper, ask = ctypes.c_void_p(-1 & (2 ** (8 * ctypes.sizeof(ctypes.c_void_p)) - 1)), 0x2000 + 21
    for count, message in (("waveInGetNumDevs", "waveInMessage"), ("waveOutGetNumDevs", "waveOutMessage")):
        own, flags = ctypes.c_uint32(0), ctypes.c_uint32(0)
        getattr(winmm, message)(mapper, ask, ctypes.byref(own), ctypes.byref(flags))
        words.append(f"{getattr(winmm, count)()}:{own.value}")
    return tuple(words)


class _Address(ctypes.Structure):
    """AudioObjectPropertyAddress of CoreAudio/AudioHardwareBase.h."""

    _fields_ = [("selector", ctypes.c_uint32), ("scope", ctypes.c_uint32), ("element", ctypes.c_uint32)]


def _of_macos(audio: Any) -> tuple[str, ...]:
    """The numbers of all devices, of the own input and of the own output."""
    words = []
    for selector in (b"dev#", b"dIn ", b"dOut"):
        address = _Address(int.from_bytes(selector, "big"), int.from_bytes(b"glob", "big"), 0)
        data, size = (ctypes.c_uint32 * 256)(), ctypes.c_uint32(1024)
        system = ctypes.c_uint32(1)
        failed = audio.AudioObjectGetPropertyData(
            system, ctypes.byref(address), 0, None, ctypes.byref(size), ctypes.byref(data)
        )
        words.append(",".join(str(number) for number in data[: 0 if failed else size.value // 4]))
    return tuple(words)
