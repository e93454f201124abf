"""Every change is kept, told and taken back; a user's file is never overwritten."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.changes import Applied, ChangeSet, Origin
from runtime.search import Query
from runtime.workspace import FOLDERS, Limits, Workspace, WorkspaceError


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.create(tmp_path / "root", tmp_path / "changes")


def refusal(error: pytest.ExceptionInfo[WorkspaceError]) -> str:
    return error.value.code


def content(workspace: Workspace) -> dict[str, bytes]:
    return {
        str(path.relative_to(workspace.root)): path.read_bytes()
        for path in sorted(workspace.root.rglob("*"))
        if path.is_file()
    }


def test_a_new_workspace_has_its_folders_and_an_old_one_is_left_as_it_is(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "root", tmp_path / "changes").write("notes/a.md", "kept")
    again = Workspace.create(tmp_path / "root", tmp_path / "changes")
    assert sorted(os.listdir(again.root)) == sorted(FOLDERS)
    assert again.read_text("notes/a.md") == "kept"
    (again.root / "logs").rmdir()
    (again.root / "logs").symlink_to(tmp_path)
    nodes = Workspace.create(tmp_path / "root", tmp_path / "changes").list_tree().nodes
    assert ("logs", "link") in [(node.path, node.sort) for node in nodes]


def test_a_change_says_what_who_and_when(workspace: Workspace) -> None:
    made = workspace.write("new/deep/a.txt", "one\n", Origin("s", "t", "c"))
    (entry,) = made.entries
    assert (entry.path, entry.kind, entry.before) == ("new/deep/a.txt", "created", None)
    assert made.folders == ("new", "new/deep")
    assert workspace.history(session="s", call="c") == (made,)
    assert workspace.history(session="other") == ()
    edited = workspace.edit("new/deep/a.txt", "one", "two")
    assert edited.entries[0].before == entry.after
    assert workspace.diff_text(edited).splitlines() == [
        "--- a/new/deep/a.txt",
        "+++ b/new/deep/a.txt",
        "@@ -1 +1 @@",
        "-one",
        "+two",
    ]


def test_each_kind_of_change_can_be_undone_and_done_again(workspace: Workspace) -> None:
    binary = bytes(range(256)) * 100
    states = [content(workspace)]
    changes = []
    steps: tuple[Callable[[], ChangeSet], ...] = (
        lambda: workspace.write("deep/er/data.bin", binary),
        lambda: workspace.append("deep/er/data.bin", b"\0more"),
        lambda: workspace.write("deep/er/data.bin", "text now\r\nline\r\n"),
        lambda: workspace.edit("deep/er/data.bin", "now\nline", "then\nline"),
        lambda: workspace.move("deep/er/data.bin", "notes/moved.txt"),
        lambda: workspace.delete("notes/moved.txt"),
    )
    for step in steps:
        changes.append(step())
        states.append(content(workspace))
    assert states[-2]["notes/moved.txt"] == b"text then\r\nline\r\n"
    assert states[-1] == {}
    reverts = []
    for change_set, before in zip(reversed(changes), reversed(states[:-1]), strict=True):
        assert workspace.outcome(change_set.id) == "applied"
        undone = workspace.revert(change_set.id)
        assert undone.change is not None
        reverts.append(undone.change)
        assert content(workspace) == before
        assert workspace.outcome(change_set.id) == "reverted"
    assert not (workspace.root / "deep").exists()
    for undone_change, after in zip(reversed(reverts), states[1:], strict=True):
        workspace.undo(undone_change.id)
        assert content(workspace) == after
    assert {workspace.outcome(change_set.id) for change_set in changes} == {"applied"}


def test_a_file_the_user_changed_meanwhile_is_a_conflict_and_stays(workspace: Workspace) -> None:
    made = workspace.write("notes/a.txt", "agent")
    (workspace.root / "notes/a.txt").write_text("user")
    refused = workspace.revert(made.id)
    assert refused.change is None
    assert [conflict.path for conflict in refused.conflicts] == ["notes/a.txt"]
    assert workspace.outcome(made.id) == "changed"
    with pytest.raises(WorkspaceError) as error:
        workspace.undo(made.id)
    assert refusal(error) == "undo_conflict"
    assert workspace.read("notes/a.txt") == b"user"


def test_a_conflict_names_the_later_change(workspace: Workspace) -> None:
    first = workspace.write("a", "1")
    second = workspace.write("a", "2")
    (conflict,) = workspace.revert(first.id).conflicts
    assert conflict.later == second.id
    assert workspace.read("a") == b"2"


def test_a_file_put_where_a_deleted_one_was_is_a_conflict(workspace: Workspace) -> None:
    workspace.write("a", "agent")
    gone = workspace.delete("a")
    (workspace.root / "a").write_text("user")
    assert workspace.revert(gone.id).conflicts[0].path == "a"
    moved = workspace.move("a", "b")
    (workspace.root / "a").write_text("new")
    assert workspace.revert(moved.id).conflicts[0].path == "a"
    assert content(workspace) == {"a": b"new", "b": b"user"}


def test_undoing_twice_does_nothing_the_second_time(workspace: Workspace) -> None:
    made = workspace.write("a", "1")
    assert workspace.undo(made.id) == ["a"]
    assert workspace.revert(made.id) == Applied(None, ())
    assert workspace.undo(made.id) == []


def test_what_is_so_already_is_no_change(workspace: Workspace) -> None:
    workspace.write("a", "1")
    assert workspace.write("a", b"1").id == ""
    assert len(workspace.history()) == 1


def test_permission_bits_survive_changes_and_undo(workspace: Workspace) -> None:
    workspace.write("run.sh", "echo")
    (workspace.root / "run.sh").chmod(0o755)
    edited = workspace.write("run.sh", "echo 2")
    assert (workspace.root / "run.sh").stat().st_mode & 0o777 == 0o755
    workspace.undo(edited.id)
    assert (workspace.root / "run.sh").stat().st_mode & 0o777 == 0o755
    gone = workspace.delete("run.sh")
    workspace.undo(gone.id)
    assert (workspace.root / "run.sh").stat().st_mode & 0o777 == 0o755


def test_an_edit_must_be_unique(workspace: Workspace) -> None:
    workspace.write("a", "one two one aaa")
    ambiguous, absent = "edit_ambiguous", "edit_not_found"
    for old, code in (("one", ambiguous), ("aa", ambiguous), ("three", absent), ("", absent)):
        with pytest.raises(WorkspaceError) as error:
            workspace.edit("a", old, "x")
        assert refusal(error) == code
    with pytest.raises(WorkspaceError) as error:
        workspace.edit("none", "a", "b")
    assert refusal(error) == "workspace_not_found"
    assert workspace.history()[1:] == ()


def test_previews_are_what_will_happen(workspace: Workspace) -> None:
    assert workspace.preview_write("a", "1\n").endswith("@@ -0,0 +1 @@\n+1\n")
    workspace.write("a", "1\n2\n")
    shown = workspace.preview_write("a", "3\n", append=True)
    assert shown == workspace.diff_text(workspace.append("a", "3\n"))
    shown = workspace.preview_edit("a", "2", "two")
    assert shown == workspace.diff_text(workspace.edit("a", "2", "two"))
    shown = workspace.preview_write("a", "x")
    assert shown == workspace.diff_text(workspace.write("a", "x"))
    shown = workspace.preview_delete("a")
    assert shown == workspace.diff_text(workspace.delete("a"))


def test_text_that_is_none_is_refused_and_bytes_are_not(workspace: Workspace) -> None:
    with pytest.raises(WorkspaceError) as error:
        workspace.write("a", "half \ud83d")
    assert refusal(error) == "text_not_encodable"
    workspace.write("a", b"caf\xe9")
    with pytest.raises(WorkspaceError) as error:
        workspace.read_text("a")
    assert refusal(error) == "workspace_not_text"
    workspace.write("b", "nul \0 and עברית")
    assert workspace.read_text("b") == "nul \0 and עברית"


def test_sizes_are_limited(tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path / "r", tmp_path / "c", Limits(read=10, write=20, files=2))
    workspace.write("a", b"x" * 20)
    for action in (
        lambda: workspace.read("a"),
        lambda: workspace.append("a", "y"),
        lambda: workspace.write("b", b"x" * 21),
    ):
        with pytest.raises(WorkspaceError) as error:
            action()
        assert refusal(error) == "workspace_file_large"
    workspace.write("b", "")
    workspace.write("c", "")
    with pytest.raises(WorkspaceError) as error:
        workspace.snapshot()
    assert refusal(error) == "workspace_crowded"


def test_a_line_of_a_megabyte_and_a_name_that_is_not_utf_8(workspace: Workspace) -> None:
    name = os.fsdecode(b"notes/caf\xe9.txt")
    made = workspace.write(name, "x" * 1_000_000 + "needle")
    assert workspace.search(Query("needle")).matches[0].path == name
    assert name in [node.path for node in workspace.list_tree().nodes]
    again = Workspace(workspace.root, workspace.root.parent / "changes")
    assert again.undo(made.id) == [name]


def test_a_difference_of_snapshots_is_applied_elsewhere_and_taken_back(tmp_path: Path) -> None:
    """A copy that something else worked on: its difference lands on the original as one change."""
    original = Workspace.create(tmp_path / "root", tmp_path / "changes")
    copy = Workspace.create(tmp_path / "copy", tmp_path / "changes")
    for workspace in (original, copy):
        for name in ("kept", "edited", "deleted", "moved"):
            workspace.write(name, f"{name} at first")
    before = copy.snapshot(keep=True)
    (copy.root / "edited").write_text("edited now")
    (copy.root / "edited").chmod(0o755)
    (copy.root / "deleted").unlink()
    (copy.root / "moved").rename(copy.root / "code" / "moved")
    (copy.root / "new").mkdir()
    (copy.root / "new" / "file").write_text("new")
    proposal = copy.diff(before, copy.snapshot(keep=True))
    assert sorted(entry.kind for entry in proposal.entries) == ["created", "deleted", "modified", "moved"]
    at_first, in_copy = content(original), content(copy)
    applied = original.apply(proposal)
    assert applied.change is not None
    assert content(original) == in_copy
    assert (original.root / "edited").stat().st_mode & 0o777 == 0o755
    assert original.apply(proposal) == Applied(None, ())
    original.undo(applied.change.id)
    assert content(original) == at_first
    (original.root / "edited").write_text("user")
    assert [conflict.path for conflict in original.apply(proposal).conflicts] == ["edited"]
    assert content(original) == at_first | {"edited": b"user"}
    assert original.outcome(applied.change.id) == "reverted"


def test_an_unchanged_file_is_not_read_again_for_a_snapshot(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = workspace.root / "notes" / "old"
    old.write_text("x")
    read: list[object] = []
    real = workspace._files.sha256

    def counted(parts: tuple[str, ...]) -> str:
        read.append(parts)
        return real(parts)

    monkeypatch.setattr(workspace._files, "sha256", counted)
    monkeypatch.setattr("runtime.survey._YOUNG", -1)
    first = workspace.snapshot()
    assert workspace.snapshot() == first
    assert len(read) == 1
    old.write_text("y")
    assert workspace.snapshot().files["notes/old"] != first.files["notes/old"]


def test_a_change_of_another_workspace_is_refused(tmp_path: Path) -> None:
    made = Workspace.create(tmp_path / "one", tmp_path / "c").write("a", "1")
    other = Workspace.create(tmp_path / "two", tmp_path / "c")
    for change, code in ((made.id, "change_elsewhere"), ("nonsense", "change_unknown")):
        with pytest.raises(WorkspaceError) as error:
            other.undo(change)
        assert refusal(error) == code


def test_the_memory_of_changes_may_not_lie_inside(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError) as error:
        Workspace(tmp_path / "root", tmp_path / "root" / "changes")
    assert refusal(error) == "workspace_holds_changes"


def test_threads_take_turns(workspace: Workspace) -> None:
    def work() -> None:
        for _ in range(10):
            workspace.append("log", "line\n")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert workspace.read_text("log") == "line\n" * 40
    assert len(workspace.history()) == 40
