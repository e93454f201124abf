"""What needs the user's word waits for it, and what was approved is exactly what runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runtime.errors import OrionError
from tests.runtime.scripted_house import Steps, Watch, call, talking

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
