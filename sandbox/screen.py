"""The guest's screen on the host: whole in memory while someone looks, and single pictures when asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sandbox.guest.frames import Frames, Sent
from sandbox.guest.peer import Peer, PeerError, PeerGone
from sandbox.guest.rects import Rect
from sandbox.guest.wire import WireError
from sandbox.picture_kind import picture_kind

__all__ = ["Frame", "Rect", "Screen"]

RATE = 30
"""Frames a second at most."""

LARGEST = 134_217_728
"""Bytes of a picture that are taken from a guest."""

ROOM = 2_097_152
"""Bytes of frames that may be under way beyond the usual, so that a large one need not stop on its way."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What changed on the screen. `seq` counts what one `Screen` delivered; `time` is the guest's clock in
    seconds since 1970. `pixels` of each rect are 32 bits each, blue first, rows without gaps."""

    seq: int
    time: float
    rects: tuple[Rect, ...]
    pointer: tuple[int, int]
    pixels: tuple[bytes, ...]


Listener = Callable[[Frame], None]


class Screen:
    """The screen of one guest, of `width` × `height` pixels (both 0 where it has none). Loop's thread only.

    Frames come only while someone is subscribed; nothing is asked of the guest before.
    """

    def __init__(self, bulk: Peer, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._bulk = bulk
        self._listeners: dict[object, Listener] = {}
        self._fresh: set[object] = set()
        self._mirror = bytearray(4 * width * height)
        self._pointer = (0, 0)
        self._seq = 0
        self._time = 0.0
        self._watching: asyncio.Task[None] | None = None
        self._known = False

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called with every frame from now on, the first one whole; the returned function
        ends that and may be called twice. A listener does not raise. Frames end without a word when the
        guest does."""
        key = object()
        self._listeners[key] = listener
        self._fresh.add(key)
        if self._watching is None or self._watching.done():
            self._known = False
            self._watching = asyncio.get_running_loop().create_task(self._watch())
        elif self._known:
            asyncio.get_running_loop().call_soon(self._catch_up)

        def leave() -> None:
            self._listeners.pop(key, None)
            self._fresh.discard(key)
            if not self._listeners and self._watching is not None:
                self._watching.cancel()
                self._watching = None

        return leave

    async def picture(
        self,
        *,
        region: Rect | None = None,
        size: tuple[int, int] | None = None,
        form: Literal["png", "jpeg"] = "png",
        pointer: bool = False,
        quality: int = 85,
    ) -> bytes:
        """The screen now, or a region of it, scaled to `size` (width, height), with the pointer drawn in on
        request; `quality` is JPEG's. PeerError picture_refused for a region outside and for an answer that is
        no picture, PeerGone."""
        arguments: dict[str, Any] = {"form": form, "pointer": pointer, "quality": quality}
        if region is not None:
            arguments["region"] = [region.x, region.y, region.width, region.height]
        if size is not None:
            arguments["size"] = list(size)
        async with await self._bulk.open("screen.picture", **arguments) as call:
            data = bytearray()
            while piece := await call.receive():
                data += piece
                if len(data) > LARGEST:
                    raise PeerError("picture_too_large")
            await call.result()
        picture = bytes(data)
        if picture_kind(picture) != f"image/{form}":
            raise PeerError("picture_refused", "what came is no picture")
        return picture

    async def close(self) -> None:
        """End the frames; idempotent."""
        self._listeners.clear()
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()
            await asyncio.wait({watching})

    # --- inside ---------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Receive frames until cancelled. A guest that says no frames is broken, and so is its stream."""
        frames = Frames(self.width, self.height)
        try:
            async with await self._bulk.open("screen.watch", rate=RATE) as call:
                await call.widen(ROOM)
                while data := await call.receive():
                    for sent in frames.feed(data):
                        self._take(sent)
                        await call.send(b"\0")
        except PeerGone:
            return
        except (PeerError, WireError):
            self._bulk.close()

    def _take(self, sent: Sent) -> None:
        import numpy

        mirror = numpy.frombuffer(self._mirror, numpy.uint32).reshape(self.height, self.width)
        for rect, pixels in zip(sent.rects, sent.pixels, strict=True):
            part = numpy.frombuffer(pixels, numpy.uint32).reshape(rect.height, rect.width)
            mirror[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width] = part
        self._pointer, self._time = sent.pointer, sent.time
        if not self._known and not sent.rects:
            raise WireError("the first frame is not whole")
        self._known = True
        self._seq += 1
        frame = Frame(self._seq, sent.time, sent.rects, sent.pointer, sent.pixels)
        for key, listener in list(self._listeners.items()):
            if key not in self._fresh:
                listener(frame)
        self._catch_up()

    def _catch_up(self) -> None:
        """Give the whole screen to those who have seen nothing yet."""
        if not self._fresh or not self._known:
            return
        whole = Rect(0, 0, self.width, self.height)
        frame = Frame(self._seq, self._time, (whole,), self._pointer, (bytes(self._mirror),))
        fresh, self._fresh = self._fresh, set()
        for key in fresh:
            if key in self._listeners:
                self._listeners[key](frame)
