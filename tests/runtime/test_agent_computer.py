"""Who works with the computer, and what comes of it, over a machine without an engine."""

from __future__ import annotations

import asyncio
from pathlib import Path

from runtime.computer_events import ActionSeen
from runtime.events import ToolComplete
from runtime.messages import Image, ToolMessage
from tests.runtime.computer_stage import (
    CLICK,
    SAY,
    TOOLS,
    acted,
    failures,
    staged,
)
from tests.runtime.scripted_house import Watch, call


def test_an_action_starts_the_computer_and_shows_the_screen(fresh_home: Path) -> None:
    async def acts() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            (stage.runtime.workspace.root / "note.txt").write_text("mine")
            await stage.session.submit("click")
            assert (await stage.done()).reason == "complete"
            assert stage.seen.phases == ["starting", "running"]
            (done,) = stage.watch.of("tool_call_complete")
            assert isinstance(done, ToolComplete)
            assert (stage.desk.folder / "note.txt").read_text() == "mine"
            assert len(stage.desk.acts) == 1
            seen = [event for event in stage.seen.events if isinstance(event, ActionSeen)]
            assert [event.phase for event in seen] == ["begun", "ended"]
            assert {event.session for event in seen} == {stage.session.id}
            shown = [m for m in stage.session._history.transcript.messages if isinstance(m, ToolMessage)]
            assert any(isinstance(part, Image) for part in shown[0].parts)
        assert stage.machine.stops == 1
        assert stage.computer.state.phase == "off"

    asyncio.run(acts())


def test_a_file_written_on_the_host_is_there_for_the_next_action(fresh_home: Path) -> None:
    write = call("write_file", path="new.txt", text="from the host")
    steps = [CLICK, {"wait": 0}, write, {"wait": 0}, CLICK, SAY]

    async def acts() -> None:
        async with staged(fresh_home, steps, allowed_tools=[*TOOLS, "write_file"]) as stage:
            await stage.session.submit("write, then click")
            await stage.done()
            assert not failures(stage)
            assert (stage.desk.folder / "new.txt").read_text() == "from the host"

    asyncio.run(acts())


def test_what_the_agent_wrote_waits_for_review(fresh_home: Path) -> None:
    async def acts() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            stage.desk.held.clear()
            await stage.session.submit("write")
            await acted(stage, 1)
            (stage.desk.folder / "made.txt").write_text("by the agent")
            stage.desk.held.set()
            await stage.done()
            assert [proposal.path for proposal in stage.computer.review.pending] == ["made.txt"]
            assert not (stage.runtime.workspace.root / "made.txt").exists()

    asyncio.run(acts())


def test_calls_of_one_reply_run_in_order_and_stop_at_a_failure(fresh_home: Path) -> None:
    steps = [
        call("browser", action="open", url="https://one.test"),
        call("browser", action="open", url="https://refuse.test"),
        call("browser", action="open", url="https://three.test"),
        SAY,
    ]

    async def acts() -> None:
        async with staged(fresh_home, steps) as stage:
            await stage.session.submit("browse")
            await stage.done()
            assert [act["url"] for act in stage.desk.acts] == ["https://one.test", "https://refuse.test"]
            refused, stranded = failures(stage)
            assert refused.text == "It could not be opened."
            assert "was not run" in stranded.text

    asyncio.run(acts())


def test_the_same_action_again_is_no_circle(fresh_home: Path) -> None:
    async def acts() -> None:
        async with staged(fresh_home, [CLICK, {"wait": 0}, CLICK, {"wait": 0}, CLICK, SAY]) as stage:
            await stage.session.submit("click thrice")
            assert (await stage.done()).reason == "complete"
            assert len(stage.desk.acts) == 3

    asyncio.run(acts())


def test_a_second_chat_is_told(fresh_home: Path) -> None:
    async def two() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            stage.desk.held.clear()
            await stage.session.submit("click")
            await acted(stage, 1)
            other = await stage.runtime.open(profile="test")
            await other.use(autonomy="auto")
            watch = Watch(other)
            await other.submit("click too")
            await asyncio.sleep(0)
            stage.desk.held.set()
            await stage.watch.until("tool_call_complete")
            failed = await watch.until("tool_call_failed")
            assert "in use by the chat" in failed.text
            await watch.until("done")
            await stage.done()

    asyncio.run(two())


def test_semi_asks_once_for_everything_on_it(fresh_home: Path) -> None:
    script = [CLICK, CLICK, {"wait": 0}, call("browser", action="read"), SAY]

    async def asks() -> None:
        async with staged(fresh_home, script, autonomy="semi") as stage:
            await stage.session.submit("click")
            asked = await stage.watch.until("approval_required")
            assert next(iter(asked.rules)) == "session"
            assert "own computer" in asked.rules["session"]
            await stage.session.answer(asked.id, "approve", trust="session")
            await stage.done()
            assert len(stage.watch.of("approval_required")) == 1
            assert len(stage.watch.of("tool_call_complete")) == 3

    asyncio.run(asks())


def test_the_machine_for_code_lives_as_long_as_the_turn(fresh_home: Path) -> None:
    steps = [call("run_code", language="python", code="print(1)"), SAY]

    async def runs() -> None:
        async with staged(fresh_home, steps, allowed_tools=["run_code"]) as stage:
            await stage.session.submit("run")
            await stage.done()
            async with asyncio.timeout(20):
                await stage.code.stopped.wait()
            assert (stage.code.starts, stage.code.stops) == (1, 1)
            assert stage.code.config is not None
            assert not stage.code.config.desktop
            assert stage.computer.state.phase == "running"

    asyncio.run(runs())
