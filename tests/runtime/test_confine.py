"""Nothing leads out of the folder: not a link, not a device, not a swap in the middle of a call."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from runtime.confine import Confined
from runtime.pathnames import WorkspaceError

SECRET = b"kept outside"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a folder `door`, beside a folder `outside` that holds a secret."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(SECRET)
    (tmp_path / "root" / "door").mkdir(parents=True)
    (tmp_path / "root" / "door" / "file").write_bytes(b"inside")
    return tmp_path / "root"


def put(files: Confined, *parts: str, content: bytes = b"new") -> None:
    files.put(parts, content, mode=None, seen=files.stat(parts), temp=".orion-x.tmp")


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(WorkspaceError) as refused:
        action()
    return refused.value.code


def test_links_are_not_followed_anywhere_on_a_path(root: Path) -> None:
    (root / "link").symlink_to(root.parent / "outside")
    (root / "door" / "alias").symlink_to(root.parent / "outside" / "file")
    (root / "inner").symlink_to("door")
    files = Confined(root)
    for parts in (("link", "file"), ("door", "alias"), ("inner", "file")):
        assert refusal(lambda at=parts: files.read(at, 99)) == "workspace_link"  # type: ignore[misc]
    assert refusal(lambda: put(files, "link", "file")) == "workspace_link"
    assert refusal(lambda: files.names(("link",))) == "workspace_link"
    assert refusal(lambda: files.make_folder(("link", "new"))) == "workspace_link"
    assert (root.parent / "outside" / "file").read_bytes() == SECRET


def test_devices_pipes_and_sockets_are_not_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "pipe")
    monkeypatch.chdir(root)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        files = Confined(root)
        assert refusal(lambda: files.read(("pipe",), 99)) == "workspace_special"
        assert refusal(lambda: files.read(("socket",), 99)) == "workspace_special"
    assert refusal(lambda: files.read(("door",), 99)) == "workspace_not_file"
    assert refusal(lambda: files.read(("door", "file", "x"), 99)) == "workspace_not_folder"
    assert refusal(lambda: files.read(("none",), 99)) == "workspace_not_found"


def test_a_pipe_that_takes_the_place_of_a_file_does_not_hang(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, real = Confined(root), os.open

    def swapping(path: str, flags: int, *rest: int, **more: int) -> int:
        if path == "file":
            (root / "door" / "file").unlink()
            os.mkfifo(root / "door" / "file")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", swapping)
    assert refusal(lambda: files.read(("door", "file"), 99)) == "workspace_special"


@pytest.mark.parametrize("moment", range(1, 7))
def test_a_folder_swapped_for_a_link_before_any_opening_leads_nowhere(
    root: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    files, real, calls = Confined(root), os.open, [0]

    def swapping(path: str, flags: int, *rest: int, **more: int) -> int:
        calls[0] += 1
        if calls[0] == moment:
            (root / "door").rename(root / "aside")
            (root / "door").symlink_to(root.parent / "outside")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", swapping)
    with suppress(WorkspaceError):
        put(files, "door", "file", content=b"agent")
        put(files, "door", "other", content=b"agent")
    assert calls[0] >= moment
    assert sorted(os.listdir(root.parent / "outside")) == ["file"]
    assert (root.parent / "outside" / "file").read_bytes() == SECRET


def test_a_thread_that_keeps_swapping_never_gets_a_secret_in_or_a_file_out(root: Path) -> None:
    files, over = Confined(root), threading.Event()

    def swap() -> None:
        while not over.is_set():
            os.rename(root / "door", root / "aside")
            os.symlink(root.parent / "outside", root / "door")
            os.unlink(root / "door")
            os.rename(root / "aside", root / "door")

    thread = threading.Thread(target=swap)
    thread.start()
    codes: set[str] = set()
    try:
        for number in range(400):
            try:
                put(files, "door", f"file{number % 3}", content=b"agent")
                assert files.read(("door", "file"), 99) == b"inside"
            except WorkspaceError as refused:
                codes.add(refused.code)
    finally:
        over.set()
        thread.join()
    assert sorted(os.listdir(root.parent / "outside")) == ["file"]
    assert codes <= {"workspace_link", "workspace_not_found", "workspace_conflict", "workspace_not_folder"}


def test_a_state_that_changed_at_the_last_moment_is_not_replaced(root: Path) -> None:
    files = Confined(root)
    seen = files.stat(("door", "file"))
    (root / "door" / "file").write_bytes(b"typed by the user")
    for seen_then in (seen, None):
        code = refusal(
            lambda then=seen_then: files.put(  # type: ignore[misc]
                ("door", "file"), b"agent", mode=None, seen=then, temp="t"
            )
        )
        assert code == "workspace_conflict"
    assert seen is not None
    assert refusal(lambda: files.remove(("door", "file"), seen)) == "workspace_conflict"
    assert refusal(lambda: files.move(("door", "file"), ("x",), seen)) == "workspace_conflict"
    assert os.listdir(root / "door") == ["file"]
    assert (root / "door" / "file").read_bytes() == b"typed by the user"


def test_a_file_that_appears_at_the_very_last_moment_is_not_replaced(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, real = Confined(root), os.link

    def late(source: str, target: str, **more: Any) -> None:
        (root / "new").write_bytes(b"typed by the user")
        real(source, target, **more)

    monkeypatch.setattr(os, "link", late)
    code = refusal(lambda: files.put(("new",), b"agent", mode=None, seen=None, temp=".t"))
    assert code == "workspace_exists"
    assert (root / "new").read_bytes() == b"typed by the user"
    assert sorted(os.listdir(root)) == ["door", "new"]


def test_reading_stops_at_its_limit(root: Path) -> None:
    files = Confined(root)
    assert files.read(("door", "file"), 6) == b"inside"
    assert refusal(lambda: files.read(("door", "file"), 5)) == "workspace_file_large"


def test_permission_bits_are_kept_and_given(root: Path) -> None:
    files, parts = Confined(root), ("door", "file")
    files.set_mode(parts, 0o750)
    files.put(parts, b"x", mode=0o750, seen=files.stat(parts), temp="t")
    assert (root / "door" / "file").stat().st_mode & 0o777 == 0o750


def test_a_root_that_vanished_is_said(root: Path) -> None:
    files = Confined(root / "gone")
    assert refusal(lambda: files.stat(("x",))) == "workspace_missing"
    assert refusal(lambda: files.names(())) == "workspace_missing"


@given(
    some.lists(
        some.sampled_from(["..", "link", "door", "file", "up", "", ".", "new"]), min_size=1, max_size=5
    )
)
def test_no_mix_of_components_reads_or_writes_outside(
    tmp_path_factory: pytest.TempPathFactory, components: list[str]
) -> None:
    base = tmp_path_factory.mktemp("soup")
    (base / "file").write_bytes(SECRET)
    (base / "root" / "door").mkdir(parents=True)
    (base / "root" / "link").symlink_to(base)
    (base / "root" / "door" / "up").symlink_to("..")
    (base / "root" / "door" / "file").symlink_to(base / "file")
    files = Confined(base / "root")
    parts = tuple(components)
    if any(part in ("..", "", ".") for part in parts):
        return  # `split` gives no such components
    for action in (lambda: files.read(parts, 99), lambda: put(files, *parts, content=b"agent")):
        try:
            content = action()
        except WorkspaceError:
            continue
        assert content != SECRET
    assert sorted(os.listdir(base)) == ["file", "root"]
    assert (base / "file").read_bytes() == SECRET
