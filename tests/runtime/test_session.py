"""Turns end to end with a scripted model: real loop, tools, journal, policy and workspace."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from runtime.assemble import assemble
from runtime.errors import OrionError
from runtime.messages import AssistantMessage, ToolMessage, UserMessage
from runtime.session import Session
from tests.runtime.scripted_house import Steps, Watch, call, talking, write_profile


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


WRITE = call("write_file", path="notes/a.md", text="hello")


def test_a_write_waits_for_approval_then_happens_and_can_be_undone(fresh_home: Path) -> None:
    async def main() -> None:
        async with talking(fresh_home, [WRITE, {"say": "Written."}]) as (runtime, session, watch):
            target = runtime.home.workspace / "notes" / "a.md"
            await session.submit("write it")
            question = await watch.until("approval_required")
            assert session.state == "PAUSED"
            assert not target.exists()
            assert "hello" in question.preview
            await session.answer(question.id, "approve", trust="once")
            await session.idle()
            assert target.read_text() == "hello"
            change = watch.of("tool_call_complete")[0].details["change"]
            assert await session.undo(change) == ["notes/a.md"]
            assert not target.exists()
            assert session.rows()[-1]["code"] == "change_undone"
            assert next(row for row in session.rows() if row["kind"] == "tool")["details"]["undone"]

    asyncio.run(main())


def test_a_refused_write_does_not_happen_and_the_model_is_told(fresh_home: Path) -> None:
    async def main() -> None:
        steps: Steps = [WRITE, {"expect": "refused"}, {"say": "As you wish."}]
        async with talking(fresh_home, steps) as (runtime, session, watch):
            await session.submit("write it")
            question = await watch.until("approval_required")
            await session.answer(question.id, "deny", note="not there")
            await session.idle()
            assert not (runtime.home.workspace / "notes" / "a.md").exists()
            assert watch.of("tool_call_failed")[0].kind == "denied"
            assert watch.text == "As you wish."
            with pytest.raises(OrionError, match="approval_gone"):
                await session.answer(question.id, "approve")

    asyncio.run(main())


def test_an_edited_call_runs_as_edited_and_the_model_is_told(fresh_home: Path) -> None:
    async def main() -> None:
        steps: Steps = [WRITE, {"expect": "changed the arguments"}, {"say": "Fine."}]
        async with talking(fresh_home, steps) as (runtime, session, watch):
            await session.submit("write it")
            question = await watch.until("approval_required")
            await session.answer(question.id, "edit", arguments={"path": "notes/b.md", "text": "other"})
            await session.idle()
            assert (runtime.home.workspace / "notes" / "b.md").read_text() == "other"
            assert not (runtime.home.workspace / "notes" / "a.md").exists()
            assert watch.text == "Fine."

    asyncio.run(main())


def test_trust_for_the_session_is_asked_once_and_can_be_revoked(fresh_home: Path) -> None:
    second = call("write_file", path="code/c.py", text="1")
    again = {"expect": "again"}
    steps: Steps = [WRITE, {"say": "One."}, again, second, {"say": "Two."}, again, second, {"say": "Three."}]

    async def main() -> None:
        async with talking(fresh_home, steps) as (_, session, watch):
            await session.submit("write it")
            question = await watch.until("approval_required")
            assert next(iter(question.rules)) == "session"
            await session.answer(question.id, "approve", trust="session")
            await session.idle()
            await session.submit("again")
            await session.idle()
            assert len(watch.of("approval_required")) == 1
            assert watch.of("response_complete")[-1].text == "Two."
            (rule,) = session.rules()
            session.revoke(rule["id"])
            await session.submit("again")
            question = await watch.until("approval_required", count=2)
            await session.answer(question.id, "deny")
            await session.idle()

    asyncio.run(main())


def test_stasis_and_allowlist_refuse_with_a_boundary(fresh_home: Path) -> None:
    steps: Steps = [WRITE, call("echo", text="x"), {"say": "Well."}]

    async def main() -> Watch:
        changes = {"policy": {"stasis_mode": True}, "allowed_tools": ["write_file", "read_file"]}
        async with talking(fresh_home, steps, **changes) as (runtime, session, watch):
            await session.submit("go")
            await session.idle()
            assert not (runtime.home.workspace / "notes" / "a.md").exists()
            return watch

    watch = asyncio.run(main())
    assert [boundary.rule for boundary in watch.of("boundary")] == ["stasis", "allowlist"]


def test_nobody_listening_means_nothing_is_approved(fresh_home: Path) -> None:
    async def main() -> None:
        async with talking(fresh_home, [WRITE, {"say": "Well."}]) as (runtime, session, watch):
            watch.stop()
            await session.submit("go")
            await session.idle()
            assert not (runtime.home.workspace / "notes" / "a.md").exists()
            assert session.rows()[2]["status"] == "denied"

    asyncio.run(main())


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


def test_a_session_is_found_again_with_everything_in_it(fresh_home: Path) -> None:
    steps: Steps = [WRITE, {"say": "Written."}, {"expect": "and now"}, {"say": "Still here."}]

    async def main() -> None:
        async with talking(fresh_home, steps) as (_, session, watch):
            await session.submit("write it \ud800 \x00 שלום")
            await session.answer((await watch.until("approval_required")).id, "approve")
            await session.idle()
            before, identifier = session.rows(), session.id
        async with assemble(fresh_home) as runtime:
            again = await runtime.open(identifier)
            assert again.rows() == before
            assert again.profile == "test"
            watch = Watch(again)
            await again.submit("and now")
            await again.idle()
            assert watch.text == "Still here."
            assert runtime.sessions.list()[0]["title"].startswith("write it")

    asyncio.run(main())


def test_a_pending_approval_survives_closing_and_can_be_given_later(fresh_home: Path) -> None:
    async def main() -> None:
        async with talking(fresh_home, [WRITE, {"say": "Written."}]) as (runtime, session, watch):
            await session.submit("write it")
            await watch.until("approval_required")
            identifier = session.id
        async with assemble(fresh_home) as runtime:
            again = await runtime.open(identifier)
            assert again.interrupted
            assert again.rows()[2]["status"] == "waiting"
            watch = Watch(again)
            await again.continue_()
            question = await watch.until("approval_required")
            await again.answer(question.id, "approve")
            await again.idle()
            assert (runtime.home.workspace / "notes" / "a.md").read_text() == "hello"
            assert watch.text == "Written."

    asyncio.run(main())


def crashed(home: Path, session: str, last: str) -> None:
    """Cut the journal after its last record of type `last`, as a kill at that moment would."""
    path = home / "sessions" / f"{session}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    keep = max(number for number, line in enumerate(lines) if json.loads(line)["type"] == last)
    path.write_bytes(b"".join(lines[: keep + 1]))


def test_after_a_crash_a_started_call_is_outcome_unknown_and_never_run_again(fresh_home: Path) -> None:
    steps: Steps = [WRITE, {"expect": "unknown"}, {"say": "I shall check."}]

    async def main() -> None:
        async with talking(fresh_home, [WRITE, {"say": "Written."}]) as (runtime, session, watch):
            await session.submit("write it")
            await session.answer((await watch.until("approval_required")).id, "approve")
            await session.idle()
            identifier = session.id
            (runtime.home.workspace / "notes" / "a.md").unlink()
        crashed(fresh_home, identifier, "tool_intent")
        write_profile(fresh_home, steps)
        async with assemble(fresh_home) as runtime:
            again = await runtime.open(identifier)
            assert [row.get("status") for row in again.rows()][2] == "unknown"
            assert again.rows()[-1]["code"] == "turn_interrupted"
            watch = Watch(again)
            await again.continue_()
            await again.idle()
            assert watch.text == "I shall check."
            assert not (runtime.home.workspace / "notes" / "a.md").exists()

    asyncio.run(main())


def test_after_a_crash_a_harmless_call_simply_runs_again(fresh_home: Path) -> None:
    steps: Steps = [call("calculator", expression="2+2"), {"expect": "4"}, {"say": "Four."}]

    async def main() -> None:
        async with talking(fresh_home, steps) as (_, session, _watch):
            await session.submit("sum")
            await session.idle()
            identifier = session.id
        crashed(fresh_home, identifier, "tool_intent")
        async with assemble(fresh_home) as runtime:
            again = await runtime.open(identifier)
            watch = Watch(again)
            await again.continue_()
            await again.idle()
            assert watch.text == "Four."

    asyncio.run(main())


def test_editing_and_retrying_branch_and_keep_the_old_branch_stored(fresh_home: Path) -> None:
    steps: Steps = [{"say": "One."}, {"say": "Two."}]

    async def main() -> None:
        async with talking(fresh_home, steps) as (_, session, watch):
            first = await session.submit("first")
            await session.idle()
            await session.submit("second")
            await session.idle()
            await session.edit(first, "first, said better")
            await session.idle()
            assert [row["text"] for row in session.rows()] == ["first, said better", "One."]
            await session.retry()
            await session.idle()
            assert [row["text"] for row in session.rows()] == ["first, said better", "One."]
            assert len(watch.of("done")) == 4
            texts = [record.data.get("text") for record in session._history.journal.records]
            assert "second" in texts

    asyncio.run(main())


def test_a_conversation_too_long_is_shortened_for_the_model_only(fresh_home: Path) -> None:
    long = "word " * 4000
    too_long = {"error": {"code": "context_overflow", "prompt_tokens": 9000, "window": 2000}}
    steps: Steps = [{"say": "One."}, too_long, {"say": "Now it fits."}]

    async def main() -> None:
        async with talking(fresh_home, steps) as (_, session, watch):
            await session.submit("short")
            await session.idle()
            await session.submit(long)
            await session.idle()
            assert watch.of("error")[0].fields["window"] == 2000
            before = session._transcript.size()
            write_profile(fresh_home, [{"say": "Now it fits."}])
            await session.shorten(9000, 2000)
            await session.idle()
            assert session._transcript.size() < before / 4
            assert any(row.get("text") == long for row in session.rows())
            users = [message for message in session._transcript.messages if isinstance(message, UserMessage)]
            assert "characters left out" in users[-1].text

    asyncio.run(main())


def test_two_processes_cannot_hold_one_session(fresh_home: Path) -> None:
    async def main() -> None:
        async with talking(fresh_home, [{"say": "One."}]) as (_, session, _watch):
            async with assemble(fresh_home, door="terminal") as other:
                with pytest.raises(OrionError) as caught:
                    await other.open(session.id)
            assert caught.value.code == "session_locked"
            assert caught.value.fields["door"] == "test"

    asyncio.run(main())


def test_a_private_session_stores_nothing(fresh_home: Path) -> None:
    async def main() -> None:
        write_profile(fresh_home, [{"say": "Secret."}])
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="test", private=True)
            await session.submit("psst")
            await session.idle()
            assert session.rows()[1]["text"] == "Secret."
            assert runtime.sessions.list() == []
        assert not list((fresh_home / "sessions").glob("*.jsonl"))

    asyncio.run(main())


def test_a_missing_prompt_is_one_sentence_and_the_session_lives(fresh_home: Path) -> None:
    async def main() -> None:
        changes = {"system_prompt": "nowhere.md"}
        async with talking(fresh_home, [{"say": "One."}], **changes) as (_, session, watch):
            await session.submit("Hi")
            await session.idle()
            assert watch.of("error")[0].code == "prompt_missing"
            assert watch.of("done")[0].reason == "error"

    asyncio.run(main())


def test_switching_the_profile_takes_effect_at_the_next_call(fresh_home: Path) -> None:
    async def main() -> None:
        write_profile(fresh_home, [{"say": "Unused."}, {"say": "I am the other one."}], name="other")
        async with talking(fresh_home, [{"say": "One."}]) as (_, session, watch):
            await session.submit("Hi")
            await session.idle()
            await session.use(profile="other", autonomy="auto")
            assert watch.of("mode_changed")[0].profile == "other"
            await session.submit("Who?")
            await session.idle()
            assert watch.of("response_complete")[-1].text == "I am the other one."
            with pytest.raises(OrionError, match="profile_unknown"):
                await session.use(profile="nobody")

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
