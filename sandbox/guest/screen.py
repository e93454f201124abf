"""The screen as the host sees it: a stream of what changes, and single pictures."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

from sandbox.guest.desk import GuestDesk
from sandbox.guest.display import Display
from sandbox.guest.frames import encode
from sandbox.guest.peer import Call, Operation, PeerError, PeerGone
from sandbox.guest.pictures import jpeg, png
from sandbox.guest.rects import Rect, changed, joined

UNSEEN = 2
"""Frames that may be under way before the host has taken them."""

QUICK = 100_000
"""Pixels up to which a frame is made in the loop's thread, since changing threads takes longer."""


def operations(desk: GuestDesk) -> dict[str, Operation]:
    """`screen.watch` and `screen.picture`."""
    display = desk.display
    if display is None:
        raise PeerError("display_missing")

    async def watch(call: Call) -> dict[str, Any]:
        """{rate}: frames (see `frames`) as the screen changes, the first one whole; the other end sends a
        byte for every frame it has taken."""
        return await _Watch(call, display).run(float(call.arguments.get("rate", 30)))

    async def picture(call: Call) -> dict[str, Any]:
        """{region, size, form: png or jpeg, pointer, quality} → the encoded picture's bytes."""
        wanted = _Wanted(display, call.arguments)
        data = await asyncio.to_thread(wanted.encoded)
        await call.send(data)
        return {"width": wanted.size[0], "height": wanted.size[1], "bytes": len(data)}

    return {"screen.watch": watch, "screen.picture": picture}


class _Watch:
    """One stream of frames."""

    def __init__(self, call: Call, display: Display) -> None:
        self._call, self._display = call, display
        self._log = display.damage(pointer=True)
        self._sent: Any = None
        self._number = 0
        self._unseen = 0
        self._seen = asyncio.Event()
        self._pointer = (-1, -1)

    async def run(self, rate: float) -> dict[str, Any]:
        taking = asyncio.create_task(self._take())
        due = time.monotonic()
        try:
            while True:
                while self._unseen >= UNSEEN:
                    self._seen.clear()
                    await self._seen.wait()
                if self._sent is not None:
                    await self._log.wait()
                now = time.monotonic()
                if now < due:
                    await asyncio.sleep(due - now)
                due = max(due + 1 / rate, now)  # a frame that was late does not make the next one late
                await self._frame()
        finally:
            taking.cancel()
            self._log.close()

    async def _take(self) -> None:
        with contextlib.suppress(PeerGone):  # this watch is cancelled then
            while taken := await self._call.receive():
                self._unseen = max(0, self._unseen - len(taken))
                self._seen.set()

    async def _frame(self) -> None:
        """Send what differs from what was sent before, if anything does."""
        screen = Rect(0, 0, self._display.width, self._display.height)
        drawn = joined(
            part for rect in self._log.take() if (part := rect.within(screen.width, screen.height))
        )
        if self._sent is None:
            drawn = [screen]
        pointer = max(0, self._log.pointer[0]), max(0, self._log.pointer[1])
        if sum(rect.area for rect in drawn) > QUICK:
            data = await asyncio.to_thread(self._made, drawn, pointer)
        else:
            data = self._made(drawn, pointer)
        if not data:
            return
        self._number += 1
        self._pointer = pointer
        self._unseen += 1
        await self._call.send(data)

    def _made(self, drawn: list[Rect], pointer: tuple[int, int]) -> bytes:
        """The frame's bytes, or none where nothing is new."""
        now, parts = time.time(), self._parts(drawn)
        if not parts and pointer == self._pointer:
            return b""
        return encode(self._number + 1, now, pointer, parts)

    def _parts(self, drawn: list[Rect]) -> list[tuple[Rect, bytes]]:
        """What differs within `drawn`, with its pixels; from now on that is what was sent."""
        if self._sent is None:
            self._sent = self._display.pixels()
            return [(drawn[0], self._sent.tobytes())]
        parts = []
        for rect in drawn:
            now = self._display.pixels(rect)
            before = self._sent[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width]
            for part in changed(before, now, Rect(0, 0, rect.width, rect.height)):
                rows = slice(part.y, part.y + part.height), slice(part.x, part.x + part.width)
                before[rows] = now[rows]
                parts.append(
                    (Rect(rect.x + part.x, rect.y + part.y, part.width, part.height), now[rows].tobytes())
                )
        return parts


class _Wanted:
    """A picture as it was asked for; PeerError("picture_refused") for what cannot be given."""

    def __init__(self, display: Display, arguments: dict[str, Any]) -> None:
        screen = Rect(0, 0, display.width, display.height)
        region = arguments.get("region")
        try:
            found = Rect(*map(int, region)).within(screen.width, screen.height) if region else screen
            size = arguments.get("size")
            wide, high = map(int, size) if size else (found.width, found.height) if found else (0, 0)
        except (TypeError, ValueError) as error:
            raise PeerError("picture_refused", str(error)) from error
        if found is None or not 0 < wide <= 8192 or not 0 < high <= 8192:
            raise PeerError("picture_refused", f"{region} as {wide}×{high}")
        self.size = wide, high
        self._form = str(arguments.get("form", "png"))
        self._quality = int(arguments.get("quality", 85))
        self._part = found
        self._pixels = display.pixels(found)
        self._pointer = display.pointer() if arguments.get("pointer") else None
        self._cursor = display.cursor() if self._pointer else None

    def encoded(self) -> bytes:
        """The file's bytes; any thread."""
        from PIL import Image

        high, wide = self._pixels.shape
        image = Image.frombuffer("RGB", (wide, high), self._pixels, "raw", "BGRX", 4 * wide, 1)
        if self._pointer and self._cursor:
            shape, hot_x, hot_y = self._cursor
            cursor = Image.fromarray(shape)
            at = self._pointer[0] - hot_x - self._part.x, self._pointer[1] - hot_y - self._part.y
            image = image.copy()
            image.paste(cursor, at, cursor)
        if self.size != image.size:
            image = image.resize(self.size, Image.Resampling.LANCZOS, reducing_gap=2.0)
        return jpeg(image, self._quality) if self._form == "jpeg" else png(image)
