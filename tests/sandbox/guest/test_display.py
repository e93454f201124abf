"""The screen of a real X server: its pixels, its pointer, and that every change is told and can be seen."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.guest.display import Display, connected
from sandbox.guest.peer import PeerError
from sandbox.guest.rects import Rect
from tests.sandbox.guest.xvfb import HEIGHT, WIDTH, xvfb

RED, GREEN = 0xFF0000, 0x00FF00


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("screen")
    with xvfb(folder) as name:
        yield name, folder


class Painter:
    """Another program that draws."""

    def __init__(self, name: str) -> None:
        self.x = connected(name)
        self.root = self.x.screen().root
        self._ink = self.root.create_gc()

    def fill(self, rect: Rect, color: int) -> None:
        self._ink.change(foreground=color)
        self.root.fill_rectangle(self._ink, rect.x, rect.y, rect.width, rect.height)
        self.x.sync()

    def point(self, x: int, y: int) -> None:
        self.root.warp_pointer(x, y)
        self.x.sync()


async def _opened(server: tuple[str, Path]) -> tuple[Display, Painter]:
    display = await Display.open(server[0], str(server[1]), 5)
    return display, Painter(server[0])


def test_pixels_are_blue_green_red(server: tuple[str, Path]) -> None:
    async def check() -> None:
        display, painter = await _opened(server)
        painter.fill(Rect(0, 0, WIDTH, HEIGHT), 0)
        painter.fill(Rect(WIDTH - 3, HEIGHT - 2, 3, 2), RED)
        whole = display.capture()
        assert whole.shape == (HEIGHT, WIDTH, 4) == (display.height, display.width, 4)
        assert whole[HEIGHT - 1, WIDTH - 1, :3].tolist() == [0, 0, 255]
        part = display.capture(Rect(WIDTH - 4, HEIGHT - 2, 4, 2))
        assert part[:, :, 2].tolist() == [[0, 255, 255, 255]] * 2
        painter.fill(Rect(0, 0, WIDTH, HEIGHT), GREEN)
        assert part[:, :, 2].tolist() == [[0, 255, 255, 255]] * 2
        painter.x.close()
        display.close()

    asyncio.run(check())


def test_the_pointer_and_its_picture(server: tuple[str, Path]) -> None:
    async def check() -> None:
        display, painter = await _opened(server)
        painter.point(17, 23)
        assert display.pointer() == (17, 23)
        picture, hot_x, hot_y = display.cursor()
        assert picture.shape[2] == 4
        assert 0 <= hot_x < picture.shape[1]
        assert 0 <= hot_y < picture.shape[0]
        painter.x.close()
        display.close()

    asyncio.run(check())


def test_what_is_drawn_wakes_a_log_and_quiet_does_not(server: tuple[str, Path]) -> None:
    async def check() -> None:
        display, painter = await _opened(server)
        log = display.damage()
        assert not await log.wait(0.01)
        waiting = asyncio.create_task(log.wait(10))
        await asyncio.sleep(0)
        painter.fill(Rect(40, 50, 60, 7), RED)
        assert await waiting
        assert log.take() == [Rect(40, 50, 60, 7)]
        assert not await log.wait(0.01)
        painter.point(30, 31)
        assert not await log.wait(0.01)
        painter.fill(Rect(0, 0, 5, 5), RED)
        assert await log.wait(10)
        log.close()
        painter.x.close()
        display.close()

    asyncio.run(check())


def test_moves_of_the_pointer_wake_who_asked(server: tuple[str, Path]) -> None:
    async def check() -> None:
        from Xlib import X
        from Xlib.ext import xtest

        display, painter = await _opened(server)
        log = display.damage(pointer=True)
        for place in ((5, 6), (100, 90)):
            waiting = asyncio.create_task(log.wait(10))
            await asyncio.sleep(0)
            xtest.fake_input(painter.x, X.MotionNotify, x=place[0], y=place[1])
            painter.x.sync()
            assert await waiting
            assert log.take() == []
            assert log.pointer == place
        log.close()
        painter.x.close()
        display.close()

    asyncio.run(check())


def test_two_logs_hear_the_same_and_no_change_is_ever_lost(server: tuple[str, Path]) -> None:
    """Whatever one log takes, each follows the screen exactly by what it was told."""

    async def follow(display: Display, log: Any, seen: Any, last: asyncio.Event) -> None:
        while not last.is_set() or await log.wait(0.02):
            if await log.wait(0.02):
                for rect in log.take():
                    seen[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width] = display.pixels(rect)

    async def check() -> None:
        display, painter = await _opened(server)
        logs = [display.damage(), display.damage()]
        pictures = [display.pixels() for _ in logs]
        last = asyncio.Event()
        following = [
            asyncio.create_task(follow(display, log, seen, last))
            for log, seen in zip(logs, pictures, strict=True)
        ]
        for n in range(300):
            rect = Rect(n * 7 % 300, n * 13 % 190, 1 + n % 30, 1 + n % 20)
            await asyncio.to_thread(painter.fill, rect, n * 70_001 % 0xFFFFFF)
        last.set()
        await asyncio.gather(*following)
        for seen in pictures:
            assert (seen == display.pixels()).all()
        painter.x.close()
        display.close()

    asyncio.run(check())


def test_a_server_that_ends_is_said(tmp_path: Path) -> None:
    async def check() -> None:
        with xvfb(tmp_path) as name:
            display = await Display.open(name, str(tmp_path), 5)
            log = display.damage()
            waiting = asyncio.create_task(log.wait())
            await asyncio.sleep(0)
        with pytest.raises(PeerError, match="display_gone"):
            await waiting
        with pytest.raises(PeerError, match="display_gone"):
            log.take()
        display.close()

    asyncio.run(check())


def test_a_display_that_never_comes_is_said(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match="display_missing"):
        asyncio.run(Display.open(":7654", str(tmp_path), 0.05))
