"""Turns end to end with a scripted model: real loop, tools, journal and workspace."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from runtime.messages import AssistantMessage, ToolMessage
from runtime.session import Session
from tests.runtime.scripted_house import Steps, Watch, call, talking

WRITE = call("write_file", path="notes/a.md", text="hello")


def test_an_answer_streams_and_ends_in_done(fresh_home: Path) -> None:
    async def main() -> Watch:
        async with talking(fresh_home, [{"think": "Hm."}, {"say": "Hello there."}]) as (_, session, watch):
            await session.submit("Hi")
            await session.idle()
            return watch

    watch = asyncio.run(main())
    assert watch.text == "Hello there."
    order = ["user_message", "thinking_start", "thinking_chunk", "thinking_complete", "response_chunk"]
    order += ["response_complete", "usage", "done"]
    positions = [watch.types.index(kind) for kind in order]
    assert positions == sorted(positions)
    assert watch.of("done")[0].reason == "complete"
    assert [change.new for change in watch.of("state_change")] == ["THINKING", "COMPILING", "IDLE"]
    assert all(json.dumps(event.as_dict()) for event in watch.events)


def test_a_tool_runs_and_its_result_reaches_the_model(fresh_home: Path) -> None:
    steps: Steps = [call("calculator", expression="6*7"), {"expect": "42"}, {"say": "It is 42."}]

    async def main() -> tuple[Watch, list[Any]]:
        async with talking(fresh_home, steps) as (_, session, watch):
            await session.submit("What is 6 times 7?")
            await session.idle()
            return watch, session.rows()

    watch, rows = asyncio.run(main())
    assert watch.text == "It is 42."
    assert "42" in watch.of("tool_call_complete")[0].text
    assert [row["kind"] for row in rows] == ["user", "assistant", "tool", "assistant"]
    assert rows[2]["status"] == "ok"


def test_calls_of_one_reply_run_together_and_all_are_answered(fresh_home: Path) -> None:
    steps: Steps = [call("echo", text="a"), call("echo", text="b"), call("nonsense"), {"say": "Done."}]

    async def main() -> tuple[Watch, Session]:
        async with talking(fresh_home, steps) as (_, session, watch):
            await session.submit("go")
            await session.idle()
            return watch, session

    watch, session = asyncio.run(main())
    assert len(watch.of("tool_call_complete")) == 2
    assert "calculator" in watch.of("tool_call_failed")[0].text
    assert watch.text == "Done."
    results = [message for message in session._transcript.messages if isinstance(message, ToolMessage)]
    assert len(results) == 3


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [({}, "text"), ({"text": 5, "tone": "loud"}, "tone"), ({"text": None}, "string")],
)
def test_wrong_arguments_are_a_result_the_model_can_correct(
    fresh_home: Path, arguments: dict[str, Any], hint: str
) -> None:
    steps: Steps = [call("echo", **arguments), {"expect": "Wrong arguments for echo"}, {"say": "Sorry."}]

    async def main() -> Watch:
        async with talking(fresh_home, steps) as (_, session, watch):
            await session.submit("go")
            await session.idle()
            return watch

    watch = asyncio.run(main())
    assert hint in watch.of("tool_call_failed")[0].text
    assert watch.text == "Sorry."


def test_cancel_mid_answer_keeps_what_came_and_goes_on_next_time(fresh_home: Path) -> None:
    slow = {"say": {"text": "one two three four five six", "delay": 0.01}}
    steps: Steps = [slow, {"wait": 3600}, {"expect": "again"}, {"say": "Second."}]

    async def main() -> None:
        async with talking(fresh_home, steps) as (_, session, watch):
            await session.submit("Hi")
            await watch.until("response_chunk")
            session.cancel()
            await session.idle()
            done = watch.of("done")[0]
            assert done.reason == "cancelled"
            row = session.rows()[1]
            assert (row["partial"], row["stop_reason"]) == (True, "cancelled")
            assert row["text"].startswith("one")
            await session.submit("again")
            await session.idle()
            assert watch.of("response_complete")[-1].text == "Second."

    asyncio.run(main())


def test_a_message_during_work_enters_before_the_next_model_call(fresh_home: Path) -> None:
    steps: Steps = [WRITE, {"expect": "hurry"}, {"say": "Hurrying."}]

    async def main() -> None:
        async with talking(fresh_home, steps) as (_, session, watch):
            await session.submit("write it")
            question = await watch.until("approval_required")
            await session.submit("hurry")
            assert watch.of("queued")[0].text == "hurry"
            await session.answer(question.id, "approve")
            await session.idle()
            assert watch.text == "Hurrying."
            assert watch.of("user_message")[1].steering
            assert len(watch.of("done")) == 1

    asyncio.run(main())


def test_a_message_that_comes_too_late_opens_the_next_turn(fresh_home: Path) -> None:
    steps: Steps = [{"say": {"text": "a b c d", "delay": 0.01}}, {"expect": "more"}, {"say": "More."}]

    async def main() -> None:
        async with talking(fresh_home, steps) as (_, session, watch):
            await session.submit("Hi")
            await watch.until("response_chunk")
            await session.submit("more")
            await session.idle()
            assert [done.reason for done in watch.of("done")] == ["complete", "complete"]
            assert watch.of("response_complete")[-1].text == "More."

    asyncio.run(main())


def test_pause_holds_the_next_step_and_resume_tells_the_model(fresh_home: Path) -> None:
    steps: Steps = [call("echo", text="x"), {"expect": "I moved the window"}, {"say": "Seen."}]

    async def main() -> None:
        async with talking(fresh_home, steps) as (_, session, watch):
            session.pause("wheel")
            await session.submit("go")
            await watch.until(lambda body: body.type == "state_change" and body.new == "PAUSED")
            assert "tool_call_start" not in watch.types
            session.resume()
            await watch.until("tool_call_start")
            session.pause("wheel")
            session.resume("I moved the window")
            await session.idle()
            assert watch.text == "Seen."

    asyncio.run(main())


def test_iterations_and_failures_are_limited(fresh_home: Path) -> None:
    endless: Steps = [call("echo", text="x")]

    async def main(**policy: Any) -> str:
        async with talking(fresh_home, endless, loop=True, policy=policy) as (_, session, watch):
            await session.submit("go")
            await session.idle()
            reason: str = watch.of("done")[0].reason
            return reason

    assert asyncio.run(main(max_iterations=3)) == "iterations"
    assert asyncio.run(main(token_budget=1)) == "budget"
    endless[0] = call("echo", wrong=1)
    assert asyncio.run(main(tool_failure_mode="stop")) == "stopped"


def test_an_error_of_the_provider_ends_the_turn_with_its_code_and_is_kept(fresh_home: Path) -> None:
    steps: Steps = [{"say": "Half"}, {"error": {"code": "worker_killed", "signal": 9}}, {"say": "Whole."}]
    steps = [{"error": {"code": "worker_killed", "signal": 9}}, {"say": "Whole."}]

    async def main() -> None:
        async with talking(fresh_home, steps) as (_, session, watch):
            await session.submit("Hi")
            await session.idle()
            assert watch.of("error")[0].code == "worker_killed"
            assert watch.of("done")[0].reason == "error"
            assert session.rows()[-1]["code"] == "worker_killed"
            await session.submit("Still there?")
            await session.idle()
            assert watch.of("done")[-1].reason == "error"

    asyncio.run(main())


def test_a_tool_with_a_bug_is_reported_and_the_turn_goes_on(fresh_home: Path) -> None:
    async def main() -> None:
        steps: Steps = [call("echo", text="x"), {"expect": "fault of the program"}, {"say": "Oh."}]
        async with talking(fresh_home, steps) as (runtime, session, watch):

            async def broken(arguments: object, context: object) -> None:
                raise RuntimeError("boom")

            tool: Any = runtime.registry.get("echo")
            tool.execute = broken
            await session.submit("go")
            await session.idle()
            assert watch.of("error")[0].code == "tool_bug"
            assert watch.of("tool_call_failed")[0].kind == "bug"
            assert watch.text == "Oh."

    asyncio.run(main())


def test_cancelling_a_running_tool_answers_at_once_and_is_recorded(fresh_home: Path) -> None:
    async def main() -> None:
        async with talking(fresh_home, [call("echo", text="x"), {"say": "Never."}]) as (
            runtime,
            session,
            watch,
        ):

            async def stuck(arguments: object, context: object) -> None:
                await asyncio.Event().wait()

            tool: Any = runtime.registry.get("echo")
            tool.execute = stuck
            await session.submit("go")
            await watch.until("tool_call_start")
            session.cancel()
            await session.idle()
            assert watch.of("tool_call_failed")[0].kind == "cancelled"
            assert watch.of("done")[0].reason == "cancelled"
            last = session._transcript.messages[-1]
            assert isinstance(last, ToolMessage)
            assert isinstance(session._transcript.messages[-2], AssistantMessage)

    asyncio.run(main())


def test_hooks_see_and_change_what_passes(fresh_home: Path) -> None:
    async def main() -> None:
        steps: Steps = [call("echo", text="x"), {"expect": "changed"}, {"say": "Ok."}]
        async with talking(fresh_home, steps) as (runtime, session, _watch):
            from runtime.tools.tool import ok

            seen: list[str] = []
            hooks = runtime.hooks
            hooks.before_turn.append(lambda name: seen.append("turn"))
            hooks.before_tool.append(lambda found: seen.append(found.name))
            hooks.after_tool.append(lambda found, result: ok("changed"))
            hooks.after_model.append(lambda message: seen.append(message.text))
            hooks.after_turn.append(lambda done: seen.append(done.reason))
            await session.submit("go")
            await session.idle()
            assert seen == ["turn", "", "echo", "Ok.", "complete"]

    asyncio.run(main())


@pytest.mark.parametrize(("computer_use", "calls"), [(False, 15), (True, 40)])
def test_a_profile_for_the_computer_bounds_its_many_steps_itself(
    fresh_home: Path, computer_use: bool, calls: int
) -> None:
    async def main() -> int:
        limits = {"computer_use": computer_use, "policy": {"max_iterations": 40}}
        async with talking(fresh_home, [call("echo", text="x")], loop=True, **limits) as (_, session, watch):
            await session.submit("go")
            return int((await watch.until("done")).iterations)

    assert asyncio.run(main()) == calls
