"""Types any text into the focused program, so that what arrives is what was meant."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

from sandbox.guest.keyboard import Keyboard
from sandbox.guest.keys import of_character

STRIDE = 48
"""Characters after which the program is asked whether it has read them, so that no queue runs over."""


async def write(keyboard: Keyboard, text: str, heard: Callable[[], Awaitable[object]]) -> None:
    """Type `text`; "\\n" is Return. `heard` returns once the focused program has read all keys so far.

    A stretch of text whose characters have keys, or get spare ones at once, is typed in one go. Keys are lent
    before the first press of a stretch, and the program has heard of it before. UnknownKey for a character
    that no key can send, before anything is typed.
    """
    symbols = [of_character(character) for character in text.replace("\r\n", "\n")]
    await heard()  # a window that has just come up may not listen yet
    keyboard.capitals_off()
    for stretch in _stretches(symbols, keyboard):
        if keyboard.lacks(stretch):
            await heard()
            await lend(keyboard, list(dict.fromkeys(stretch)))
            await heard()
        for at in range(0, len(stretch), STRIDE):
            for symbol in stretch[at : at + STRIDE]:
                keyboard.tap(symbol)
            await heard()


async def lend(keyboard: Keyboard, symbols: Sequence[int]) -> None:
    """Lend keys to `symbols`, once those that have to be taken for it have rested long enough."""
    wait = keyboard.lend(symbols)
    if wait:
        await asyncio.sleep(wait)
        keyboard.lend(symbols)


def _stretches(symbols: list[int], keyboard: Keyboard) -> Iterator[list[int]]:
    """Pieces with so few characters beyond the keymap that all of them can be lent keys at once."""
    room = max(1, keyboard.room // 2)
    piece: list[int] = []
    strange: set[int] = set()
    for symbol in symbols:
        if symbol not in strange and keyboard.foreign(symbol):
            if len(strange) == room:
                yield piece
                piece, strange = [], set()
            strange.add(symbol)
        piece.append(symbol)
    if piece:
        yield piece
