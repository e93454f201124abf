"""A small program on an X server that notes what it hears and paints where it is clicked."""

from __future__ import annotations

import asyncio
from typing import Any

from sandbox.guest.display import connected
from sandbox.guest.keys import character_of

KEYS, BUTTONS, MOTION = 1 | 2, 4 | 8, 64
RETURN, TAB = 0xFF0D, 0xFF09


class Program:
    """One window over the whole screen, with the keyboard. Inside the running loop; closed by its owner.

    `text` is what was typed, `heard` the events as ("key"|"button"|"move", detail, down or position); a click
    in the left half of the window paints a square there.
    """

    def __init__(self, name: str, width: int, height: int) -> None:
        self.text = ""
        self.heard: list[tuple[str, int, Any]] = []
        self.states: list[int] = []
        self._x = connected(name)
        screen = self._x.screen()
        self._half = width // 2
        self.window = screen.root.create_window(
            *(0, 0, width, height, 0, screen.root_depth),
            event_mask=KEYS | BUTTONS | MOTION,
            override_redirect=1,
        )
        self._ink = self.window.create_gc(foreground=0xFF8800)
        self.window.map()
        self._x.sync()
        self.window.set_input_focus(1, 0)
        self._x.sync()
        self._stirred = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._x.fileno(), self._stir)

    async def until(self, count: int) -> None:
        """Wait until so many events were heard."""
        async with asyncio.timeout(5):
            while True:
                self._stirred.clear()
                self._read()
                if len(self.heard) >= count:
                    return
                await self._stirred.wait()

    def down(self) -> list[int]:
        """The keys that are down on the server."""
        bits = self._x.query_keymap()
        return [code for code in range(256) if bits[code // 8] >> code % 8 & 1]

    def buttons(self) -> int:
        """The mask of buttons and modifiers on the server."""
        return int(self._x.screen().root.query_pointer().mask)

    def lock_capitals(self) -> None:
        """Press Caps Lock, as a person would."""
        for kind in (2, 3):
            self._x.xtest_fake_input(kind, self._x.keysym_to_keycode(0xFFE5))
        self._x.sync()

    def remap(self, letters: dict[int, str]) -> None:
        """Put other letters on keys, as another layout would."""
        for code, letter in letters.items():
            row = (ord(letter), ord(letter.upper()), 0, 0)
            self._x.change_keyboard_mapping(code, [row])
        self._x.sync()

    def blink(self, lit: bool) -> None:
        """Draw a caret, or not."""
        self._ink.change(foreground=0xFFFFFF if lit else 0)
        self.window.fill_rectangle(self._ink, 300, 150, 2, 16)
        self._x.flush()

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._x.fileno())
        self._x.close()

    def _stir(self) -> None:
        self._read()
        self._stirred.set()

    def _read(self) -> None:
        for _ in range(self._x.pending_events()):
            self._take(self._x.next_event())

    def _take(self, event: Any) -> None:
        if event.type in (2, 3):
            self.heard.append(("key", event.detail, event.type == 2))
            self.states.append(event.state)
            if event.type == 2:
                self._type(event)
        elif event.type in (4, 5):
            self.heard.append(("button", event.detail, event.type == 4))
            self.states.append(event.state)
            if event.type == 4 and event.event_x < self._half:
                self._ink.change(foreground=(len(self.heard) * 0x3355) & 0xFFFFFF | 0x10)
                self.window.fill_rectangle(self._ink, event.event_x - 5, event.event_y - 5, 10, 10)
                self._x.flush()
        elif event.type == 6:
            self.heard.append(("move", 0, (event.event_x, event.event_y)))
        elif event.type == 34:
            self._x.refresh_keyboard_mapping(event)

    def _type(self, event: Any) -> None:
        symbol = self._x.keycode_to_keysym(event.detail, event.state & 1)
        if event.state & 2 and character_of(symbol).isalpha():
            symbol = ord(character_of(symbol).swapcase())
        self.text += {RETURN: "\n", TAB: "\t"}.get(symbol, character_of(symbol))
