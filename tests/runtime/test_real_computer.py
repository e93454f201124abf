"""A scripted model on a real machine: programs driven, files saved, nothing left behind."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from runtime.computer_audit import FILE
from runtime.computer_events import ActionSeen
from runtime.messages import Text
from runtime.tools.bash import Bash, BashArguments
from runtime.tools.computer_elements import ComputerElements, ElementArguments
from runtime.tools.tool import Ok, ToolContext
from sandbox.audit import verify
from tests.runtime.computer_stage import TOOLS, Seen
from tests.runtime.scripted_house import Watch, call, talking
from tests.sandbox.conftest import config, engine, image, machine

__all__ = ["config", "engine", "image", "machine"]

TEXT = "Zażółć gęślą jaźń\n漢字とかな\nna koniec 🙂"
SAY: dict[str, Any] = {"say": "Done."}


def _computer(action: str, **arguments: Any) -> dict[str, Any]:
    return call("computer", action=action, **arguments)


PATIENCE = 90.0
NEXT: dict[str, Any] = {"wait": 0}
EDITOR = [79, 783]
"""Where the panel starts the editor."""

FORM = (
    "<!doctype html><title>Form</title>"
    "<form onsubmit=\"document.title='Sent: ' + who.value; return false\">"
    '<label>Name <input name="who" id="who"></label> <button>Send</button></form>'
)


def _completed(watch: Watch) -> list[str]:
    return [done.text for done in watch.of("tool_call_complete")]


def _texts(watch: Watch) -> list[str]:
    assert not watch.of("tool_call_failed")
    return _completed(watch)


def test_the_editor_is_opened_written_in_and_saved(fresh_home: Path, machine: str) -> None:
    steps = [
        _computer("left_click", coordinate=EDITOR),
        _computer("wait", duration=1.0),
        _computer("type", text=TEXT),
        _computer("key", text="ctrl+s"),
        _computer("wait", duration=1.0),
        _computer("type", text="notes.txt"),
        _computer("wait", duration=0.5),
        _computer("key", text="Return"),
        _computer("wait", duration=1.0),
        NEXT,
        _computer("screenshot"),
        SAY,
    ]

    async def works() -> None:
        async with talking(fresh_home, steps, allowed_tools=TOOLS) as (runtime, session, watch):
            await session.use(autonomy="auto")
            seen = Seen(runtime.computer, PATIENCE)
            watch.patience = PATIENCE
            await session.submit("write")
            assert (await watch.until("done")).reason == "complete"
            await seen.until(lambda event: event.type == "wheel_changed" and event.holder == "nobody")
            assert len(_texts(watch)) == 10
            (proposal,) = runtime.computer.review.pending
            assert proposal.path == "notes.txt"
            await runtime.computer.review.apply()
            assert (runtime.workspace.root / "notes.txt").read_text("utf-8").rstrip("\n") == TEXT
            actions = [event.action for event in seen.events if isinstance(event, ActionSeen)]
            assert actions[0] == "left_click"
        verified = verify(fresh_home / "audit" / FILE)
        assert verified.ok, verified.reason
        assert verified.records == 10

    asyncio.run(works())


def test_a_form_is_sent_and_the_users_click_pauses(fresh_home: Path, machine: str) -> None:
    steps = [
        call("browser", action="open", url="file:///workspace/form.html"),
        call("browser", action="fill", target="Name", text="Ærøskøbing 島"),
        NEXT,
        call("browser", action="click", target="Send"),
        SAY,
    ]

    async def works() -> None:
        async with talking(fresh_home, steps, allowed_tools=TOOLS) as (runtime, session, watch):
            (runtime.workspace.root / "form.html").write_text(FORM, "utf-8")
            await session.use(autonomy="auto")
            seen = Seen(runtime.computer, PATIENCE)
            watch.patience = PATIENCE
            await session.submit("fill it in")
            await watch.until("tool_call_complete")
            await runtime.computer.pause()
            await runtime.computer.user_input([{"do": "move", "x": 600, "y": 600}])
            await runtime.computer.user_input(
                [{"do": "button", "button": "left", "down": down} for down in (True, False)]
            )
            assert runtime.computer.wheel.holder == "user"
            await watch.until(lambda body: body.type == "state_change" and body.new == "PAUSED")
            assert not watch.of("done")
            account = await runtime.computer.hand_back("Go on.")
            assert "clicked 1 time" in account
            assert (await watch.until("done")).reason == "complete"
            await seen.until(lambda event: event.type == "wheel_changed" and event.holder == "nobody")
            assert "Sent: Ærøskøbing 島" in watch.of("tool_call_complete")[-1].text

    asyncio.run(works())


def test_a_sum_by_element_numbers(fresh_home: Path, machine: str) -> None:
    """Without pictures: the calculator is opened and used by the numbers in its list."""

    async def works() -> None:
        async with talking(fresh_home, [SAY], allowed_tools=TOOLS) as (runtime, session, _watch):
            tool, computer = ComputerElements(), runtime.computer
            home = runtime.home.root
            context = ToolContext(session.id, "", "call", runtime.workspace, home, {}, print, computer)

            async def do(**arguments: Any) -> str:
                result = await tool.execute(ElementArguments.model_validate(arguments), context)
                assert isinstance(result, Ok), result
                return "".join(part.text for part in result.parts if isinstance(part, Text))

            await Bash().execute(BashArguments(command="galculator >/dev/null 2>&1 &"), context)
            listed = await do(action="list")
            for _ in range(20):
                if _number(listed, "7"):
                    break
                listed = await do(action="wait")
            for key in ("7", "*", "6", "="):
                assert _number(listed, key), listed
                listed = await do(action="click", element=_number(listed, key))
            assert re.search(r"\b42\b", listed), listed

    asyncio.run(works())


@pytest.mark.parametrize(("victim", "code"), [("container", "container_gone"), ("guest", "guest_gone")])
def test_killed_in_mid_action_it_goes_on(
    fresh_home: Path, machine: str, engine: Any, victim: str, code: str
) -> None:
    steps = [_computer("wait", duration=60.0), NEXT, _computer("screenshot"), SAY]

    def kill(client: Any) -> None:
        container = client.containers.get(machine)
        if victim == "container":
            container.kill()
        else:
            container.exec_run(["pkill", "-KILL", "-f", "sandbox.guest control"])

    async def works() -> None:
        async with talking(fresh_home, steps, allowed_tools=TOOLS) as (runtime, session, watch):
            await session.use(autonomy="auto")
            seen = Seen(runtime.computer, PATIENCE)
            watch.patience = PATIENCE
            await session.submit("wait")
            await seen.until(lambda event: event.type == "action_seen")
            await engine.call(kill)
            lost = await seen.until(
                lambda event: event.type == "state_changed" and event.state.phase == "lost"
            )
            assert lost.state.code == code
            assert (await watch.until("done")).reason == "complete"
            assert len(watch.of("tool_call_failed")) == 1
            assert len(_completed(watch)) == 1
            assert runtime.computer.state.phase == "running"

    asyncio.run(works())


def test_a_new_host_is_asked_for_in_the_chat(fresh_home: Path, machine: str) -> None:
    steps = [call("browser", action="open", url="http://new-host.example/"), SAY]

    async def works() -> None:
        async with talking(fresh_home, steps, allowed_tools=TOOLS) as (runtime, session, watch):
            await session.use(autonomy="auto")
            watch.patience = PATIENCE
            await session.submit("look it up")
            asked = await watch.until("approval_required")
            assert (asked.name, asked.arguments) == ("reach_host", {"host": "new-host.example", "port": 80})
            await session.answer(asked.id, "deny")
            await watch.until("done")
            assert "may not reach new-host.example" in _completed(watch)[0]
            assert not runtime.network.summary()
            assert {entry.refused for entry in runtime.network.entries()} == {"egress_refused"}

    asyncio.run(works())


def _number(listed: str, name: str) -> int:
    """The number of the button called `name`, 0 for none."""
    found = re.search(rf'^(\d+)\. (?:push |toggle )?button "{re.escape(name)}"', listed, re.MULTILINE)
    return int(found.group(1)) if found else 0
