"""Hands on a real X server: what is pressed and typed arrives as it was meant, and nothing stays down."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.guest.hands import GLIDE, Hands, StepRefused
from sandbox.guest.keyboard import Keyboard
from sandbox.guest.keys import UnknownKey
from tests.sandbox.guest.program import Program
from tests.sandbox.guest.xvfb import HEIGHT, WIDTH, xvfb

MIXED = (
    "Zürich, ça va; señor ŁÓDŹ «naïve» ½€→∑\n"
    "漢字かな交じり文、中文测试，한국어\n"
    "😀👩\u200d👩\u200d👧\u200d👦🏳\ufe0f\u200d🌈👍🏽❤\ufe0f\n"
    "שלום مرحبا हिन्दी\t~`|\\<>{}"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("screen")
    with xvfb(folder) as name:
        yield name, folder


def on(server: tuple[str, Path], check: Callable[[Hands, Program], Awaitable[None]]) -> None:
    async def run() -> None:
        program = Program(server[0], WIDTH, HEIGHT)
        hands = Hands.open(server[0])
        try:
            await check(hands, program)
        finally:
            hands.close()
            program.close()

    asyncio.run(run())


def test_a_click_is_where_it_was_meant(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        press = {"do": "button", "button": "right"}
        await hands.do([{"do": "move", "x": 40, "y": 50}, press | {"down": True}, press | {"down": False}])
        await program.until(3)
        assert hands.pointer == (40, 50)
        assert program.heard == [("move", 0, (40, 50)), ("button", 3, True), ("button", 3, False)]

    on(server, check)


def test_a_drag_has_motion_in_between(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        await hands.do([{"do": "move", "x": 10, "y": 10}, {"do": "button", "down": True}])
        assert program.buttons() & 0x100, "a button that was only pressed stays down over calls"
        await hands.do([{"do": "move", "x": 120, "y": 100, "glide": True}, {"do": "button", "down": False}])
        await program.until(GLIDE + 3)
        moves = [where for kind, _detail, where in program.heard if kind == "move"]
        assert len(moves) >= GLIDE
        assert moves == sorted(moves)
        assert moves[-1] == (120, 100)
        assert not program.buttons() & 0x1F00

    on(server, check)


def test_the_wheel_turns_in_four_directions(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        await hands.do(
            [{"do": "scroll", "dy": 2}, {"do": "scroll", "dy": -1}, {"do": "scroll", "dx": 1, "dy": 0}]
        )
        await hands.do([{"do": "scroll", "dx": -1}])
        await program.until(10)
        assert [detail for _kind, detail, down in program.heard if down] == [5, 5, 4, 7, 6]

    on(server, check)


def test_modifiers_are_held_over_the_steps_between_and_not_longer(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        click = [{"do": "button", "down": True}, {"do": "button", "down": False}]
        await hands.do([{"do": "press", "key": "ctrl+shift"}, *click])
        await program.until(6)
        assert [state & 5 for state in program.states[2:4]] == [5, 5]
        assert program.down() == []

    on(server, check)


@pytest.mark.parametrize("key", ["ctrl+s", "ctrl+shift+T", "alt+F4", "super", "a b", "ctrl+plus", "é"])
def test_chords_go_down_and_up(server: tuple[str, Path], key: str) -> None:
    async def check(hands: Hands, program: Program) -> None:
        await hands.do([{"do": "key", "key": key}])
        await program.until(2)
        pressed = [code for _kind, code, down in program.heard if down]
        released = [code for _kind, code, down in program.heard if not down]
        assert sorted(pressed) == sorted(released)
        assert program.down() == []

    on(server, check)


def test_text_arrives_as_it_was_meant_again_and_again(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        for _ in range(3):
            program.text = ""
            program.heard.clear()
            await hands.do([{"do": "type", "text": MIXED}])
            await program.until(2 * len(MIXED))
            assert program.text == MIXED
            assert program.down() == []

    on(server, check)


def test_more_characters_than_there_are_spare_keys(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        text = "".join(chr(0x4E00 + number) for number in range(90))
        assert hands.keyboard.room < len(text)
        await hands.do([{"do": "type", "text": text}])
        await program.until(2 * len(text))
        assert program.text == text

    on(server, check)


def test_another_keymap_is_noticed(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        y, z = (program._x.keysym_to_keycode(ord(letter)) for letter in "yz")
        before = program._x.get_keyboard_mapping(min(y, z), abs(y - z) + 1)
        program.remap({y: "z", z: "y"})
        await hands.do([{"do": "type", "text": "lazy"}])
        await program.until(8)
        program._x.change_keyboard_mapping(min(y, z), before)
        program._x.sync()
        assert program.text == "lazy"

    on(server, check)


def test_line_ends_of_windows_are_one_return(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        await hands.do([{"do": "type", "text": "a\r\nb\rc"}])
        await program.until(10)
        assert program.text == "a\nb\nc"

    on(server, check)


def test_caps_lock_does_not_swap_what_is_typed(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        program.lock_capitals()
        await program.until(2)
        await hands.do([{"do": "type", "text": "Small é"}])
        await program.until(14)
        assert program.text == "Small é"

    on(server, check)


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        ([{"do": "press", "key": "ctrl"}, {"do": "key", "key": "nokey"}], UnknownKey),
        ([{"do": "button", "down": True}, {"do": "dance"}], StepRefused),
        ([{"do": "press", "key": "shift"}, {"do": "button", "button": "sixth", "down": True}], StepRefused),
        ([{"do": "press", "key": "shift"}, {"do": "move"}], KeyError),
        ([{"do": "type", "text": "ok\x01"}], UnknownKey),
    ],
)
def test_nothing_stays_pressed_after_a_failure(
    server: tuple[str, Path], steps: list[dict[str, Any]], error: type[Exception]
) -> None:
    async def check(hands: Hands, program: Program) -> None:
        with pytest.raises(error):
            await hands.do(steps)
        assert program.down() == []
        assert not program.buttons() & 0x1F00
        assert program.text == ""

    on(server, check)


def test_nothing_stays_pressed_after_a_cancel(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        holding = asyncio.create_task(
            hands.do([{"do": "button", "down": True}, {"do": "key", "key": "ctrl+w", "hold": 60}])
        )
        await program.until(3)
        holding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await holding
        assert program.down() == []
        assert not program.buttons() & 0x1F00

    on(server, check)


def test_everything_is_let_go_on_request(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        await hands.do([{"do": "button", "down": True}])
        assert program.buttons() & 0x100
        await hands.do([{"do": "let_go"}])
        assert not program.buttons() & 0x1F00

    on(server, check)


def test_a_new_process_lets_go_of_what_a_dead_one_held(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        hands.keyboard.press((0xFFE3, 0xFFE1))
        await hands.begin([{"do": "button", "down": True}])
        await program.until(3)
        assert program.down()
        other = Hands.open(server[0])
        assert program.down() == []
        assert not program.buttons() & 0x1F00
        other.close()

    on(server, check)


def test_keys_lent_by_a_process_before_are_known_as_lent(server: tuple[str, Path]) -> None:
    async def check(hands: Hands, program: Program) -> None:
        room = hands.keyboard.room
        await hands.do([{"do": "type", "text": "漢字"}])
        await program.until(4)
        again = Keyboard(program._x)
        assert again.room == room
        assert again.lacks([0x1000000 + ord("漢")]) == []
        assert again.foreign(0x1000000 + ord("漢"))

    on(server, check)
