"""The memory of changes: contents once, a log that survives damage, and one holder at a time."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from runtime import change_store
from runtime.change_store import ChangeStore
from runtime.changes import VERSION, ChangeSet, Entry
from runtime.workspace import Workspace, WorkspaceError


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.create(tmp_path / "root", tmp_path / "changes")


def reopened(workspace: Workspace) -> Workspace:
    return Workspace(workspace.root, workspace.root.parent / "changes")


def test_a_content_is_stored_once_compressed_and_checked(tmp_path: Path) -> None:
    store = ChangeStore(tmp_path / "c")
    digest = store.keep(b"same " * 1000)
    (stored,) = (tmp_path / "c" / "objects").rglob("*/*")
    born = stored.stat().st_ino
    assert store.keep(b"same " * 1000) == digest
    assert [path.stat().st_ino for path in (tmp_path / "c" / "objects").rglob("*/*")] == [born]
    assert stored.stat().st_size < 100
    assert store.content(digest) == b"same " * 1000
    stored.write_bytes(zlib.compress(b"other"))
    with pytest.raises(WorkspaceError, match="change_content_lost"):
        store.content(digest)
    stored.write_bytes(b"not compressed")
    with pytest.raises(WorkspaceError, match="change_content_lost"):
        store.content(digest)


@pytest.mark.parametrize("name", ["00/dev/zero", "../../outside", "", "A" * 64, "0" * 65, "00\0"])
def test_what_is_no_hash_names_no_content_and_opens_no_file(tmp_path: Path, name: str) -> None:
    store = ChangeStore(tmp_path / "c")
    store.keep(b"x")
    assert not store.holds(name)
    with pytest.raises(WorkspaceError, match="change_content_lost"):
        store.content(name)


def test_a_lost_content_refuses_the_undo_and_leaves_the_file(workspace: Workspace, tmp_path: Path) -> None:
    workspace.write("a", "one")
    made = workspace.write("a", "two")
    for stored in (tmp_path / "changes" / "objects").rglob("*/*"):
        stored.unlink()
    with pytest.raises(WorkspaceError, match="change_content_lost"):
        workspace.undo(made.id)
    assert workspace.read("a") == b"two"


def test_a_torn_last_line_is_set_apart_and_the_log_goes_on(workspace: Workspace, tmp_path: Path) -> None:
    log = tmp_path / "changes" / "log.jsonl"
    first = workspace.write("a", "1")
    with log.open("ab") as stream:
        stream.write(b'{"v":1,"id":"torn')
    again = reopened(workspace)
    assert again.history() == (first,)
    second = again.write("a", "2")
    assert reopened(workspace).history() == workspace.history() == (first, second)
    assert reopened(workspace).damaged_records() == workspace.damaged_records() == (2,)
    assert b'"id":"torn\n' in log.read_bytes()


@pytest.mark.parametrize("bad", [b"\x00\xff", b"[]", b'{"v":1}', b'{"v":"x"}', b"null", b""])
def test_a_damaged_line_hides_only_itself(workspace: Workspace, tmp_path: Path, bad: bytes) -> None:
    first = workspace.write("a", "1")
    with (tmp_path / "changes" / "log.jsonl").open("ab") as stream:
        stream.write(bad + b"\n")
    second = workspace.write("a", "2")
    assert reopened(workspace).history() == (first, second)
    assert reopened(workspace).undo(second.id) == ["a"]


def test_a_log_of_a_newer_program_is_refused_untouched(workspace: Workspace, tmp_path: Path) -> None:
    made = workspace.write("a", "1")
    log = tmp_path / "changes" / "log.jsonl"
    with log.open("ab") as stream:
        stream.write(json.dumps({"v": VERSION + 1, "shape": "unknown"}).encode() + b"\n")
    before = log.read_bytes()
    for store in (workspace, reopened(workspace)):
        for action in (lambda: store.write("a", "2"), lambda: store.undo(made.id), store.history):  # noqa: B023
            with pytest.raises(WorkspaceError, match="changes_newer"):
                action()
    assert log.read_bytes() == before
    assert workspace.read("a") == b"1"


def test_a_log_that_was_removed_begins_again(workspace: Workspace, tmp_path: Path) -> None:
    workspace.write("a", "1")
    (tmp_path / "changes" / "log.jsonl").unlink()
    assert workspace.history() == ()
    second = workspace.write("a", "2")
    assert workspace.history() == (second,)


def test_a_withdrawn_change_leaves_no_trace(tmp_path: Path) -> None:
    store = ChangeStore(tmp_path / "c")
    change = ChangeSet("x", 1.0, "/r", entries=(Entry("a", "created", None, "00"),))
    with store.locked():
        store.append(change)
        assert store.get("x") == change
        store.withdraw(change)
    with ChangeStore(tmp_path / "c").locked():
        assert store.changes() == ()
    assert (tmp_path / "c" / "log.jsonl").read_bytes() == b""


def test_a_store_that_is_held_elsewhere_is_said_to_be_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_store, "LOCK_SECONDS", 0.02)
    one, other = ChangeStore(tmp_path / "c"), ChangeStore(tmp_path / "c")
    with one.locked():
        with pytest.raises(WorkspaceError, match="changes_busy"), other.locked():
            pass
        with one.locked():
            assert one.changes() == ()
    with other.locked():
        assert other.changes() == ()
