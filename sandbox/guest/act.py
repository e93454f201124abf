"""Performs steps with mouse and keys, waits until the picture is still, and says how much of it changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.guest.call import Call, PeerError
from sandbox.guest.desk import GuestDesk
from sandbox.guest.hands import Hands, StepRefused
from sandbox.guest.keys import UnknownKey
from sandbox.guest.peer import Operation
from sandbox.guest.settle import FIRST, MEMORY, Area, Stillness
from sandbox.guest.watch import Watch, area, box, differing, share

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
    """Seconds without change that make a picture still, seconds after which nobody waits any longer, and
    seconds for the first sign of an effect."""

    quiet: float = 0.06
    longest: float = 3.0
    first: float = FIRST

    @classmethod
    def of(cls, wanted: Mapping[str, Any]) -> Patience:
        """From a call's {quiet, longest, first}; what is left out is as above."""
        known = {name: float(wanted[name]) for name in ("quiet", "longest", "first") if name in wanted}
        return cls(**known)


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
        """Do `steps` in order. With `settle` ({quiet, longest, first}) wait for stillness and measure.

        Result: pointer; where it was measured also settled, seconds, region_changed and screen_changed
        (0–1), touched (`region`, [x, y, width, height], changed, though it may look as before again),
        elsewhere ([x, y, width, height] around what changed outside `region`, or null).
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
                found = await self._measured(steps, Patience.of(wanted), call.arguments.get("region"))
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
        whole: Area = (0, 0, *size)
        near = whole if region is None else area(region, size)
        still = Stillness(started, size, patience.quiet, patience.longest, patience.first, self._known())
        damage = display.damage()
        try:
            async with self._turn:
                watch = Watch(display, damage)
                before = await self._do(steps, watch, still)
            still.start = time.monotonic()
            await watch.until(still)
        finally:
            damage.close()
        self._restless += [(time.monotonic(), moving) for moving in still.moving]
        differs = differing(before, display.pixels(), [*still.restless, *still.moving])
        return {
            "settled": still.settled,
            "seconds": round(time.monotonic() - started, 4),
            "region_changed": share(differs, near),
            "screen_changed": share(differs, whole),
            "touched": still.touched(near),
            "elsewhere": box(differs, near),
        }

    async def _do(self, steps: Sequence[Mapping[str, Any]], watch: Watch, still: Stillness) -> Any:
        """Do the steps; the picture as it was before the first that can have an effect."""
        at = next((n for n, step in enumerate(steps) if step.get("do") not in STILL), 0)
        try:
            there = self._hands.pointer
            await self._hands.begin(steps[:at])
            if self._hands.pointer != there:
                await watch.until(Stillness(time.monotonic(), still.size, *HOVER))
            before = watch.begin()
            await self._hands.begin(steps[at:], lambda seconds: watch.glance(still, seconds))
        except BaseException:
            self._hands.let_go(failed=True)
            raise
        self._hands.let_go()
        return before

    def _known(self) -> list[Area]:
        """Areas that moved by themselves not long ago."""
        now = time.monotonic()
        self._restless = [(seen, area) for seen, area in self._restless if now - seen < MEMORY]
        return [area for _seen, area in self._restless]
