"""The bridge over a real runtime: nothing blocks, all comes back on the main thread, and it ends cleanly."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop.bridge import Bridge
from desktop.desk import Desk
from runtime.events import ApprovalRequired, Done, Event, ResponseChunk, ToolComplete, UserSaid

PATIENCE_MS = 20_000


@pytest.fixture
def bridge(qtbot: QtBot) -> Iterator[Bridge]:
    made = Bridge()
    with qtbot.waitSignal(made.ready, timeout=PATIENCE_MS):
        made.start()
    yield made
    assert made.close()


class Listener:
    """Collects events and the threads they arrive on, and answers approvals."""

    def __init__(self, bridge: Bridge) -> None:
        self.events: list[Event] = []
        self.threads: set[int] = set()
        self._bridge = bridge
        bridge.happened.connect(self.on_event)

    def on_event(self, event: Event) -> None:
        self.threads.add(threading.get_ident())
        self.events.append(event)
        if isinstance(event.body, ApprovalRequired):
            self._bridge.ask(Desk.answer, event.session, event.body.id, "approve")

    def done(self) -> bool:
        return any(isinstance(event.body, Done) for event in self.events)


def ask(qtbot: QtBot, bridge: Bridge, *question: Any) -> Any:
    """Ask and wait for the answer."""
    answers: list[Any] = []
    bridge.ask(*question).then(answers.append, lambda code, fields: answers.append((code, fields)))
    qtbot.waitUntil(lambda: bool(answers), timeout=PATIENCE_MS)
    return answers[0]


def test_a_whole_turn_crosses_as_json_on_the_main_thread(
    qtbot: QtBot, bridge: Bridge, fresh_home: Path
) -> None:
    listener = Listener(bridge)
    opened = ask(qtbot, bridge, Desk.open, None, "orion-demo")
    json.dumps(opened)
    session = opened["id"]
    json.dumps(ask(qtbot, bridge, Desk.submit, session, "Show me"))
    qtbot.waitUntil(listener.done, timeout=PATIENCE_MS)
    assert listener.threads == {threading.get_ident()}
    assert [event.seq for event in listener.events] == list(range(1, len(listener.events) + 1))
    for event in listener.events:
        json.dumps(event.as_dict())
    kinds = {type(event.body) for event in listener.events}
    assert {UserSaid, ApprovalRequired, ToolComplete, ResponseChunk, Done} <= kinds
    assert (fresh_home / "workspace" / "notes" / "hello.md").exists()

    change = next(e.body.details["change"] for e in listener.events if isinstance(e.body, ToolComplete))
    assert ask(qtbot, bridge, Desk.undo, session, change) == ["notes/hello.md"]
    assert not (fresh_home / "workspace" / "notes" / "hello.md").exists()
    rows = ask(qtbot, bridge, Desk.open, session)["rows"]
    json.dumps(rows)
    assert [row["kind"] for row in rows].count("user") == 1


def test_every_answer_is_json(qtbot: QtBot, bridge: Bridge) -> None:
    opened = ask(qtbot, bridge, Desk.open, None)
    session = opened["id"]
    for question in (
        (Desk.overview,),
        (Desk.settings,),
        (Desk.sessions,),
        (Desk.search, "word"),
        (Desk.notices,),
        (Desk.card, session),
        (Desk.rules,),
        (Desk.revoke, "none"),
        (Desk.diagnostics,),
        (Desk.use, session, "orion-demo", None),
        (Desk.rename, session, "A title"),
        (Desk.export, session, "markdown"),
        (Desk.export, session, "json"),
        (Desk.save_settings, {"appearance.theme": "dark"}),
    ):
        answer = ask(qtbot, bridge, *question)
        json.dumps(answer)
        assert not isinstance(answer, tuple), answer


def test_expected_faults_come_back_as_code_and_fields(qtbot: QtBot, bridge: Bridge) -> None:
    assert ask(qtbot, bridge, Desk.open, "no-such-session") == ("session_unknown", {"id": "no-such-session"})
    code, fields = ask(qtbot, bridge, Desk.save_settings, {"appearance.theme": "pink"})
    assert code == "yaml_wrong_value"
    assert "theme" in str(fields["key"])


def test_a_failure_without_a_taker_is_refused_aloud(qtbot: QtBot, bridge: Bridge) -> None:
    with qtbot.waitSignal(bridge.refused, timeout=PATIENCE_MS) as refused:
        bridge.ask(Desk.open, "no-such-session")
    assert refused.args == ["session_unknown", {"id": "no-such-session"}]


def test_a_bug_on_the_loop_is_answered_logged_and_told(
    qtbot: QtBot, bridge: Bridge, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(desk: Desk) -> None:
        del desk
        raise ZeroDivisionError("a bug")

    with caplog.at_level(logging.ERROR), qtbot.waitSignal(bridge.escaped, timeout=PATIENCE_MS) as escaped:
        code, fields = ask(qtbot, bridge, broken)
    assert (code, fields) == ("bug", {"problem": "ZeroDivisionError: a bug"})
    assert escaped.args is not None
    assert isinstance(escaped.args[0], ZeroDivisionError)
    assert "broken" in caplog.text


def test_questions_before_it_is_ready_are_answered_after(qtbot: QtBot) -> None:
    bridge = Bridge()
    answers: list[Any] = []
    bridge.ask(Desk.sessions).then(answers.append)
    bridge.start()
    qtbot.waitUntil(lambda: bool(answers), timeout=PATIENCE_MS)
    assert answers == [[]]
    assert bridge.close()


def test_closing_at_once_ends_the_thread(qtbot: QtBot) -> None:
    del qtbot
    bridge = Bridge()
    bridge.start()
    assert bridge.close()
    assert bridge.close()


def test_closing_during_a_turn_keeps_what_was_said(qtbot: QtBot, fresh_home: Path) -> None:
    bridge = Bridge()
    bridge.start()
    opened = ask(qtbot, bridge, Desk.open, None, "orion-demo")
    ask(qtbot, bridge, Desk.submit, opened["id"], "remember this")
    assert bridge.close()
    journal = (fresh_home / "sessions" / f"{opened['id']}.jsonl").read_text()
    assert "remember this" in journal


def test_a_home_that_cannot_be_made_is_said(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    bridge = Bridge(tmp_path / "file" / "home")
    with qtbot.waitSignal(bridge.failed, timeout=PATIENCE_MS) as failed:
        bridge.start()
    assert failed.args is not None
    assert failed.args[0] == "home_unwritable"
    answers: list[Any] = []
    bridge.ask(Desk.sessions).then(answers.append, lambda code, fields: answers.append(code))
    qtbot.waitUntil(lambda: bool(answers))
    assert answers == ["runtime_gone"]
    assert bridge.close()


def test_a_private_chat_leaves_no_file(qtbot: QtBot, bridge: Bridge, fresh_home: Path) -> None:
    listener = Listener(bridge)
    opened = ask(qtbot, bridge, Desk.open, None, "orion-demo", True)
    assert opened["private"]
    ask(qtbot, bridge, Desk.submit, opened["id"], "a secret word")
    qtbot.waitUntil(listener.done, timeout=PATIENCE_MS)
    again = ask(qtbot, bridge, Desk.open, None, "orion-demo", True)
    assert again["rows"] == []
    for file in (fresh_home / "sessions").rglob("*.jsonl"):
        assert "a secret word" not in file.read_text()


def test_a_question_that_waited_is_asked_again_after_a_restart(qtbot: QtBot, fresh_home: Path) -> None:
    first = Bridge()
    questions: list[Event] = []
    first.happened.connect(lambda event: questions.append(event) if _is_question(event) else None)
    first.start()
    opened = ask(qtbot, first, Desk.open, None, "orion-demo")
    ask(qtbot, first, Desk.submit, opened["id"], "Show me")
    qtbot.waitUntil(lambda: bool(questions), timeout=PATIENCE_MS)
    assert first.close()

    second = Bridge()
    listener = Listener(second)
    second.start()
    again = ask(qtbot, second, Desk.open, opened["id"])
    assert [row["status"] for row in again["rows"] if row["kind"] == "tool"] == ["waiting"]
    qtbot.waitUntil(listener.done, timeout=PATIENCE_MS)
    assert (fresh_home / "workspace" / "notes" / "hello.md").exists()
    assert second.close()


def _is_question(event: Event) -> bool:
    return isinstance(event.body, ApprovalRequired)
