"""The desktop by numbers: what each action asks of the computer, and what is refused before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runtime.tools.computer_elements import ComputerElements, ElementArguments, _action
from runtime.tools.tool import Failure
from tests.runtime.tools.call import call, context


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"action": "list"}, {"action": "elements"}),
        ({"action": "click", "element": 3}, {"action": "click_element", "number": 3}),
        ({"action": "double_click", "element": 3}, {"action": "click_element", "number": 3, "double": True}),
        (
            {"action": "type", "element": 2, "text": "Łódź"},
            {"action": "type_into", "number": 2, "text": "Łódź"},
        ),
        ({"action": "type", "text": "Łódź"}, {"action": "type", "text": "Łódź"}),
        ({"action": "key", "text": "ctrl+s"}, {"action": "key", "text": "ctrl+s"}),
        (
            {"action": "scroll", "direction": "up"},
            {"action": "scroll", "scroll_direction": "up", "scroll_amount": 5},
        ),
        ({"action": "wait"}, {"action": "wait", "duration": 1.0}),
    ],
)
def test_each_action_becomes_one_of_the_computer(given: dict[str, Any], asked: dict[str, Any]) -> None:
    assert _action(ElementArguments.model_validate(given)) == asked


@pytest.mark.parametrize("action", ["click", "double_click"])
def test_a_click_needs_a_number(tmp_path: Path, action: str) -> None:
    result = call(ComputerElements(), context(tmp_path), action=action)
    assert isinstance(result, Failure)
    assert (result.kind, "number" in result.message) == ("invalid", True)
