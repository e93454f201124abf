"""The computer's life and who works with it, over a machine without an engine."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runtime.agent_computer import AgentComputer, Place
from runtime.computer_events import ActionSeen, WheelChanged
from runtime.errors import OrionError
from runtime.events import ToolComplete, ToolFailed
from runtime.messages import Image, ToolMessage, UserMessage
from sandbox.errors import SandboxError
from tests.runtime.computer_stage import TOOLS, Desk, Stage, StageMachine, makers, staged
from tests.runtime.scripted_house import Watch, call, talking

CLICK = call("computer", action="left_click", coordinate=[10, 20])
SAY: dict[str, Any] = {"say": "Done."}


def _failed(stage: Stage) -> list[ToolFailed]:
    return stage.watch.of("tool_call_failed")


async def _actions(stage: Stage, count: int) -> None:
    """Until the guest has been asked for `count` actions."""
    async with asyncio.timeout(20):
        while len(stage.desk.acts) < count:
            stage.desk.begun.clear()
            await stage.desk.begun.wait()


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
            assert not _failed(stage)
            assert (stage.desk.folder / "new.txt").read_text() == "from the host"

    asyncio.run(acts())


def test_what_the_agent_wrote_waits_for_review(fresh_home: Path) -> None:
    async def acts() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            stage.desk.held.clear()
            await stage.session.submit("write")
            await _actions(stage, 1)
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
            refused, stranded = _failed(stage)
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


@pytest.mark.parametrize("code", ["engine_gone", "container_gone", "guest_gone"])
def test_a_lost_machine_fails_the_action_once_and_starts_anew(fresh_home: Path, code: str) -> None:
    async def loses() -> None:
        async with staged(fresh_home, [CLICK, {"wait": 0}, CLICK, SAY]) as stage:
            stage.desk.held.clear()
            await stage.session.submit("click")
            await _actions(stage, 1)
            stage.machine.lose(code)
            await stage.seen.until(
                lambda event: event.type == "state_changed" and event.state.phase == "lost"
            )
            stage.desk.held.set()
            await stage.done()
            assert stage.seen.phases == ["starting", "running", "lost", "starting", "running"]
            assert len(_failed(stage)) == 1
            assert stage.machine.starts == 2
            assert len(stage.watch.of("tool_call_complete")) == 1

    asyncio.run(loses())


def test_a_missing_image_is_said_and_not_built(fresh_home: Path) -> None:
    async def lacks() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            stage.machine.failing = SandboxError("image_missing", image="orion-sandbox:1")
            await stage.session.submit("click")
            await stage.done()
            assert stage.computer.state.remedies == ("build",)
            (failed,) = _failed(stage)
            assert "image" in failed.text
            await stage.computer.build()
            await stage.computer.start()
            assert stage.seen.phases == ["starting", "no_image", "building", "off", "starting", "running"]

    asyncio.run(lacks())


def test_no_engine_is_unavailable_with_its_code(fresh_home: Path) -> None:
    async def lacks() -> None:
        async with talking(fresh_home, [SAY]) as (runtime, _session, _watch):
            broken = makers(StageMachine(Desk(fresh_home)), engine=SandboxError("engine_missing"))
            computer = AgentComputer(runtime, broken)
            with pytest.raises(OrionError, match="engine_missing"):
                await computer.start()
            assert (computer.state.phase, computer.state.code) == ("unavailable", "engine_missing")
            assert computer.state.remedies == ("retry",)
            await computer.close()

    asyncio.run(lacks())


def test_the_environment_turns_it_off(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPUTER_USE_SANDBOX", "false")

    async def off() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            await stage.session.submit("click")
            await stage.watch.until("done")
            assert (stage.computer.state.phase, stage.computer.state.code) == ("off", "sandbox_off")
            assert stage.computer.state.remedies == ()
            assert stage.machine.starts == 0
            assert "COMPUTER_USE_SANDBOX" in _failed(stage)[0].text

    asyncio.run(off())


def test_names_from_the_environment(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPUTER_USE_CONTAINER", "my-box")
    monkeypatch.setenv("COMPUTER_USE_IMAGE", "my-image:1")

    async def named() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            await stage.computer.start()
            config = stage.machine.config
            assert config is not None
            assert (config.name, config.image, config.volume) == ("my-box", "my-image:1", "my-box-workspace")

    asyncio.run(named())


def test_all_who_ask_wait_for_one_start(fresh_home: Path) -> None:
    async def waits() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            stage.machine.may_start.clear()
            waiting = [asyncio.create_task(stage.computer.start()) for _ in range(3)]
            await stage.machine.starting.wait()
            waiting[0].cancel()
            stage.machine.may_start.set()
            await asyncio.gather(*waiting[1:])
            assert waiting[0].cancelled()
            assert stage.machine.starts == 1
            assert stage.computer.state.phase == "running"

    asyncio.run(waits())


def test_stopping_while_it_starts(fresh_home: Path) -> None:
    async def stops() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            stage.machine.may_start.clear()
            waiting = asyncio.create_task(stage.computer.start())
            await stage.machine.starting.wait()
            await stage.computer.stop()
            assert stage.computer.state.phase == "off"
            await asyncio.wait([waiting])
            assert waiting.cancelled() or isinstance(waiting.exception(), OrionError)

    asyncio.run(stops())


def test_a_bug_in_the_start_ends_in_a_state(fresh_home: Path) -> None:
    async def breaks() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            stage.machine.broken = True
            with pytest.raises(AssertionError):
                await stage.computer.start()
            assert (stage.computer.state.phase, stage.computer.state.code) == (
                "unavailable",
                "computer_broken",
            )
            await stage.computer.start()
            assert stage.computer.state.phase == "running"

    asyncio.run(breaks())


def test_what_was_lost_is_removed_at_the_end(fresh_home: Path) -> None:
    async def loses() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            await stage.computer.start()
            stage.machine.lose("guest_gone")
            await stage.seen.until(
                lambda event: event.type == "state_changed" and event.state.phase == "lost"
            )
        assert stage.machine.stops == 1
        assert stage.computer.state.phase == "off"

    asyncio.run(loses())


def test_nobody_waits_for_the_image(fresh_home: Path) -> None:
    async def builds() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            stage.machine.may_build.clear()
            building = asyncio.create_task(stage.computer.build())
            await stage.seen.until(lambda event: event.type == "state_changed" and event.state.progress > 0)
            await stage.session.submit("click")
            await stage.done()
            assert "is being built" in _failed(stage)[0].text
            stage.machine.may_build.set()
            await building
            assert stage.computer.state.phase == "off"

    asyncio.run(builds())


def test_ports_are_opened_or_warned_of(fresh_home: Path) -> None:
    async def opens() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            stage.runtime.save_settings({"sandbox.ports": ["0:8888", "http"]})
            await stage.computer.start()
            assert (stage.computer.state.phase, stage.computer.state.code) == ("running", "port_unknown")
            assert stage.computer.state.fields == {"port": "http"}
            stage.runtime.save_settings({"sandbox.ports": ["0:8888"]})
            await stage.computer.restart()
            assert stage.computer.state.code == ""

    asyncio.run(opens())


def test_another_process_holds_it(fresh_home: Path) -> None:
    async def holds() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            await stage.computer.start()
            other = AgentComputer(stage.runtime, makers(StageMachine(stage.desk)))
            with pytest.raises(OrionError, match="computer_busy"):
                await other.start()
            await other.close()
            await stage.computer.stop()

    asyncio.run(holds())


def test_a_second_chat_is_told(fresh_home: Path) -> None:
    async def two() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            stage.desk.held.clear()
            await stage.session.submit("click")
            await _actions(stage, 1)
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


def test_the_users_hands_pause_the_agent_and_it_is_told(fresh_home: Path) -> None:
    async def takes() -> None:
        async with staged(fresh_home, [CLICK, {"wait": 0}, CLICK, SAY]) as stage:
            stage.desk.held.clear()
            await stage.session.submit("click")
            await _actions(stage, 1)
            await stage.computer.user_input([{"do": "button", "button": "left", "down": True}])
            await stage.computer.user_input([{"do": "type", "text": "pässwörd"}])
            assert stage.computer.wheel == WheelChanged("user", stage.session.id, paused=True)
            assert stage.desk.let_go == 1
            (failed,) = _failed(stage)
            assert failed.kind == "cancelled"
            await stage.watch.until(lambda body: body.type == "state_change" and body.new == "PAUSED")
            (stage.desk.folder / "theirs.txt").write_text("saved by hand")
            stage.desk.held.set()
            account = await stage.computer.hand_back("I logged in.")
            await stage.done()
            assert "clicked 1 time and typed 8 characters" in account
            assert "theirs.txt" in account
            assert "I logged in." in account
            notes = [m for m in stage.session._history.transcript.messages if isinstance(m, UserMessage)]
            assert any(account in m.text for m in notes)
            images = [part for m in notes for part in m.parts if isinstance(part, Image)]
            assert len(images) == 2
            assert "pässwörd" not in str(stage.session.rows())
            assert len(stage.watch.of("tool_call_complete")) == 1

    asyncio.run(takes())


def test_hands_on_an_idle_computer_pause_nobody(fresh_home: Path) -> None:
    async def uses() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            with pytest.raises(OrionError, match="computer_lost"):
                await stage.computer.user_input([{"do": "move", "x": 1, "y": 1}])
            await stage.computer.start()
            await stage.computer.user_input([{"do": "move", "x": 1, "y": 1}])
            assert stage.computer.wheel.holder == "nobody"
            assert await stage.computer.hand_back() == ""
            await stage.computer.paste_in("äöü")
            assert await stage.computer.copy_out() == "äöü"

    asyncio.run(uses())


def test_pause_step_and_resume(fresh_home: Path) -> None:
    async def steps() -> None:
        script = [CLICK, CLICK, CLICK, SAY]
        async with staged(fresh_home, script) as stage:
            stage.desk.held.clear()
            await stage.session.submit("click")
            await _actions(stage, 1)
            await stage.computer.pause()
            assert stage.computer.wheel.paused
            stage.desk.held.set()
            await stage.watch.until("tool_call_complete")
            await stage.watch.until(lambda body: body.type == "state_change" and body.new == "PAUSED")
            assert len(stage.desk.acts) == 1
            await stage.computer.step()
            await stage.watch.until("tool_call_complete", count=2)
            assert len(stage.desk.acts) == 2
            await stage.computer.resume()
            await stage.done()
            assert len(stage.desk.acts) == 3

    asyncio.run(steps())


def test_a_cancelled_turn_lets_the_wheel_go(fresh_home: Path) -> None:
    async def cancels() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            stage.desk.held.clear()
            await stage.session.submit("click")
            await _actions(stage, 1)
            await stage.computer.take_wheel()
            stage.session.cancel()
            assert (await stage.done()).reason == "cancelled"
            assert not stage.session.paused
            stage.desk.held.set()

    asyncio.run(cancels())


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


def test_bash_goes_on_while_the_user_has_the_wheel(fresh_home: Path) -> None:
    async def goes_on() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            stage.desk.held.clear()
            await stage.session.submit("click")
            await _actions(stage, 1)
            await stage.computer.take_wheel()

            async def answer(place: Place) -> int:
                del place
                return 7

            assert await stage.computer.run(stage.session.id, answer, yields=False) == 7
            with pytest.raises(OrionError, match="wheel_taken"):
                await stage.computer.run(stage.session.id, answer)
            stage.desk.held.set()
            await stage.computer.hand_back()
            await stage.done()

    asyncio.run(goes_on())


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


def test_it_sleeps_after_a_while_without_anyone(fresh_home: Path) -> None:
    async def sleeps() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            stage.runtime.save_settings({"sandbox.idle_minutes": 0.0005})
            stage.seen.stop()
            await stage.computer.start()
            async with asyncio.timeout(20):
                await stage.machine.stopped.wait()
            await stage.computer.close()
            assert stage.computer.state.phase == "off"
            assert stage.machine.stops == 1

    asyncio.run(sleeps())
