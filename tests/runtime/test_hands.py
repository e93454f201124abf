"""The user's hands on the agent's computer: the wheel taken, stepped and handed back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runtime.agent_computer import Place
from runtime.computer_events import WheelChanged
from runtime.errors import OrionError
from runtime.messages import Image, UserMessage
from tests.runtime.computer_stage import (
    CLICK,
    SAY,
    acted,
    failures,
    staged,
)


def test_the_users_hands_pause_the_agent_and_it_is_told(fresh_home: Path) -> None:
    async def takes() -> None:
        async with staged(fresh_home, [CLICK, {"wait": 0}, CLICK, SAY]) as stage:
            stage.desk.held.clear()
            await stage.session.submit("click")
            await acted(stage, 1)
            await stage.computer.user_input([{"do": "button", "button": "left", "down": True}])
            await stage.computer.user_input([{"do": "type", "text": "pässwörd"}])
            assert stage.computer.wheel == WheelChanged("user", stage.session.id, paused=True)
            assert stage.desk.let_go == 1
            (failed,) = failures(stage)
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
            told = [row for row in stage.session.rows() if row.get("code") == "agent_told"]
            assert [row["fields"]["text"] for row in told] == [account]
            assert [notice.fields["text"] for notice in stage.watch.of("notice")] == [account]
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
            await acted(stage, 1)
            await stage.computer.pause()
            assert stage.computer.wheel.paused
            stage.desk.held.set()
            await stage.watch.until("tool_call_complete")
            await stage.watch.until(lambda body: body.type == "state_change" and body.new == "PAUSED")
            assert len(stage.desk.acts) == 1
            await stage.computer.step()
            await stage.seen.until(lambda event: event.type == "wheel_changed" and event.stepping)
            await stage.watch.until("tool_call_complete", count=2)
            assert len(stage.desk.acts) == 2
            assert not stage.computer.wheel.stepping
            await stage.computer.resume()
            await stage.done()
            assert len(stage.desk.acts) == 3

    asyncio.run(steps())


def test_a_cancelled_turn_lets_the_wheel_go(fresh_home: Path) -> None:
    async def cancels() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            stage.desk.held.clear()
            await stage.session.submit("click")
            await acted(stage, 1)
            await stage.computer.take_wheel()
            stage.session.cancel()
            assert (await stage.done()).reason == "cancelled"
            assert not stage.session.paused
            stage.desk.held.set()

    asyncio.run(cancels())


def test_bash_goes_on_while_the_user_has_the_wheel(fresh_home: Path) -> None:
    async def goes_on() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            stage.desk.held.clear()
            await stage.session.submit("click")
            await acted(stage, 1)
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


def test_a_computer_that_answers_nothing_is_taken_handed_back_and_stopped(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.hands.SEEING", 0.02)
    monkeypatch.setattr("runtime.agent_computer.SETTLING", 0.02)

    async def silent(*_told: object, **_more: object) -> None:
        await asyncio.Event().wait()

    async def stops() -> None:
        async with staged(fresh_home, [CLICK, {"wait": 0}, SAY]) as stage:
            await stage.session.submit("click")
            await acted(stage, 1)
            guest = stage.computer.guest
            assert guest is not None
            monkeypatch.setattr(guest.screen, "picture", silent)
            monkeypatch.setattr(stage.computer.review, "collect", silent)
            await stage.computer.take_wheel()
            assert stage.computer.wheel.holder == "user"
            assert await stage.computer.hand_back("")
            await stage.computer.stop()
            assert stage.computer.state.phase == "off"

    asyncio.run(stops())
