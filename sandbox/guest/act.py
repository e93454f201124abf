"""Performs steps with mouse and keys, waits until the picture is still, and says how much of it changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.guest.call import Call, PeerError
from sandbox.guest.damage import DamageLog
from sandbox.guest.desk import GuestDesk
from sandbox.guest.display import Display
from sandbox.guest.hands import Hands, StepRefused
from sandbox.guest.keys import UnknownKey
from sandbox.guest.peer import Operation
from sandbox.guest.rects import Rect, changed
from sandbox.guest.settle import MEMORY, Area, Stillness

HOVER = (0.02, 0.12, 0.03)
"""Patience (quiet, longest, first) with what the pointer's arrival alone changes: no effect of a click."""

STILL = {"move", "press", "wait"}
"""Steps that may come before the one whose effect is measured."""


def operations(desk: GuestDesk) -> dict[str, Operation]:
    """`input.act` and `pointer`. Opens the hands, which are closed with the desk's tasks."""
    actor = Actor(desk)
    desk.spawn(actor.keep())
    return {"input.act": actor.on_act, "pointer": actor.on_pointer}


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds without change that make a picture still, and seconds after which nobody waits any longer."""

    quiet: float = 0.07
    longest: float = 3.0


class Actor:
    """The hands together with the eyes that check what they do."""

    def __init__(self, desk: GuestDesk) -> None:
        self._desk = desk
        self._hands = Hands.open()
        self._turn = asyncio.Lock()
        self._restless: list[tuple[float, Area]] = []

    async def keep(self) -> None:
        """Hold the hands until cancelled; then let go of everything."""
        try:
            await asyncio.Event().wait()
        finally:
            self._hands.close()

    async def on_pointer(self, call: Call) -> dict[str, Any]:
        """{x, y} of the pointer in pixels of the screen."""
        del call
        x, y = self._hands.pointer
        return {"x": x, "y": y}

    async def on_act(self, call: Call) -> dict[str, Any]:
        """Do `steps` in order. With `settle` ({quiet, longest} in seconds) wait for stillness and measure.

        Result: pointer; where it was measured also settled, seconds, region_changed and screen_changed
        (0–1), touched (`region`, [x, y, width, height], changed, though it may look as before again).
        PeerError step_refused or key_unknown: nothing stays pressed.
        """
        steps = list(call.arguments.get("steps") or [])
        wanted = call.arguments.get("settle")
        try:
            if wanted is None:
                async with self._turn:
                    await self._hands.do(steps)
                found: dict[str, Any] = {}
            else:
                patience = Patience(float(wanted.get("quiet", 0.07)), float(wanted.get("longest", 3.0)))
                found = await self._measured(steps, patience, call.arguments.get("region"))
        except UnknownKey as error:
            raise PeerError("key_unknown", str(error)) from error
        except (StepRefused, KeyError, TypeError, ValueError) as error:
            raise PeerError("step_refused", str(error)) from error
        return found | {"pointer": list(self._hands.pointer)}

    async def _measured(
        self, steps: Sequence[Mapping[str, Any]], patience: Patience, region: Sequence[int] | None
    ) -> dict[str, Any]:
        display = self._desk.display
        if display is None:
            raise PeerError("display_missing")
        started = time.monotonic()
        size = (display.width, display.height)
        near: Area = (0, 0, *size) if region is None else _area(region, size)
        damage = display.damage()
        try:
            async with self._turn:
                watch = _Watch(display, damage)
                before = await self._do(steps, watch, size)
            still = Stillness(
                time.monotonic(), size, patience.quiet, patience.longest, restless=self._known()
            )
            await watch.until(still)
        finally:
            damage.close()
        self._restless += [(time.monotonic(), area) for area in still.moving]
        after = display.pixels()
        ignored = [*still.restless, *still.moving]
        return {
            "settled": still.settled,
            "seconds": round(time.monotonic() - started, 4),
            "region_changed": _changed(before, after, near, ignored),
            "screen_changed": _changed(before, after, (0, 0, *size), ignored),
            "touched": still.touched(near),
        }

    async def _do(self, steps: Sequence[Mapping[str, Any]], watch: _Watch, size: tuple[int, int]) -> Any:
        """Do the steps; the picture as it was before the first that can have an effect."""
        at = next((n for n, step in enumerate(steps) if step.get("do") not in STILL), 0)
        try:
            if at:
                await self._hands.begin(steps[:at])
                await watch.until(Stillness(time.monotonic(), size, *HOVER))
            before = watch.begin()
            await self._hands.begin(steps[at:])
        finally:
            self._hands.let_go()
        return before

    def _known(self) -> list[Area]:
        """Areas that moved by themselves not long ago."""
        now = time.monotonic()
        self._restless = [(seen, area) for seen, area in self._restless if now - seen < MEMORY]
        return [area for _seen, area in self._restless]


class _Watch:
    """Tells a Stillness what really looks different, wherever the server says that something was drawn."""

    def __init__(self, display: Display, damage: DamageLog) -> None:
        self._display = display
        self._damage = damage
        self._seen = self.begin()

    def begin(self) -> Any:
        """Forget what happened so far; the picture as it is now, an array (h, w) of 32-bit pixels."""
        self._damage.take()
        self._seen = self._display.pixels()
        return self._seen.copy()

    async def until(self, still: Stillness) -> None:
        """Return when `still` has no more patience."""
        while (wait := still.patience(time.monotonic())) > 0:
            if not await self._damage.wait(wait):
                continue
            drawn = self._damage.take()
            now = self._display.pixels()
            found = [part for rect in drawn for part in self._differing(rect, now)]
            self._seen = now
            still.saw(time.monotonic(), [(r.x, r.y, r.x + r.width, r.y + r.height) for r in found])

    def _differing(self, rect: Rect, now: Any) -> list[Rect]:
        cut = rect.within(self._display.width, self._display.height)
        return changed(self._seen, now, cut) if cut else []


def _area(region: Sequence[int], size: tuple[int, int]) -> Area:
    x, y, width, height = (int(number) for number in region)
    return max(0, x), max(0, y), min(size[0], x + width), min(size[1], y + height)


def _changed(before: Any, after: Any, area: Area, ignored: Sequence[Area]) -> float:
    """The share of pixels of `area` that differ, those in `ignored` aside; 0.0 for an empty area."""
    left, top, right, bottom = area
    if right <= left or bottom <= top:
        return 0.0
    old, new = before[top:bottom, left:right], after[top:bottom, left:right]
    differs = old != new
    for other in ignored:
        across = slice(max(0, other[0] - left), max(0, other[2] - left))
        differs[max(0, other[1] - top) : max(0, other[3] - top), across] = False
    return float(differs.mean())
