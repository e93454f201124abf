"""The guest's files: listed with hashes, read, written at once or not at all, and never through a link."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.errors import SandboxError
from sandbox.files import Fetched, GuestFiles, Put
from sandbox.guest.files import Files
from sandbox.guest.files_folder import Folder
from sandbox.guest.files_listing import Hashes, Listing
from sandbox.guest.files_packing import DATA, END, HEAD, packed, told
from sandbox.guest.peer import Call, Operation
from tests.sandbox.guest.pairs import pair


def served(files: Files) -> dict[str, Operation]:
    """The operations over a workspace of the test's own."""
    names = ("list", "look", "get", "put", "remove", "make_folder")
    return {f"files.{name}": getattr(files, name) for name in names}


def with_files(root: Path, work: Callable[[GuestFiles], Awaitable[None]], *, anywhere: bool = False) -> None:
    async def run() -> None:
        async with pair(guest=served(Files(str(root)))) as (host, _):
            await work(GuestFiles(host, anywhere=anywhere))

    asyncio.run(run())


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_tree_is_listed_with_hashes_and_links_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/ä.md").write_bytes(b"hello")
    (tmp_path / "notes/ä.md").chmod(0o640)
    (tmp_path / "out").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / ".orion-1.tmp").write_bytes(b"half")

    async def work(files: GuestFiles) -> None:
        found = await files.list()
        assert found.complete
        assert [(entry.path, entry.kind) for entry in found.entries] == [
            ("notes", "folder"),
            ("notes/ä.md", "file"),
            ("out", "link"),
            ("pipe", "special"),
        ]
        file, link = found.entries[1], found.entries[2]
        assert (file.size, file.mode, file.sha256) == (5, 0o640, sha(b"hello"))
        assert link.target == "/etc"
        assert [entry.path for entry in (await files.list("notes")).entries] == ["notes/ä.md"]
        assert not (await files.list(limit=2)).complete
        assert [entry.path for entry in (await files.list(depth=1)).entries][:2] == ["notes", "out"]

    with_files(tmp_path, work)


def test_names_that_are_not_unicode_come_and_go_unharmed(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (tmp_path / name).write_bytes(b"1")

    async def work(files: GuestFiles) -> None:
        (entry,) = (await files.list()).entries
        assert entry.path == name
        assert (await files.read(entry.path)).data == b"1"

    with_files(tmp_path, work)


class Counted(Hashes):
    """Counts the files that had to be read."""

    read = 0

    def keep(self, found: os.stat_result, digest: str) -> None:
        self.read += 1
        super().keep(found, digest)


def test_a_file_is_read_again_only_where_it_changed(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_bytes(name.encode())
    hashes, folder = Counted(), Folder(str(tmp_path))

    def listed() -> dict[str, str]:
        return {entry["path"]: entry["sha256"] for entry in Listing(folder, hashes).entries("")}

    while not all(hashes.known(path.stat()) for path in tmp_path.iterdir()):  # too young to be sure of
        listed()
    hashes.read = 0
    listed()
    assert hashes.read == 0
    before = (tmp_path / "b").stat()
    (tmp_path / "b").write_bytes(b"x")
    os.utime(tmp_path / "b", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert listed()["b"] == sha(b"x")
    assert hashes.read == 1


def test_many_files_are_written_and_read_in_one_stream(tmp_path: Path) -> None:
    big = os.urandom(3_000_001)
    wanted = {"big.bin": big, "empty": b"", "a/b/c.txt": b"deep"} | {f"n{i}": b"%d" % i for i in range(300)}

    async def work(files: GuestFiles) -> None:
        assert await files.put_many(Put(path, data) for path, data in wanted.items()) == {}
        found = {fetched.path: fetched async for fetched in files.get_many(wanted)}
        assert {path: fetched.data for path, fetched in found.items()} == wanted
        assert found["big.bin"].sha256 == sha(big)

    with_files(tmp_path, work)
    assert (tmp_path / "a/b/c.txt").read_bytes() == b"deep"
    assert not list(tmp_path.rglob(".orion-*"))


def test_a_file_keeps_its_mode_or_gets_the_one_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_bytes(b"old")
    (tmp_path / "run.sh").chmod(0o755)

    async def work(files: GuestFiles) -> None:
        await files.write("run.sh", b"new")
        await files.write("plain", b"", mode=0o600)
        await files.put_many([Put("dated", b"", 0o4755, mtime_ns=1_000_000_000)])

    with_files(tmp_path, work)
    assert (tmp_path / "run.sh").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "plain").stat().st_mode & 0o7777 == 0o600
    assert (tmp_path / "dated").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "dated").stat().st_mtime == 1


def test_what_is_expected_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"theirs")
    (tmp_path / "b").write_bytes(b"mine")

    async def work(files: GuestFiles) -> None:
        failed = await files.put_many(
            [
                Put("a", b"new", expected=sha(b"mine")),
                Put("b", b"new", expected=sha(b"mine")),
                Put("c", b"new", expected=""),
                Put("d", b"new", expected=sha(b"mine")),
            ]
        )
        assert failed == {"a": "conflict", "d": "conflict"}
        assert await files.remove_many([("a", sha(b"mine")), ("c", sha(b"new"))]) == {"a": "conflict"}

    with_files(tmp_path, work)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"theirs", "b": b"new"}


def test_no_path_leads_out_of_the_workspace(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    (root / "link").symlink_to(outside)
    (root / "file").symlink_to(outside / "secret")
    os.mkfifo(root / "pipe")
    refused = {
        "../outside/secret": "path",
        "/etc/passwd": "path",
        "link/secret": "link",
        "file": "link",
        "a//b": "path",
        "": "folder",
        "pipe": "special",
        "nothing": "missing",
        "x\0y": "path",
        "a" * 300: "path",
    }

    async def work(files: GuestFiles) -> None:
        found = {fetched.path: fetched.error async for fetched in files.get_many(refused)}
        assert found == refused
        failed = await files.put_many([Put("link/new", b"x"), Put("file", b"x"), Put("../new", b"x")])
        assert failed == {"link/new": "link", "file": "link", "../new": "path"}
        with pytest.raises(SandboxError) as caught:
            await files.list("link")
        assert caught.value.code == "guest_file_link"

    with_files(root, work)
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]


def test_things_are_removed_and_emptied_folders_with_them(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/one").write_bytes(b"1")
    (tmp_path / "two").symlink_to("/etc")

    async def work(files: GuestFiles) -> None:
        with pytest.raises(SandboxError) as caught:
            await files.remove("a")
        assert caught.value.code == "guest_folder_occupied"
        assert await files.remove("two")
        assert not await files.remove("two")
        assert await files.remove_many([("a/b/one", None), ("gone", None)], prune=True) == {}

    with_files(tmp_path, work)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_too_large_is_said_and_the_others_come(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 2_000)
    (tmp_path / "small").write_bytes(b"x")

    async def work(files: GuestFiles) -> None:
        found = [fetched async for fetched in files.get_many(["large", "small"], limit=1_000)]
        assert found[0] == Fetched("large", error="large")
        assert found[1].data == b"x"

    with_files(tmp_path, work)


def test_anywhere_follows_links_and_wants_absolute_paths(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    async def work(files: GuestFiles) -> None:
        await files.write(f"{tmp_path}/link/new", b"x")
        found = await files.look(f"{tmp_path}/link")
        assert found is not None
        assert found[0] == "folder"
        assert await files.look(f"{tmp_path}/nothing") is None
        with pytest.raises(SandboxError):
            await files.read("relative")

    with_files(tmp_path, work, anywhere=True)
    assert (tmp_path / "real/new").read_bytes() == b"x"


def test_a_stream_that_breaks_off_writes_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with pair(guest=served(Files(str(tmp_path)))) as (host, _):
            call = await host.open("files.put")
            await call.send(told(HEAD, path="half"))
            await call.send(packed(DATA, b"x" * 1_000_000))
            await call.send(packed(DATA, b"x" * 1_000_000))
            await call.cancel()

    asyncio.run(run())
    assert list(tmp_path.iterdir()) == []


def _lying(**operations: Operation) -> Callable[[Callable[[GuestFiles], Awaitable[None]]], None]:
    """Has work done with files of a guest that says what it likes."""

    def carry(work: Callable[[GuestFiles], Awaitable[None]]) -> None:
        async def run() -> None:
            served = {f"files.{name}": operation for name, operation in operations.items()}
            async with pair(guest=served) as (host, _):
                await work(GuestFiles(host))

        asyncio.run(run())

    return carry


_GOOD = {"path": "a", "kind": "file", "size": 1, "mtime_ns": 0, "mode": 0o644, "sha256": "0" * 64}


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(_GOOD | {"sha256": "00/dev/zero"}),
        json.dumps(_GOOD | {"sha256": ["0" * 64]}),
        json.dumps(_GOOD | {"kind": "door"}),
        json.dumps(_GOOD | {"path": 7}),
        json.dumps(_GOOD | {"path": "a" * 5_000}),
        json.dumps(_GOOD | {"size": float("inf")}),
        "[" * 100_000,
        "7",
        "\n".join([json.dumps(_GOOD)] * 4),
    ],
)
def test_a_listing_that_lies_is_refused(line: str) -> None:
    async def listed(call: Call) -> dict[str, Any]:
        await call.send(line.encode() + b"\n")
        return {"complete": True, "skipped": []}

    async def work(files: GuestFiles) -> None:
        with pytest.raises(SandboxError, match="guest_file_failed"):
            await files.list(limit=3)

    _lying(list=listed)(work)


def test_files_that_were_not_asked_for_are_refused(tmp_path: Path) -> None:
    end = told(END, path="b", error="", sha256=sha(b""))

    async def get(call: Call) -> dict[str, Any]:
        await call.send((told(HEAD, path="b", mode=0, mtime_ns=0) + end) * (len(call.arguments["paths"]) + 1))
        return {}

    async def work(files: GuestFiles) -> None:
        for asked in (["a"], ["b"]):
            with pytest.raises(SandboxError, match="guest_file_failed"):
                assert not [found async for found in files.get_many(asked)]

    _lying(get=get)(work)


def test_only_what_was_asked_for_can_fail() -> None:
    async def remove(call: Call) -> dict[str, Any]:
        del call
        return {"failed": {"b": "io", "/etc": "io"}, "absent": []}

    async def work(files: GuestFiles) -> None:
        assert await files.remove_many([("a", None), ("b", None)]) == {"b": "io"}

    _lying(remove=remove)(work)
