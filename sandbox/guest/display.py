"""The screen of the container: its pixels out of Xvfb's file, its pointer, and what changed on it."""

from __future__ import annotations

import asyncio
import mmap
import os
import time
from pathlib import Path
from typing import Any

from sandbox.guest.damage import Damage, DamageLog, leave
from sandbox.guest.peer import PeerError
from sandbox.guest.rects import Rect
from sandbox.guest.xwd import HEADER, Layout, layout

FILE = "Xvfb_screen0"


class Display:
    """An X display with its pixels mapped into this process; made by `open`, loop's thread only except
    `capture`, which any thread may call."""

    def __init__(self, x: Any, damage: Damage, pixels: Any, where: Layout) -> None:
        self.width, self.height = where.width, where.height
        self.x = x
        self._damage = damage
        self._pixels = pixels

    @classmethod
    async def open(cls, name: str, folder: str, patience: float = 10.0) -> Display:
        """The display called `name`, whose server keeps its screen in `folder` (Xvfb's `-fbdir`); waits until
        it is there. PeerError("display_missing") after `patience` seconds."""
        before = time.monotonic() + patience
        while True:
            try:
                return await asyncio.to_thread(cls._made, name, Path(folder) / FILE)
            except (OSError, ValueError, DisplayMissing) as error:
                if time.monotonic() > before:
                    raise PeerError("display_missing", f"{name}: {error}") from error
            await asyncio.sleep(0.02)

    @classmethod
    def _made(cls, name: str, path: Path) -> Display:
        import numpy

        where, memory = _mapped(path)
        x = connected(name)
        rows = numpy.frombuffer(memory, numpy.uint32, where.stride // 4 * where.height, where.offset)
        pixels = rows.reshape(where.height, where.stride // 4)[:, : where.width]
        return cls(x, Damage(connected(name)), pixels, where)

    def pixels(self, rect: Rect | None = None) -> Any:
        """A copy of the screen or a part of it that lies within: array (h, w) of 32-bit pixels."""
        if rect is None:
            return self._pixels.copy()
        return self._pixels[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width].copy()

    def capture(self, rect: Rect | None = None) -> Any:
        """The same copy as bytes: array (h, w, 4) of blue, green, red and nothing."""
        import numpy

        found = self.pixels(rect)
        return found.view(numpy.uint8).reshape(*found.shape, 4)

    def damage(self, *, pointer: bool = False) -> DamageLog:
        """A log of what is drawn from now on (and with `pointer` also of its moves); its owner closes it."""
        return self._damage.log(pointer)

    def pointer(self) -> tuple[int, int]:
        """Where the pointer is."""
        found = self.x.screen().root.query_pointer()
        return found.root_x, found.root_y

    def cursor(self) -> tuple[Any, int, int]:
        """The pointer's picture as array (h, w, 4) of RGBA bytes, and which of its pixels points."""
        import numpy

        self.x.xfixes_query_version()
        image = self.x.xfixes_get_cursor_image(self.x.screen().root)
        argb = numpy.array(image.cursor_image, numpy.uint32).reshape(image.height, image.width)
        shifts = numpy.array([16, 8, 0, 24], numpy.uint32)
        return (argb[:, :, None] >> shifts & 255).astype(numpy.uint8), image.xhot, image.yhot

    def close(self) -> None:
        """Leave the display."""
        self._damage.close()
        leave(self.x)


class DisplayMissing(Exception):
    """No X server answers, or none with what is needed."""


def connected(name: str) -> Any:
    """A connection to an X server; DisplayMissing where none answers."""
    from Xlib import display, error

    try:
        found = display.Display(name)
    except (error.DisplayError, error.ConnectionClosedError) as fault:
        raise DisplayMissing(str(fault)) from fault
    missing = [need for need in ("DAMAGE", "XFIXES", "XInputExtension") if not found.has_extension(need)]
    if missing:
        found.close()
        raise DisplayMissing(f"the server lacks {', '.join(missing)}")
    return found


def _mapped(path: Path) -> tuple[Layout, mmap.mmap]:
    """The server's file, of which no byte beyond its end may ever be read: that would be a bus error."""
    with path.open("rb") as file:
        where = layout(file.read(HEADER.size))
        if os.fstat(file.fileno()).st_size < where.size:
            raise ValueError("the screen's file is shorter than its screen")
        return where, mmap.mmap(file.fileno(), where.size, prot=mmap.PROT_READ)
