"""A look at the machine's sound devices that costs next to nothing."""

from __future__ import annotations

import ctypes
import time

from voice.hardware import _of_macos, _of_windows, fingerprint


def test_it_stays_the_same_while_nothing_changes_and_takes_no_time() -> None:
    fingerprint()
    begun = time.thread_time()
    assert len({fingerprint() for _ in range(20)}) == 1
    assert time.thread_time() - begun < 0.2


class Winmm:
    """The four functions of winmm.dll that are called, with `own` as the preferred device."""

    def __init__(self, inputs: int, outputs: int, own: int) -> None:
        self.waveInGetNumDevs = lambda: inputs
        self.waveOutGetNumDevs = lambda: outputs
        self._own = own

    def waveInMessage(self, mapper: ctypes.c_void_p, message: int, own: object, flags: object) -> int:
        del flags
        assert mapper.value == 2 ** (8 * ctypes.sizeof(ctypes.c_void_p)) - 1
        assert message == 0x2015
        ctypes.cast(own, ctypes.POINTER(ctypes.c_uint32))[0] = self._own  # type: ignore[arg-type]
        return 0

    waveOutMessage = waveInMessage


def test_windows_tells_numbers_and_the_preferred_devices() -> None:
    assert _of_windows(Winmm(2, 1, 0)) == ("2:0", "1:0")
    assert _of_windows(Winmm(2, 1, 0)) != _of_windows(Winmm(2, 1, 1))


class CoreAudio:
    """AudioObjectGetPropertyData for the devices 40 and 41, of which 40 is the own input."""

    def AudioObjectGetPropertyData(self, *arguments: object) -> int:
        system, address, _, _, size, data = arguments
        assert system.value == 1  # type: ignore[attr-defined]
        selector = ctypes.cast(address, ctypes.POINTER(ctypes.c_uint32))[0]  # type: ignore[arg-type]
        found = {b"dev#": [40, 41], b"dIn ": [40]}.get(selector.to_bytes(4, "big"))
        if found is None:
            return -1
        ctypes.cast(size, ctypes.POINTER(ctypes.c_uint32))[0] = 4 * len(found)  # type: ignore[arg-type]
        for place, number in enumerate(found):
            ctypes.cast(data, ctypes.POINTER(ctypes.c_uint32))[place] = number  # type: ignore[arg-type]
        return 0


def test_macos_tells_all_devices_and_the_own_ones() -> None:
    assert _of_macos(CoreAudio()) == ("40,41", "40", "")
