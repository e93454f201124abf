"""The desktop's tool: which arguments it takes, whom it is told to, and what its results hold."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runtime.assemble import TOOLS
from runtime.messages import Image, ToolMessage
from runtime.profiles import Profile
from runtime.tools.computer import ComputerTool
from runtime.tools.registry import ToolRegistry
from tests.runtime.computer_stage import staged
from tests.runtime.scripted_house import call
from tests.runtime.tools.call import call as call_tool
from tests.runtime.tools.call import context


def _names(images: bool | None) -> set[str]:
    allowed = ("computer", "computer_elements", "echo")
    profile = Profile(name="p", provider="scripted", model="m", allowed_tools=allowed)
    return {spec.name for spec in ToolRegistry(tool() for tool in TOOLS).specs(profile, images=images)}


def test_each_model_is_told_of_the_tool_that_suits_it() -> None:
    assert _names(images=True) == {"computer", "echo"}
    assert _names(images=False) == {"computer_elements", "echo"}
    assert _names(images=None) == {"computer", "computer_elements", "echo"}


def test_the_definition_is_medium_and_kept_in_the_sandbox() -> None:
    definition = ComputerTool().definition()
    assert (definition.risk, definition.sandboxed, definition.undoable) == ("medium", True, False)
    assert definition.spec().repeats


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "left_click", "coordinate": [1, 2], "text": "shift"},
        {"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [3, 4]},
        {"action": "scroll", "coordinate": [1, 2], "scroll_direction": "down", "scroll_amount": 3},
        {"action": "key", "text": "ctrl+s", "repeat": 2},
        {"action": "hold_key", "text": "a", "duration": 0.5},
        {"action": "zoom", "region": [0, 0, 100, 100]},
    ],
)
def test_the_actions_of_all_versions_are_taken(arguments: dict[str, Any]) -> None:
    taken = ComputerTool().definition().arguments.model_validate(arguments)
    assert taken.model_dump(exclude_none=True) == arguments


def test_without_a_computer_it_says_so(tmp_path: Path) -> None:
    result = call_tool(ComputerTool(), context(tmp_path), action="screenshot")
    assert "without a computer" in getattr(result, "message", "")


def test_a_result_has_words_and_a_picture(fresh_home: Path) -> None:
    async def acts() -> None:
        steps = [
            call("computer", action="screenshot"),
            call("computer", action="cursor_position"),
            {"say": "x"},
        ]
        async with staged(fresh_home, steps) as stage:
            await stage.session.submit("look")
            await stage.done()
            shown = [m for m in stage.session._history.transcript.messages if isinstance(m, ToolMessage)]
            assert [sum(isinstance(part, Image) for part in message.parts) for message in shown] == [1, 0]
            first = stage.watch.of("tool_call_complete")[0]
            assert set(first.details) >= {"verdict", "seconds"}

    asyncio.run(acts())


def test_wrong_arguments_are_explained(fresh_home: Path) -> None:
    async def acts() -> None:
        steps = [
            call("computer", action="fly"),
            {"wait": 0},
            call("computer", action="left_click", x=3),
            {"say": "x"},
        ]
        async with staged(fresh_home, steps) as stage:
            await stage.session.submit("look")
            await stage.watch.until("done")
            assert [failed.kind for failed in stage.watch.of("tool_call_failed")] == ["invalid", "invalid"]
            assert stage.machine.starts == 0

    asyncio.run(acts())
