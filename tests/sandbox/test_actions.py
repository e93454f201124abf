"""Every action of Anthropic's computer tools becomes the right steps, and wrong ones say what is right."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.actions import KNOWN, ActionRefused, plan, zoomed
from sandbox.guest.rects import Rect
from sandbox.scaling import Scaling

FULL = Scaling(1280, 800)
LARGE = Scaling(2560, 1600)

FIRST = "key type mouse_move left_click left_click_drag right_click middle_click double_click screenshot"
SECOND = "left_mouse_down left_mouse_up scroll hold_key wait triple_click"
VERSIONS = {
    "20241022": f"{FIRST} cursor_position",
    "20250124": f"{FIRST} cursor_position {SECOND}",
    "20251124": f"{FIRST} cursor_position {SECOND} zoom",
    "20260801": f"{FIRST} cursor_position {SECOND} zoom",
}


def steps(action: dict[str, Any], scaling: Scaling = FULL, pointer: tuple[int, int] = (7, 8)) -> list[Any]:
    return [step for step in plan(action, scaling, pointer).steps if step["do"] != "glance"]


def button(name: str, down: bool) -> dict[str, Any]:
    return {"do": "button", "button": name, "down": down}


def move(x: int, y: int) -> dict[str, Any]:
    return {"do": "move", "x": x, "y": y}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_action_of_the_version_is_known(version: str) -> None:
    assert set(VERSIONS[version].split()) <= set(KNOWN)


@pytest.mark.parametrize(
    ("name", "pressed", "times"),
    [
        ("left_click", "left", 1),
        ("right_click", "right", 1),
        ("middle_click", "middle", 1),
        ("double_click", "left", 2),
        ("triple_click", "left", 3),
    ],
)
def test_clicks(name: str, pressed: str, times: int) -> None:
    found = steps({"action": name, "coordinate": [30, 40]})
    assert found == [move(30, 40), *[button(pressed, True), button(pressed, False)] * times]


def test_a_click_without_a_place_is_where_the_pointer_is() -> None:
    assert steps({"action": "left_click"})[0] == move(7, 8)


def test_places_are_scaled_to_the_screen() -> None:
    assert steps({"action": "mouse_move", "coordinate": [100, 50]}, LARGE) == [move(201, 101)]


def test_keys_are_held_around_a_click_and_a_scroll() -> None:
    held, released = {"do": "press", "key": "ctrl+shift"}, {"do": "release"}
    found = steps({"action": "left_click", "coordinate": [3, 4], "text": "ctrl+shift"})
    assert found == [move(3, 4), held, button("left", True), button("left", False), released]
    found = steps({"action": "scroll", "scroll_direction": "up", "scroll_amount": 2, "text": "ctrl+shift"})
    assert found == [move(7, 8), held, {"do": "scroll", "dy": -2}, released]


@pytest.mark.parametrize(
    ("direction", "step"),
    [("up", {"dy": -3}), ("down", {"dy": 3}), ("left", {"dx": -3}), ("right", {"dx": 3})],
)
def test_scroll(direction: str, step: dict[str, int]) -> None:
    action = {"action": "scroll", "scroll_direction": direction, "scroll_amount": 3, "coordinate": [5, 6]}
    assert steps(action) == [move(5, 6), {"do": "scroll", **step}]


def test_a_drag_glides_from_its_start_or_from_the_pointer() -> None:
    drag = {"action": "left_click_drag", "coordinate": [90, 95]}
    gliding = [button("left", True), move(90, 95) | {"glide": True}, button("left", False)]
    assert steps(drag | {"start_coordinate": [10, 15]}) == [move(10, 15), *gliding]
    assert steps(drag) == [move(7, 8), *gliding]


def test_the_button_alone() -> None:
    assert steps({"action": "left_mouse_down"}) == [button("left", True)]
    assert steps({"action": "left_mouse_up", "coordinate": [3, 4]}) == [move(3, 4), button("left", False)]


def test_keys_text_and_time() -> None:
    assert steps({"action": "key", "text": "ctrl+s"}) == [{"do": "key", "key": "ctrl+s"}]
    assert len(steps({"action": "key", "text": "Down", "repeat": 4})) == 4
    assert steps({"action": "hold_key", "text": "w", "duration": 1.5}) == [
        {"do": "key", "key": "w", "hold": 1.5}
    ]
    assert steps({"action": "type", "text": "né\n"}) == [{"do": "type", "text": "né\n"}]
    assert steps({"action": "wait", "duration": 2}) == [{"do": "wait", "seconds": 2.0}]


def test_a_secret_is_in_the_steps_alone() -> None:
    found = plan({"action": "type", "text": "hunter2", "secret": True}, FULL, (0, 0))
    assert found.steps[0]["text"] == "hunter2"
    assert "hunter2" not in found.summary + found.what


def test_zoom_is_a_part_of_the_screen() -> None:
    assert zoomed({"region": [0, 0, 640, 400]}, LARGE) == Rect(0, 0, 1280, 800)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ({"action": "left_clik"}, "The actions are: screenshot, zoom"),
        ({}, "There is no action ''"),
        ({"action": "left_click", "coordinate": [1280, 0]}, "x goes from 0 to 1279, y from 0 to 799"),
        ({"action": "left_click", "coordinate": [0, -1]}, "x goes from 0 to 1279"),
        ({"action": "left_click", "coordinate": [1]}, "two numbers"),
        ({"action": "left_click", "coordinate": "3,4"}, "two numbers"),
        ({"action": "left_click", "coordinate": [True, 2]}, "two numbers"),
        ({"action": "mouse_move"}, "needs coordinate"),
        ({"action": "left_click_drag"}, "where the drag ends"),
        ({"action": "type"}, "needs text"),
        ({"action": "type", "text": "x" * 20_001}, "at most 20000"),
        ({"action": "key", "text": "a", "repeat": 101}, "from 1 to 100"),
        ({"action": "hold_key", "text": "a"}, "duration has to be a number"),
        ({"action": "wait", "duration": 1000}, "from 0 to 100"),
        ({"action": "scroll"}, "up, down, left or right"),
        ({"action": "scroll", "scroll_direction": "up", "scroll_amount": -1}, "from 0 to 100"),
    ],
)
def test_wrong_actions_say_what_is_right(action: dict[str, Any], said: str) -> None:
    with pytest.raises(ActionRefused) as refused:
        plan(action, FULL, (0, 0))
    assert said in str(refused.value)


@pytest.mark.parametrize("region", [None, [0, 0, 10], [10, 10, 10, 20], [0, 0, 1281, 10], [-1, 0, 5, 5]])
def test_wrong_parts_are_refused(region: object) -> None:
    with pytest.raises(ActionRefused):
        zoomed({"region": region}, FULL)
