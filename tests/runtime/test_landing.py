"""A change lands as a whole or not at all: on a full or read-only disk, after a kill, in two processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from runtime.changes import ChangeSet, Entry
from runtime.workspace import Workspace, WorkspaceError

HOUSE = Path(__file__).parents[2]

KILLED = """
import os, signal, sys
from pathlib import Path
from runtime.workspace import Workspace
workspace = Workspace(Path(sys.argv[1]), Path(sys.argv[2]))
def dies(*names, **more):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(os, sys.argv[3], dies)
workspace.write(sys.argv[4], "after")
"""

APPENDS = """
import sys
from pathlib import Path
from runtime.workspace import Workspace
workspace = Workspace(Path(sys.argv[1]), Path(sys.argv[2]))
sys.stdin.readline()
for number in range(30):
    workspace.append("log", f"{sys.argv[3]} {number}\\n")
"""


def everything(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.create(tmp_path / "root", tmp_path / "changes")


def test_a_full_disk_leaves_the_old_file_and_nothing_else(small_disk: Path, tmp_path: Path) -> None:
    workspace = Workspace.create(small_disk / "root", tmp_path / "changes")
    made = workspace.write("a", os.urandom(300_000))
    before = workspace.read("a")
    for name in ("a", "new/b"):
        with pytest.raises(WorkspaceError) as error:
            workspace.write(name, os.urandom(900_000))
        assert error.value.code == "disk_full"
        assert error.value.fields["path"] == name
    assert everything(small_disk) == ["root/a"]
    assert not (small_disk / "root" / "new").exists()
    assert workspace.read("a") == before
    assert workspace.history() == (made,)
    assert workspace.write("a", "small").id


def test_a_full_disk_under_the_memory_of_changes_touches_no_file(small_disk: Path, tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path / "root", small_disk / "changes")
    workspace.write("a", "one")
    with pytest.raises(WorkspaceError) as error:
        workspace.write("a", os.urandom(2_000_000))
    assert error.value.code == "disk_full"
    assert workspace.read("a") == b"one"
    assert list((small_disk / "changes" / "incoming").iterdir()) == []
    assert workspace.write("a", "two").id


def test_a_full_disk_under_the_log_leaves_it_whole(small_disk: Path, tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path / "root", small_disk / "changes")
    made = workspace.write("a", "one")
    workspace.write("a", "two")
    with (small_disk / "filler").open("wb", buffering=0) as filler, suppress(OSError):
        while filler.write(bytes(1_000)):
            pass
    log = small_disk / "changes" / "log.jsonl"

    def write_on() -> None:
        for number in range(100):
            workspace.write("a", "one" if number % 2 == 0 else "two")

    with pytest.raises(WorkspaceError, match="disk_full"):
        write_on()
    assert log.read_bytes().endswith(b"\n")
    (small_disk / "filler").unlink()
    assert workspace.history()[0] == made
    assert Workspace(workspace.root, small_disk / "changes").damaged_records() == ()


def test_a_read_only_disk_is_said_to_be_one(read_only: Path, small_disk: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError) as error:
        Workspace.create(read_only / "root", tmp_path / "changes")
    assert error.value.code == "home_unwritable"
    workspace = Workspace.create(small_disk / "root", tmp_path / "changes")
    workspace.write("a", "one")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    actions: tuple[Callable[[], object], ...] = (
        lambda: workspace.write("a", "two"),
        lambda: workspace.delete("a"),
    )
    for action in actions:
        with pytest.raises(WorkspaceError) as error:
            action()
        assert error.value.code == "workspace_read_only"
    assert workspace.read("a") == b"one"
    assert len(workspace.history()) == 1
    broken = Workspace(tmp_path / "other", read_only / "changes")
    (tmp_path / "other").mkdir()
    with pytest.raises(WorkspaceError) as error:
        broken.write("a", "x")
    assert error.value.code == "changes_unwritable"
    assert everything(tmp_path / "other") == []


def test_a_step_that_fails_takes_back_those_before_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        workspace.write(name, f"{name} before")
    after = workspace.keep(b"after")
    first, second, third = (workspace.history()[n].entries[0].after for n in range(3))
    proposal = ChangeSet(
        "",
        0.0,
        str(workspace.root),
        entries=(
            Entry("a", "modified", first, after),
            Entry("b", "deleted", second, None),
            Entry("new/d", "created", None, after),
            Entry("moved", "moved", third, third, source="c"),
        ),
    )
    real = os.link

    def refusing(source: str, target: str, **more: int) -> None:
        if target == "moved":
            raise PermissionError(13, "Permission denied")
        real(source, target, **more)  # type: ignore[arg-type]

    def failing(*names: str, **more: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "link", refusing)
    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(WorkspaceError) as error:
        workspace.apply(proposal)
    assert error.value.code == "workspace_io"
    assert {name: workspace.read(name) for name in everything(workspace.root)} == {
        "a": b"a before",
        "b": b"b before",
        "c": b"c before",
    }
    assert not (workspace.root / "new").exists()
    assert len(workspace.history()) == 3


@pytest.mark.parametrize(("call", "path"), [("replace", "old"), ("link", "new/file"), ("fsync", "old")])
def test_after_a_kill_the_change_is_told_and_its_remains_are_removed(
    workspace: Workspace, tmp_path: Path, call: str, path: str
) -> None:
    workspace.write("old", "before")
    places = [str(workspace.root), str(tmp_path / "changes")]
    child = subprocess.run([sys.executable, "-c", KILLED, *places, call, path], cwd=HOUSE, check=False)
    assert child.returncode == -9
    again = Workspace(workspace.root, tmp_path / "changes")
    assert again.read("old") == b"before"
    for change in again.history()[1:]:
        assert again.outcome(change.id) == "not_applied"
        assert again.undo(change.id) == []
    assert all(".orion" not in node.path for node in again.list_tree().nodes)
    assert again.write(path, "now").id
    assert everything(workspace.root) == sorted({"old", path})
    assert list((tmp_path / "changes" / "incoming").iterdir()) == []


def test_two_processes_share_one_store(workspace: Workspace, tmp_path: Path) -> None:
    places = [str(workspace.root), str(tmp_path / "changes")]
    children = [
        subprocess.Popen([sys.executable, "-c", APPENDS, *places, name], cwd=HOUSE, stdin=subprocess.PIPE)
        for name in ("one", "two")
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write(b"\n")
        child.stdin.close()
    assert [child.wait() for child in children] == [0, 0]
    lines = workspace.read_text("log").splitlines()
    assert sorted(lines) == sorted(f"{name} {number}" for name in ("one", "two") for number in range(30))
    assert len(workspace.history()) == 60
    assert workspace.damaged_records() == ()
    for change in reversed(workspace.history()):
        workspace.undo(change.id)
    assert everything(workspace.root) == []
