"""A host that follows a real screen: whole at first, exact after that, never ahead of who looks."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from sandbox.guest.desk import GuestDesk
from sandbox.guest.display import Display, connected
from sandbox.guest.peer import Call, PeerError
from sandbox.guest.screen import UNSEEN, operations
from sandbox.screen import Frame, Rect, Screen
from tests.sandbox.guest.pairs import pair
from tests.sandbox.guest.xvfb import HEIGHT, WIDTH, xvfb


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("screen")
    with xvfb(folder) as name:
        yield name, folder


class Stage:
    """A screen with somebody who draws on it."""

    def __init__(self, display: Display, screen: Screen, name: str) -> None:
        self.display, self.screen = display, screen
        self.x = connected(name)
        self._ink = self.x.screen().root.create_gc()

    def fill(self, rect: Rect, color: int) -> None:
        self._ink.change(foreground=color)
        self.x.screen().root.fill_rectangle(self._ink, rect.x, rect.y, rect.width, rect.height)
        self.x.sync()


@asynccontextmanager
async def _stage(server: tuple[str, Path]) -> AsyncIterator[Stage]:
    desk = GuestDesk()
    desk.display = await Display.open(server[0], str(server[1]), 5)
    async with pair(guest=operations(desk)) as (host, _):
        screen = Screen(host, WIDTH, HEIGHT)
        stage = Stage(desk.display, screen, server[0])
        stage.fill(Rect(0, 0, WIDTH, HEIGHT), 0x102030)
        yield stage
        await screen.close()
        stage.x.close()
    desk.display.close()


class Follower:
    """Somebody who looks: keeps what the frames add up to."""

    def __init__(self) -> None:
        import numpy

        self.picture = numpy.zeros((HEIGHT, WIDTH), numpy.uint32)
        self.frames: list[Frame] = []
        self._more = asyncio.Event()

    def __call__(self, frame: Frame) -> None:
        import numpy

        for rect, pixels in zip(frame.rects, frame.pixels, strict=True):
            part = numpy.frombuffer(pixels, numpy.uint32).reshape(rect.height, rect.width)
            self.picture[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width] = part
        self.frames.append(frame)
        self._more.set()

    async def until(self, seen: Any) -> None:
        while not seen(self):
            self._more.clear()
            await asyncio.wait_for(self._more.wait(), 10)


def test_the_first_frame_is_whole_and_the_rest_is_exact(server: tuple[str, Path]) -> None:
    async def check() -> None:
        async with _stage(server) as stage:
            follower = Follower()
            stage.screen.subscribe(follower)
            await follower.until(lambda f: f.frames)
            assert follower.frames[0].rects == (Rect(0, 0, WIDTH, HEIGHT),)
            for n in range(40):
                stage.fill(Rect(n * 31 % 300, n * 17 % 190, 1 + n, 20), n * 6_000_011 % 0xFFFFFF)
                if n % 5 == 0:
                    await follower.until(lambda f: (f.picture == stage.display.pixels()).all())
            await follower.until(lambda f: (f.picture == stage.display.pixels()).all())
            assert [frame.seq for frame in follower.frames] == list(range(1, len(follower.frames) + 1))

    asyncio.run(check())


def test_a_small_change_is_sent_as_a_small_part(server: tuple[str, Path]) -> None:
    async def check() -> None:
        async with _stage(server) as stage:
            follower = Follower()
            stage.screen.subscribe(follower)
            await follower.until(lambda f: f.frames)
            stage.fill(Rect(70, 70, 2, 2), 0xFF00FF)
            await follower.until(lambda f: len(f.frames) > 1)
            assert sum(rect.area for rect in follower.frames[1].rects) <= 32 * 32

    asyncio.run(check())


def test_redrawing_the_same_sends_nothing_but_the_pointer_does(server: tuple[str, Path]) -> None:
    async def check() -> None:
        async with _stage(server) as stage:
            from Xlib import X
            from Xlib.ext import xtest

            follower = Follower()
            stage.screen.subscribe(follower)
            await follower.until(lambda f: f.frames)
            stage.fill(Rect(0, 0, WIDTH, HEIGHT), 0x102030)
            xtest.fake_input(stage.x, X.MotionNotify, x=33, y=44)
            stage.x.sync()
            await follower.until(lambda f: f.frames[-1].pointer == (33, 44))
            assert all(frame.rects == () for frame in follower.frames[1:])

    asyncio.run(check())


def test_a_second_who_looks_begins_with_the_whole_screen(server: tuple[str, Path]) -> None:
    async def check() -> None:
        async with _stage(server) as stage:
            first, second = Follower(), Follower()
            leave = stage.screen.subscribe(first)
            await first.until(lambda f: f.frames)
            stage.fill(Rect(5, 5, 50, 50), 0x00AAFF)
            await first.until(lambda f: (f.picture == stage.display.pixels()).all())
            stage.screen.subscribe(second)
            await second.until(lambda f: f.frames)
            assert second.frames[0].rects == (Rect(0, 0, WIDTH, HEIGHT),)
            assert (second.picture == stage.display.pixels()).all()
            leave()
            leave()
            count = len(first.frames)
            stage.fill(Rect(8, 8, 50, 50), 0x00FF00)
            await second.until(lambda f: (f.picture == stage.display.pixels()).all())
            assert len(first.frames) == count

    asyncio.run(check())


def test_leaving_and_coming_back_shows_what_happened_meanwhile(server: tuple[str, Path]) -> None:
    async def check() -> None:
        async with _stage(server) as stage:
            first, second = Follower(), Follower()
            leave = stage.screen.subscribe(first)
            await first.until(lambda f: f.frames)
            leave()
            stage.fill(Rect(9, 9, 9, 9), 0x777777)
            stage.screen.subscribe(second)
            await second.until(lambda f: (f.picture == stage.display.pixels()).all())
            assert second.frames[0].rects == (Rect(0, 0, WIDTH, HEIGHT),)

    asyncio.run(check())


def test_who_takes_no_frames_gets_no_more_and_then_the_newest(server: tuple[str, Path]) -> None:
    """At most UNSEEN frames are under way; what was drawn meanwhile comes as one."""
    from sandbox.guest.frames import Frames, Sent

    async def check() -> None:
        async with _stage(server) as stage:
            frames = Frames(WIDTH, HEIGHT)
            found: list[Sent] = []
            async with await stage.screen._bulk.open("screen.watch", rate=1000) as call:
                for n in range(UNSEEN):
                    while len(found) <= n:
                        found += frames.feed(await call.receive())
                    stage.fill(Rect(n, n, 40, 40), 0x0000FF + n)
                for n in range(20):
                    stage.fill(Rect(100, 100, 40, 40), 0xFF0000 + n)
                reading = asyncio.create_task(call.receive())
                for _ in range(5):
                    await stage.screen.picture(region=Rect(0, 0, 1, 1))
                assert not reading.done()
                await call.send(b"\0")
                newest = frames.feed(await reading)
                assert len(newest) == 1
                at = next(
                    pixels
                    for rect, pixels in zip(newest[0].rects, newest[0].pixels, strict=True)
                    if rect.x <= 100 < rect.x + rect.width and rect.y <= 100 < rect.y + rect.height
                )
                assert (0xFF0013).to_bytes(4, "little") in at

    asyncio.run(check())


async def _lies(call: Call) -> dict[str, Any]:
    await call.send(b"\xff" * 64)
    await asyncio.Event().wait()
    return {}


async def _fails(call: Call) -> dict[str, Any]:
    raise PeerError("display_gone")


@pytest.mark.parametrize("watch", [_lies, _fails])
def test_a_guest_that_says_no_frames_loses_its_stream(watch: Any) -> None:
    async def check() -> None:
        async with pair(guest={"screen.watch": watch}) as (host, guest):
            Screen(host, 8, 8).subscribe(lambda frame: None)
            assert await asyncio.wait_for(guest.wait_ended(), 10) == "ended"
            assert host.reason == "closed"

    asyncio.run(check())


def test_pictures_whole_in_part_scaled_and_with_the_pointer(server: tuple[str, Path]) -> None:
    async def check() -> None:
        async with _stage(server) as stage:
            stage.fill(Rect(100, 50, 40, 30), 0xFF8000)
            whole = _image(await stage.screen.picture())
            assert (whole.format, whole.size) == ("PNG", (WIDTH, HEIGHT))
            assert [whole.getpixel((99, 50)), whole.getpixel((100, 50))] == [(16, 32, 48), (255, 128, 0)]
            part = _image(await stage.screen.picture(region=Rect(100, 50, 40, 30)))
            assert (part.size, part.getcolors()) == ((40, 30), [(1200, (255, 128, 0))])
            cut = _image(await stage.screen.picture(region=Rect(WIDTH - 5, HEIGHT - 5, 40, 30)))
            assert cut.size == (5, 5)
            small = _image(await stage.screen.picture(size=(33, 21), form="jpeg"))
            assert (small.format, small.size) == ("JPEG", (33, 21))
            stage.x.screen().root.warp_pointer(20, 20)
            stage.x.sync()
            shown = _image(await stage.screen.picture(pointer=True))
            assert shown.tobytes() != whole.tobytes()
            away = Rect(60, 60, WIDTH - 60, HEIGHT - 60)
            box = (away.x, away.y, WIDTH, HEIGHT)
            assert shown.crop(box).tobytes() == whole.crop(box).tobytes()

    asyncio.run(check())


def _image(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


@pytest.mark.parametrize(
    "wanted",
    [{"region": Rect(WIDTH, 0, 5, 5)}, {"region": Rect(0, 0, 0, 5)}, {"size": (0, 5)}, {"size": (9000, 5)}],
)
def test_a_picture_that_cannot_be_given_is_refused(server: tuple[str, Path], wanted: dict[str, Any]) -> None:
    async def check() -> None:
        async with _stage(server) as stage:
            with pytest.raises(PeerError, match="picture_refused"):
                await stage.screen.picture(**wanted)

    asyncio.run(check())
