"""The store of conversations: listing, search, delete with undo, fork, export and import."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from runtime.errors import OrionError
from runtime.locks import Lock
from runtime.sessions import SessionStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    folder = tmp_path / "sessions"
    folder.mkdir()
    found = SessionStore(folder, tmp_path / "index.db", "test")
    yield found
    found.close()


def talk(store: SessionStore, *texts: str, title: str = "") -> str:
    session = store.create("orion-local")
    journal, lock = store.open(session)
    if title:
        journal.append("title", title=title)
    for text in texts:
        journal.append("user", text=text, source="test")
        reply: dict[str, Any] = {
            "text": f"Re: {text}",
            "reasoning": [],
            "calls": [],
            "complete": True,
            "stop_reason": "stop",
        }
        journal.append("assistant", **reply)
        journal.append("done", reason="complete")
    journal.close()
    lock.release()
    return session


def test_sessions_are_listed_newest_first_and_kept_up_to_date(store: SessionStore) -> None:
    first, second = talk(store, "apples", title="Fruit"), talk(store, "pears")
    assert [entry["id"] for entry in store.list()] == [second, first]
    entry = store.list()[1]
    assert (entry["title"], entry["messages"], entry["interrupted"], entry["profile"]) == (
        "Fruit",
        2,
        False,
        "orion-local",
    )
    journal, lock = store.open(first)
    journal.append("user", text="more apples", source="test")
    journal.close()
    lock.release()
    entry = store.list()[0]
    assert (entry["id"], entry["messages"], entry["interrupted"]) == (first, 3, True)


def test_search_finds_words_in_messages_and_titles(store: SessionStore) -> None:
    fruit, other = talk(store, "I like juicy apples", title="Fruit"), talk(store, "the weather")
    assert [entry["id"] for entry in store.search("appl juicy")] == [fruit]
    assert "apples" in store.search("apples")[0]["snippet"]
    assert [entry["id"] for entry in store.search("fruit")] == [fruit]
    assert [entry["id"] for entry in store.search("weather")] == [other]
    assert store.search('"; DROP TABLE sessions; -- NOT * ( \x00') == []
    assert len(store.search("  ")) == 2


def test_a_deleted_session_comes_back_whole(store: SessionStore) -> None:
    session = talk(store, "keep me")
    token = store.delete(session)
    assert store.list() == []
    assert store.search("keep") == []
    with pytest.raises(OrionError, match="session_unknown"):
        store.open(session)
    store.restore(token)
    assert store.search("keep")[0]["id"] == session


def test_an_open_session_cannot_be_deleted_or_renamed_from_elsewhere(
    tmp_path: Path, store: SessionStore
) -> None:
    session = talk(store, "mine")
    journal, lock = store.open(session)
    other = SessionStore(tmp_path / "sessions", tmp_path / "index.db", "another")
    for attempt in (lambda: other.delete(session), lambda: other.rename(session, "x")):
        with pytest.raises(OrionError, match="session_locked"):
            attempt()
    store.rename(session, "Mine")
    assert journal.title == "Mine"
    journal.close()
    lock.release()
    store.rename(session, "Yours")
    assert store.list()[0]["title"] == "Yours"


def test_export_and_import_give_the_same_conversation(store: SessionStore) -> None:
    session = talk(store, "hello", "again \ud800", title="Greetings")
    copy = store.import_(store.export(session, "json"))
    assert copy != session
    assert store.export(copy) == store.export(session)
    assert "# Greetings" in store.export(session)
    assert "Re: hello" in store.export(session)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format":"orion-session","v":2,"records":[]}',
        '{"format":"orion-session","v":1,"records":[1]}',
    ],
)
def test_a_file_that_is_no_export_is_refused_and_leaves_nothing(store: SessionStore, text: str) -> None:
    with pytest.raises(OrionError):
        store.import_(text)
    assert store.list() == []


SAID = {"type": "user", "text": "hello", "source": "test"}
REPLY = {"type": "assistant", "text": "", "reasoning": [], "complete": True, "stop_reason": ""}


@pytest.mark.parametrize(
    ("record", "when"),
    [
        (SAID, "1e300"),
        (SAID, "-1e18"),
        (SAID, "NaN"),
        (SAID, "Infinity"),
        (REPLY | {"calls": [1]}, "1"),
        (REPLY | {"calls": [{"id": "c"}]}, "1"),
        (SAID | {"images": [1]}, "1"),
        ({"type": "undo", "change": "c", "files": [1]}, "1"),
        ({"type": "approval", "call": "c", "phase": {}}, "1"),
        ({"type": "compaction", "keep": "a", "limit": 1, "before": 1, "after": 1, "summary": 1}, "1"),
    ],
)
def test_a_file_that_nobody_could_open_afterwards_is_refused(
    store: SessionStore, record: dict[str, Any], when: str
) -> None:
    told = json.dumps({"v": 1, "id": "b", "parent": "a", "time": 0} | record).replace(
        '"time": 0', f'"time": {when}'
    )
    first = json.dumps({"v": 1, "id": "a", "parent": None, "time": 1} | SAID)
    with pytest.raises(OrionError, match="import_unreadable"):
        store.import_(f'{{"format": "orion-session", "v": 1, "records": [{first}, {told}]}}')
    assert store.list() == []


def test_a_fork_holds_the_conversation_up_to_the_message(store: SessionStore) -> None:
    session = talk(store, "one", "two")
    journal, lock = store.open(session)
    answer = next(record.id for record in journal.records if record.data.get("text") == "Re: one")
    journal.close()
    lock.release()
    forked = store.fork(session, answer)
    text = store.export(forked)
    assert "Re: one" in text
    assert "two" not in text
    assert store.list()[0]["profile"] == "orion-local"
    with pytest.raises(OrionError, match="message_unknown"):
        store.fork(session, "nonsense")


@pytest.mark.parametrize("session", ["", "../x", "a/b", "..", "a\0b", "x" * 300])
def test_an_id_is_never_a_way_out_of_the_folder(store: SessionStore, session: str) -> None:
    for attempt in (store.open, store.delete, store.restore, store.export):
        with pytest.raises(OrionError, match="session_unknown"):
            attempt(session)


def test_the_index_is_rebuilt_when_it_is_lost_or_garbage(tmp_path: Path, store: SessionStore) -> None:
    session = talk(store, "find me")
    assert store.list()
    store.close()
    for garbage in (None, b"not a database at all" * 100):
        for path in tmp_path.glob("index.db*"):
            path.unlink()
        if garbage:
            (tmp_path / "index.db").write_bytes(garbage)
        again = SessionStore(tmp_path / "sessions", tmp_path / "index.db", "test")
        assert again.search("find")[0]["id"] == session
        again.close()


def test_a_journal_of_a_newer_program_is_listed_with_its_fault(tmp_path: Path, store: SessionStore) -> None:
    (tmp_path / "sessions" / "newer.jsonl").write_text('{"v":9,"id":"a","type":"user","time":1}\n')
    assert [entry["fault"] for entry in store.list()] == ["format_newer"]


def test_a_lock_is_free_again_when_its_holder_lets_go(tmp_path: Path) -> None:
    first = Lock(tmp_path / "a", "window", "session_locked")
    with pytest.raises(OrionError) as caught:
        Lock(tmp_path / "a", "terminal", "session_locked")
    assert caught.value.fields["door"] == "window"
    first.release()
    Lock(tmp_path / "a", "terminal", "session_locked").release()


def test_a_list_that_cannot_be_written_is_told_in_a_sentence(store: SessionStore, tmp_path: Path) -> None:
    talk(store, "first")
    store.list()
    with closing(apsw.Connection(str(tmp_path / "index.db"))) as other:
        other.execute("DROP TABLE texts")
    talk(store, "second")
    with pytest.raises(OrionError) as caught:
        store.list()
    assert caught.value.code == "index_unusable"
