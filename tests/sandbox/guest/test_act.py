"""`input.act` on a real X server: it waits for stillness, and measures what its steps changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.guest import act
from sandbox.guest.desk import GuestDesk
from sandbox.guest.display import Display
from sandbox.guest.peer import Peer, PeerError
from tests.sandbox.guest.pairs import pair
from tests.sandbox.guest.program import Program
from tests.sandbox.guest.xvfb import HEIGHT, WIDTH, xvfb

SETTLE = {"quiet": 0.06, "longest": 3.0}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("screen")
    with xvfb(folder) as name:
        yield name, folder


def on(
    server: tuple[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    check: Callable[[Peer, Program], Awaitable[None]],
) -> None:
    monkeypatch.setenv("DISPLAY", server[0])

    async def run() -> None:
        desk = GuestDesk()
        desk.display = await Display.open(server[0], str(server[1]), 5)
        program = Program(server[0], WIDTH, HEIGHT)
        try:
            async with pair(guest=act.operations(desk)) as (host, _guest):
                await check(host, program)
        finally:
            for task in desk.tasks:
                task.cancel()
            await asyncio.gather(*desk.tasks, return_exceptions=True)
            desk.display.close()
            program.close()

    asyncio.run(run())


def click(x: int, y: int) -> list[dict[str, Any]]:
    press = {"do": "button", "button": "left"}
    glance = {"do": "glance", "seconds": 0.03}
    return [{"do": "move", "x": x, "y": y}, press | {"down": True}, glance, press | {"down": False}]


def near(x: int, y: int) -> list[int]:
    return [x - 20, y - 20, 40, 40]


def test_a_click_with_an_effect_is_measured(
    server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(host: Peer, program: Program) -> None:
        found = await host.call("input.act", steps=click(60, 60), settle=SETTLE, region=near(60, 60))
        assert found["settled"]
        assert found["touched"]
        assert found["region_changed"] == pytest.approx(100 / 1600, abs=0.01)
        assert found["elsewhere"] is None
        assert found["pointer"] == [60, 60]
        assert await host.call("pointer") == {"x": 60, "y": 60}

    on(server, monkeypatch, check)


def test_a_click_without_effect_is_measured_too(
    server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(host: Peer, program: Program) -> None:
        found = await host.call("input.act", steps=click(250, 60), settle=SETTLE, region=near(250, 60))
        assert found["settled"]
        assert not found["touched"]
        assert found["region_changed"] == found["screen_changed"] == 0.0

    on(server, monkeypatch, check)


def test_a_change_elsewhere_is_told_where(server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    async def check(host: Peer, program: Program) -> None:
        found = await host.call("input.act", steps=click(50, 80), settle=SETTLE, region=near(200, 150))
        assert found["region_changed"] == 0.0
        assert not found["touched"]
        assert found["elsewhere"] == [45, 75, 10, 10]

    on(server, monkeypatch, check)


def test_a_blinking_caret_does_not_hold_it_up(
    server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(host: Peer, program: Program) -> None:
        async def blinking() -> None:
            lit = False
            while True:
                lit = not lit
                program.blink(lit)
                await asyncio.sleep(0.03)

        blinker = asyncio.create_task(blinking())
        try:
            first = await host.call("input.act", steps=click(80, 90), settle=SETTLE, region=near(80, 90))
            begun = time.monotonic()
            again = await host.call("input.act", steps=click(90, 95), settle=SETTLE, region=near(90, 95))
            spent = time.monotonic() - begun
        finally:
            blinker.cancel()
        assert first["settled"]
        assert again["settled"]
        assert again["region_changed"] > 0
        assert spent < 1.0, "a place known to blink is not waited for"

    on(server, monkeypatch, check)


def test_without_settle_nothing_is_waited_for(
    server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(host: Peer, program: Program) -> None:
        assert await host.call("input.act", steps=click(20, 20)) == {"pointer": [20, 20]}
        await program.until(3)

    on(server, monkeypatch, check)


def test_wrong_steps_are_refused_and_let_go(
    server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(host: Peer, program: Program) -> None:
        with pytest.raises(PeerError) as refused:
            await host.call(
                "input.act", steps=[{"do": "press", "key": "ctrl"}, {"do": "key", "key": "nokey"}]
            )
        assert (refused.value.code, refused.value.text) == ("key_unknown", "nokey")
        with pytest.raises(PeerError) as refused:
            await host.call("input.act", steps=[*click(30, 30)[:2], {"do": "dance"}], settle=SETTLE)
        assert refused.value.code == "step_refused"
        assert program.down() == []
        assert not program.buttons() & 0x1F00

    on(server, monkeypatch, check)


def test_a_cancelled_act_lets_go(server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    async def check(host: Peer, program: Program) -> None:
        hold = {"do": "key", "key": "shift+Left", "hold": 60}
        call = await host.open("input.act", steps=[hold], settle=SETTLE)
        await program.until(2)
        await call.cancel()
        await program.until(4)
        assert program.down() == []

    on(server, monkeypatch, check)


def test_the_users_hands_do_not_wait_for_the_agents_eyes(
    server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(host: Peer, program: Program) -> None:
        patient = {"quiet": 2.0, "longest": 5.0}
        agents = await host.open("input.act", steps=click(40, 40), settle=patient)
        await program.until(3)
        begun = time.monotonic()
        await host.call("input.act", steps=[{"do": "move", "x": 10, "y": 10}])
        assert time.monotonic() - begun < 1.0
        await agents.cancel()

    on(server, monkeypatch, check)
