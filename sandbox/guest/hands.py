"""The hands in the sandbox: mouse and keys through XTEST, step by step, with nothing left pressed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from sandbox.guest.hearing import Hearing
from sandbox.guest.keyboard import Keyboard
from sandbox.guest.keys import chords
from sandbox.guest.typist import lend, write

BUTTONS = {"left": 1, "middle": 2, "right": 3, "back": 8, "forward": 9}
UP, DOWN, LEFT, RIGHT = 4, 5, 6, 7
BUTTON_PRESS, BUTTON_RELEASE, MOTION = 4, 5, 6

GLIDE = 12
"""Points of a drag: programs take a press and a release without motion between them for a click."""
GLIDE_PAUSE = 0.008
MOST_SCROLL = 100
LONGEST_WAIT = 300.0


Glance = Callable[[float], Awaitable[object]]


class StepRefused(ValueError):
    """A step that cannot be done; the argument says why."""


class Hands:
    """Moves the pointer and presses keys on one X display of its own. Made by `open`; used from one task at a
    time; `close` lets go of everything.

    Keys never stay down after a `do`, whatever happens; a mouse button stays down only where a step said so.
    """

    def __init__(self, display: Any) -> None:
        self._x = display
        self.keyboard = Keyboard(display)
        self._hearing = Hearing(display)
        self._buttons: set[int] = set()
        self._fresh: set[int] = set()

    @classmethod
    def open(cls, name: str | None = None) -> Hands:
        """Hands on the display `name` ($DISPLAY). What an earlier process left pressed is let go."""
        from Xlib.display import Display

        hands = cls(Display(name))
        hands.release_all()
        return hands

    def close(self) -> None:
        self.release_all()
        self._x.close()

    def release_all(self) -> None:
        """Let go of all keys and buttons, whoever pressed them."""
        self.keyboard.release_all()
        mask = self._x.screen().root.query_pointer().mask
        for button in range(1, 6):
            if mask >> (7 + button) & 1 or button in self._buttons:
                self._x.xtest_fake_input(BUTTON_RELEASE, button)
        self._buttons.clear()
        self._x.sync()

    @property
    def pointer(self) -> tuple[int, int]:
        found = self._x.screen().root.query_pointer()
        return found.root_x, found.root_y

    async def do(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """Do the steps in order. StepRefused, UnknownKey or KeyError for one that is wrong; those before it
        have been done."""
        try:
            await self.begin(steps)
        except BaseException:
            self.let_go(failed=True)
            raise
        self.let_go()

    async def begin(self, steps: Sequence[Mapping[str, Any]], glance: Glance = asyncio.sleep) -> None:
        """The same, with keys left down that a step pressed; the caller sees to `let_go`. `glance` is called
        with seconds where a step asks for a look in between."""
        if self._hearing.remapped():
            self.keyboard.read()
        for step in steps:
            if step.get("do") == "glance":
                self._x.sync()
                await glance(float(step.get("seconds", 0.0)))
            else:
                await self._step(step)
        self._x.sync()

    def let_go(self, *, failed: bool = False) -> None:
        """Release the keys, and after a failure also the buttons that were pressed since the last time."""
        self.keyboard.release()
        for button in self._fresh if failed else ():
            self._buttons.discard(button)
            self._x.xtest_fake_input(BUTTON_RELEASE, button)
        self._fresh.clear()
        self._x.sync()

    async def heard(self) -> bool:
        """Return once the program in front has read what was sent."""
        return await self._hearing.heard()

    async def _step(self, step: Mapping[str, Any]) -> None:
        match step.get("do"):
            case "move":
                await self._move(int(step["x"]), int(step["y"]), glide=bool(step.get("glide")))
            case "button":
                self._button(str(step.get("button", "left")), down=bool(step.get("down")))
            case "press":
                for chord in chords(str(step["key"])):
                    await self._ready(chord)
                    self.keyboard.press(chord)
            case "release":
                self.keyboard.release()
            case "let_go":
                self.release_all()
            case "key":
                await self._key(str(step["key"]), float(step.get("hold") or 0.0))
            case "type":
                await write(self.keyboard, str(step["text"]), self.heard)
            case "scroll":
                self._scroll(int(step.get("dx", 0)), int(step.get("dy", 0)))
            case "wait":
                self._x.flush()
                await asyncio.sleep(min(max(0.0, float(step["seconds"])), LONGEST_WAIT))
            case other:
                raise StepRefused(f"there is no step {other!r}")

    async def _move(self, x: int, y: int, *, glide: bool) -> None:
        if glide:
            from_x, from_y = self.pointer
            for at in range(1, GLIDE):
                between = (from_x + (x - from_x) * at // GLIDE, from_y + (y - from_y) * at // GLIDE)
                self._motion(*between)
                self._x.flush()
                await asyncio.sleep(GLIDE_PAUSE)
        self._motion(x, y)
        self._x.flush()

    def _motion(self, x: int, y: int) -> None:
        self._x.xtest_fake_input(MOTION, x=x, y=y)

    def _button(self, name: str, *, down: bool) -> None:
        button = BUTTONS.get(name)
        if button is None:
            raise StepRefused(f"there is no mouse button {name!r}")
        if down:
            self._buttons.add(button)
            self._fresh.add(button)
        else:
            self._buttons.discard(button)
            self._fresh.discard(button)
        self._x.xtest_fake_input(BUTTON_PRESS if down else BUTTON_RELEASE, button)
        self._x.flush()

    async def _key(self, names: str, hold: float) -> None:
        for chord in chords(names):
            await self._ready(chord)
            self.keyboard.press(chord)
            if hold > 0:
                await asyncio.sleep(min(hold, LONGEST_WAIT))
            self.keyboard.release()

    async def _ready(self, chord: Sequence[int]) -> None:
        """Lend keys to symbols that have none, and let programs hear of it."""
        if self.keyboard.lacks(chord):
            await lend(self.keyboard, chord)
            await self.heard()

    def _scroll(self, dx: int, dy: int) -> None:
        for amount, back, forth in ((dy, UP, DOWN), (dx, LEFT, RIGHT)):
            for _ in range(min(abs(amount), MOST_SCROLL)):
                button = forth if amount > 0 else back
                self._x.xtest_fake_input(BUTTON_PRESS, button)
                self._x.xtest_fake_input(BUTTON_RELEASE, button)
        self._x.flush()
