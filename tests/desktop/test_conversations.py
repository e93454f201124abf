"""What the window knows about its sessions follows the events and the answers."""

from __future__ import annotations

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop.conversations import Conversations
from runtime.errors import OrionError
from runtime.events import ApprovalReceived, ApprovalRequired, Done, ModeChanged, StateChange
from tests.desktop.doubles import RecordingBridge, card, event, listed, overview


@pytest.fixture
def bridge(qtbot: QtBot) -> RecordingBridge:
    del qtbot
    made = RecordingBridge()
    made.answers["open"] = lambda session, profile=None, private=False: card(
        "private" if private else session or "new",
        private=private,
        title="" if session is None else "T",
        rows=[],
    )
    made.answers["card"] = lambda session: card(session, title="T")
    return made


@pytest.fixture
def talks(bridge: RecordingBridge) -> Conversations:
    return Conversations(bridge)


def begin(talks: Conversations, bridge: RecordingBridge, **changes: Any) -> None:
    sessions = [listed("s1", "One"), listed("s2", "Two")]
    talks.begin(overview(sessions=sessions, **changes), "s2")
    bridge.settle()


def test_the_last_session_is_opened_again(talks: Conversations, bridge: RecordingBridge) -> None:
    lists: list[list[dict[str, Any]]] = []
    talks.listed.connect(lists.append)
    begin(talks, bridge)
    assert talks.current == "s2"
    assert [item["id"] for item in lists[0]] == ["s1", "s2"]


def test_a_last_one_that_is_gone_means_a_new_one(talks: Conversations, bridge: RecordingBridge) -> None:
    talks.begin(overview(sessions=[listed("s1", "One")]), "gone")
    bridge.settle()
    assert talks.current == "new"


def test_restoring_can_be_switched_off(talks: Conversations, bridge: RecordingBridge) -> None:
    settings = overview()["settings"] | {"sessions": {"restore_last": False}}
    begin(talks, bridge, settings=settings)
    assert talks.current == "new"


def test_a_session_that_cannot_be_opened_is_said_and_a_new_one_opens(
    talks: Conversations, bridge: RecordingBridge, qtbot: QtBot
) -> None:
    made = bridge.answers["open"]
    bridge.answers["open"] = lambda session, *rest: (
        OrionError("session_locked", pid=7, door="terminal") if session else made(session, *rest)
    )
    with qtbot.waitSignal(talks.trouble) as trouble:
        begin(talks, bridge)
    assert trouble.args == ["session_locked", {"pid": 7, "door": "terminal"}]
    assert talks.current == "new"


def test_a_new_chat_is_not_made_while_the_one_in_front_is_empty(
    talks: Conversations, bridge: RecordingBridge
) -> None:
    talks.open(None)
    bridge.settle()
    talks.open(None)
    bridge.settle()
    assert [name for name in bridge.names() if name == "open"] == ["open"]
    talks.open(None, private=True)
    bridge.settle()
    assert talks.current == "private"


def test_an_open_private_chat_is_listed_and_deleted_without_a_trace(
    talks: Conversations, bridge: RecordingBridge, qtbot: QtBot
) -> None:
    lists: list[list[dict[str, Any]]] = []
    talks.listed.connect(lists.append)
    talks.open(None, private=True)
    bridge.settle()
    assert [item["id"] for item in lists[-1]] == ["private"]
    with qtbot.assertNotEmitted(talks.deleted):
        talks.delete("private", "x")
        bridge.settle()
    assert "delete" not in bridge.names()
    assert lists[-1] == []


def test_events_keep_the_card_true(talks: Conversations, bridge: RecordingBridge) -> None:
    begin(talks, bridge)
    bridge.happened.emit(event(StateChange("IDLE", "THINKING"), "s2"))
    assert talks.card["busy"]
    question = ApprovalRequired("a1", "write_file", {}, "d", "medium", "Write", "", {"once": ""})
    bridge.happened.emit(event(question, "s2"))
    assert [asked["id"] for asked in talks.card["pending"]] == ["a1"]
    bridge.happened.emit(event(ApprovalReceived("a1", "approve", "once", "terminal"), "s2"))
    assert talks.card["pending"] == []
    bridge.happened.emit(event(ModeChanged("auto", "orion-demo", "demo.yaml"), "s2"))
    assert (talks.card["profile"], talks.card["autonomy"]) == ("orion-demo", "auto")
    bridge.happened.emit(event(Done("complete", 1, {}, 1.0, "m"), "s2"))
    assert not talks.card["busy"]
    bridge.settle()
    assert talks.card["title"] == "T"


def test_events_of_unknown_sessions_are_passed_on(
    talks: Conversations, bridge: RecordingBridge, qtbot: QtBot
) -> None:
    begin(talks, bridge)
    with qtbot.waitSignal(talks.happened):
        bridge.happened.emit(event(StateChange("IDLE", "THINKING"), "other"))
    assert not talks.card["busy"]


def test_deleting_the_one_in_front_opens_another(
    talks: Conversations, bridge: RecordingBridge, qtbot: QtBot
) -> None:
    begin(talks, bridge)
    bridge.answers["delete"] = "token"
    with qtbot.waitSignal(talks.deleted) as deleted:
        talks.delete("s2", "Two")
        bridge.settle()
    assert deleted.args == ["token", "Two"]
    assert talks.current == "new"
    bridge.answers["restore"] = [listed("s2", "Two")]
    with qtbot.waitSignal(talks.listed):
        talks.restore("token")
        bridge.settle()


def test_searching_lists_what_is_found_until_it_is_cleared(
    talks: Conversations, bridge: RecordingBridge
) -> None:
    lists: list[list[dict[str, Any]]] = []
    talks.listed.connect(lists.append)
    bridge.answers["search"] = [listed("s1", "Found", snippet="found it")]
    bridge.answers["sessions"] = [listed("s2", "All")]
    talks.search("  found ")
    bridge.settle()
    assert bridge.last("search") == ("found",)
    assert lists[-1][0]["title"] == "Found"
    talks.search("")
    bridge.settle()
    assert lists[-1][0]["title"] == "All"


def test_a_dropped_view_closes_an_idle_session_only(talks: Conversations, bridge: RecordingBridge) -> None:
    begin(talks, bridge)
    talks.open("s1")
    bridge.settle()
    talks.cards["s2"]["busy"] = True
    talks.forget("s2")
    assert "close_session" not in bridge.names()
    talks.cards["s2"]["busy"] = False
    talks.forget("s2")
    assert bridge.last("close_session") == ("s2",)


def test_what_is_asked_goes_to_the_session_in_front(talks: Conversations, bridge: RecordingBridge) -> None:
    begin(talks, bridge)
    talks.submit("hello", [("image/png", "QQ==")])
    talks.cancel()
    talks.answer("a1", "edit", "once", {"path": "x"})
    talks.undo("c1")
    talks.retry()
    talks.continue_()
    talks.shorten(9000, 8192)
    talks.use(model="other.gguf")
    assert bridge.last("submit") == ("s2", "hello", [("image/png", "QQ==")])
    assert bridge.last("cancel") == ("s2",)
    assert bridge.last("answer") == ("s2", "a1", "edit", "once", {"path": "x"})
    assert bridge.last("undo") == ("s2", "c1")
    assert bridge.last("retry") == bridge.last("continue_") == ("s2",)
    assert bridge.last("shorten") == ("s2", 9000, 8192)
    assert bridge.last("use") == ("s2", None, "other.gguf", None)


def test_answering_again_takes_the_old_answer_away(
    talks: Conversations, bridge: RecordingBridge, qtbot: QtBot
) -> None:
    begin(talks, bridge)
    rows = [{"kind": "user", "id": "m1", "text": "hi", "time": 0.0, "source": "window"}]
    bridge.answers["retry"] = card("s2", title="T", busy=True, rows=rows)
    with qtbot.waitSignal(talks.shown) as shown:
        talks.retry()
        bridge.settle()
    assert shown.args is not None
    assert shown.args[0]["rows"] == rows
    assert talks.card["busy"]


def test_a_failure_nobody_takes_is_trouble(
    talks: Conversations, bridge: RecordingBridge, qtbot: QtBot
) -> None:
    begin(talks, bridge)
    bridge.answers["undo"] = OrionError("undo_conflict", path="notes/hello.md")
    with qtbot.waitSignal(talks.trouble) as trouble:
        talks.undo("c1")
        bridge.settle()
    assert trouble.args == ["undo_conflict", {"path": "notes/hello.md"}]
