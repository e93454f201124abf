"""The browser's tool: what it refuses by itself, and what it asks of the guest."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runtime.tools.browser import LONGEST, BrowserTool
from runtime.tools.tool import Failure
from tests.runtime.computer_stage import staged
from tests.runtime.scripted_house import call
from tests.runtime.tools.call import call as call_tool
from tests.runtime.tools.call import context


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "open", "url": "file:///etc/passwd"}, "has to begin with"),
        ({"action": "open", "url": "javascript:alert(1)"}, "has to begin with"),
        ({"action": "click"}, "which element"),
        ({"action": "fill", "text": "x"}, "which element"),
        ({"action": "press"}, "which key"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, arguments: dict[str, Any], said: str) -> None:
    result = call_tool(BrowserTool(), context(tmp_path), **arguments)
    assert isinstance(result, Failure)
    assert result.kind == "invalid"
    assert said in result.message


def test_the_page_comes_back_and_is_shown_as_it_comes(fresh_home: Path) -> None:
    async def browses() -> None:
        steps = [
            call("browser", action="open", url="https://a.test"),
            call("browser", action="fill", element=2, text="Łódź"),
            {"say": "x"},
        ]
        async with staged(fresh_home, steps) as stage:
            stage.desk.page = "Page: A"
            await stage.session.submit("browse")
            await stage.done()
            assert [done.text for done in stage.watch.of("tool_call_complete")] == ["Page: A", "Page: A"]
            assert stage.watch.of("tool_call_chunk")[0].text == "Page: A"
            opened, filled = stage.desk.acts
            assert (opened["do"], opened["url"]) == ("open", "https://a.test")
            assert opened["timeout"] > filled["timeout"]
            assert (filled["element"], filled["text"]) == (2, "Łódź")

    asyncio.run(browses())


def test_a_page_without_end_is_cut(fresh_home: Path) -> None:
    async def browses() -> None:
        async with staged(fresh_home, [call("browser", action="read"), {"say": "x"}]) as stage:
            stage.desk.page = "x" * 1_000_000
            await stage.session.submit("browse")
            await stage.done()
            (done,) = stage.watch.of("tool_call_complete")
            assert len(done.text) == LONGEST

    asyncio.run(browses())
