"""Conversations that were closed, killed, edited, locked or switched go on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from runtime.assemble import assemble
from runtime.errors import OrionError
from runtime.messages import UserMessage
from tests.runtime.scripted_house import Steps, Watch, call, talking, write_profile

WRITE = call("write_file", path="notes/a.md", text="hello")


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
