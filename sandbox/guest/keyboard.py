"""The guest's keyboard: key symbols pressed through XTEST, with spare keys lent to characters it lacks."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from sandbox.guest.keys import Chord, character_of

KEY_PRESS, KEY_RELEASE = 2, 3
SHIFT, CAPS_LOCK = 0xFFE1, 0xFFE5
LOCK_MASK = 2

REST = 0.5
"""Seconds a lent key keeps its character after it was last pressed, for programs that look it up late."""

_MEDIA = range(0x10080000, 0x10090000)
"""Symbols of media keys: nobody types them here, so their keys are lent to characters."""

_LENT = frozenset(
    code
    for first, last in (
        *((93, 93), (97, 97), (103, 103), (120, 120), (132, 132), (147, 147), (149, 149), (153, 153)),
        *((155, 162), (165, 165), (168, 168), (170, 170), (177, 178), (183, 184), (191, 202), (208, 208)),
        *((210, 211), (213, 214), (217, 217), (219, 224), (226, 230), (234, 234), (236, 238), (242, 245)),
        *((247, 248), (250, 255)),
    )
    for code in range(first, last + 1)
)
"""Key codes to lend, where they are free. Chromium looks at some codes (back, reload, mute) before it looks
at what they type; these it leaves alone."""


class Keyboard:
    """Presses keys on one X display. Used from one thread; `release_all` before the display is closed.

    A character that is on no key gets one of the spare keys, which it keeps as long as possible: the key that
    was used longest ago is taken first, and never one that was pressed within the last REST seconds.
    """

    def __init__(self, display: Any) -> None:
        self._x = display
        self._down: list[int] = []
        self._places: dict[int, tuple[int, bool]] = {}
        self._spare: OrderedDict[int, int] = OrderedDict()
        self._used: dict[int, float] = {}
        self._width = 1
        self.read()

    def read(self) -> None:
        """Learn the keymap again, as after somebody else changed it."""
        low = self._x.display.info.min_keycode
        rows = self._x.get_keyboard_mapping(low, self._x.display.info.max_keycode - low + 1)
        self._places.clear()
        self._spare.clear()
        for code, row in enumerate(rows, low):
            if code in _LENT and row[0] and row[0] == row[1] and character_of(row[0]):
                self._spare[code] = row[0]  # lent before
            elif code in _LENT and all(not held or held in _MEDIA for held in row):
                self._spare[code] = 0
            else:
                for shifted, held in enumerate(row[:2]):
                    if held:
                        self._places.setdefault(held, (code, bool(shifted)))
        for code in sorted(self._spare, key=lambda code: self._used.get(code, 0.0)):
            self._spare.move_to_end(code)
        self._width = len(rows[0])

    @property
    def room(self) -> int:
        """How many characters can be lent a key at once."""
        return len(self._spare)

    def lacks(self, symbols: Iterable[int]) -> list[int]:
        """Which of `symbols` are on no key now, in order, each once."""
        lent = set(self._spare.values())
        return [held for held in dict.fromkeys(symbols) if held not in self._places and held not in lent]

    def foreign(self, symbol: int) -> bool:
        """Whether `symbol` is on no key of the keymap itself."""
        return symbol not in self._places

    def lend(self, symbols: Sequence[int]) -> float:
        """Give each of `symbols` a spare key, at most `room` in one go. Returns the seconds to wait before,
        and changes nothing, while the keys to be taken were pressed too recently; 0.0 when it is done."""
        taken = set(symbols)
        wanted = self.lacks(symbols)
        keys = [code for code, held in self._spare.items() if held not in taken][: len(wanted)]
        patience = max((self._used.get(code, 0.0) + REST for code in keys), default=0.0) - time.monotonic()
        if patience > 0:
            return patience
        pairs = sorted(zip(keys, wanted, strict=True))
        for code, held in pairs:
            self._spare[code] = held
            self._spare.move_to_end(code)
        for first, row in _runs(pairs):
            self._x.change_keyboard_mapping(first, [self._row(held) for held in row])
        if pairs:
            self._x.sync()
        return 0.0

    def _row(self, held: int) -> tuple[int, ...]:
        """The same character with and without Shift, so that no shortcut changes it."""
        return (held, held, *([0] * (self._width - 2)))[: self._width]

    def tap(self, symbol: int) -> None:
        """Press and release one key, with Shift where its symbol needs it; nothing is waited for. KeyError
        for a symbol that has no key."""
        code, shifted = self._place(symbol)
        shift = self._places[SHIFT][0] if shifted else 0
        if shift:
            self._fake(KEY_PRESS, shift)
        self._fake(KEY_PRESS, code)
        self._fake(KEY_RELEASE, code)
        if shift:
            self._fake(KEY_RELEASE, shift)

    def press(self, chord: Chord) -> None:
        """Hold the keys of `chord` down, in order, until `release`."""
        for symbol in chord:
            code, shifted = self._place(symbol)
            if shifted and not any(self._places.get(held, (0, False))[0] in self._down for held in _SHIFTS):
                self._hold(self._places[SHIFT][0])
            self._hold(code)
        self._x.flush()

    def release(self) -> None:
        """Let go of everything that `press` holds, in reverse."""
        while self._down:
            self._fake(KEY_RELEASE, self._down.pop())
        self._x.flush()

    def release_all(self) -> None:
        """Let go of every key that is down, whoever pressed it."""
        self.release()
        for byte, bits in enumerate(self._x.query_keymap()):
            for bit in range(8):
                if bits >> bit & 1:
                    self._fake(KEY_RELEASE, byte * 8 + bit)
        self._x.sync()

    def capitals_off(self) -> None:
        """Put Caps Lock out: it would swap the case of what is typed."""
        if self._x.screen().root.query_pointer().mask & LOCK_MASK:
            self.tap(CAPS_LOCK)

    def _place(self, symbol: int) -> tuple[int, bool]:
        found = self._places.get(symbol)
        if found is not None:
            return found
        for code, held in self._spare.items():
            if held == symbol:
                self._spare.move_to_end(code)
                self._used[code] = time.monotonic()
                return code, False
        raise KeyError(symbol)

    def _hold(self, code: int) -> None:
        if code not in self._down:
            self._down.append(code)
            self._fake(KEY_PRESS, code)

    def _fake(self, kind: int, code: int) -> None:
        self._x.xtest_fake_input(kind, code)


_SHIFTS = (SHIFT, 0xFFE2)


def _runs(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, list[int]]]:
    """Neighbouring keys together: one request changes each run, and programs hear of it once."""
    runs: list[tuple[int, list[int]]] = []
    for code, held in pairs:
        if runs and code == runs[-1][0] + len(runs[-1][1]):
            runs[-1][1].append(held)
        else:
            runs.append((code, [held]))
    return runs
