"""The copy of the workspace as the synchronisation needs it, and the guest's /workspace as such a copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from runtime.errors import OrionError

if TYPE_CHECKING:
    from sandbox.files import GuestFiles

Sort = Literal["file", "folder", "link", "other"]

TOGETHER = 64_000_000
"""Bytes that one request may bring beyond the largest file: sizes that a guest listed are not believed."""


@dataclass(frozen=True, slots=True)
class Found:
    """One name in the copy; `mode` are the permission bits, `sha256` is empty but for files."""

    path: str
    sort: Sort
    size: int = 0
    mode: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """All names in the copy, links not followed; `unread` names what could not be looked at. When the copy
    holds too many names to list, `complete` is False."""

    found: tuple[Found, ...]
    unread: tuple[str, ...] = ()
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file as it is to be; `expected` is the SHA-256 that must be there just before, "" for nothing."""

    path: str
    content: bytes
    mode: int
    expected: str


class Copy(Protocol):
    """A folder at the other end of a wire. Paths are relative and POSIX; no link is followed, nothing half
    written is ever seen there. Raises OrionError when the wire or the other end is gone."""

    async def list(self) -> Listing: ...

    async def get(self, paths: Sequence[str], limit: int) -> dict[str, bytes]:
        """Contents of files of at most `limit` bytes; what cannot be had is left out."""
        ...

    async def put(self, wanted: Sequence[Wanted]) -> dict[str, str]:
        """Write files with the folders above them; path → code of each that was refused."""
        ...

    async def remove(self, expected: Mapping[str, str]) -> dict[str, str]:
        """Delete the files that have the content given by SHA-256; path → code of each that was refused."""
        ...

    async def remove_folders(self, paths: Sequence[str]) -> None:
        """Remove these folders where they are empty, in the order given."""
        ...


def guest_copy(files: GuestFiles) -> Copy:
    """The guest's /workspace."""
    return _GuestCopy(files)


class _GuestCopy:
    def __init__(self, files: GuestFiles) -> None:
        self._files = files

    async def list(self) -> Listing:
        with _spoken():
            listing = await self._files.list()
        sorts: dict[str, Sort] = {"file": "file", "folder": "folder", "link": "link"}
        return Listing(
            tuple(
                Found(entry.path, sorts.get(entry.kind, "other"), entry.size, entry.mode, entry.sha256)
                for entry in listing.entries
            ),
            tuple(path for path, _why in listing.skipped),
            listing.complete,
        )

    async def get(self, paths: Sequence[str], limit: int) -> dict[str, bytes]:
        contents: dict[str, bytes] = {}
        room = TOGETHER + limit
        with _spoken():
            async with aclosing(self._files.get_many(paths, limit=limit)) as files:
                async for found in files:
                    room -= len(found.data)
                    if room < 0:  # more than the listing said: the next look sees it
                        break
                    if not found.error:
                        contents[found.path] = found.data
        return contents

    async def put(self, wanted: Sequence[Wanted]) -> dict[str, str]:
        from sandbox.files import Put

        puts = [Put(one.path, one.content, mode=one.mode, expected=one.expected) for one in wanted]
        with _spoken():
            return _codes(await self._files.put_many(puts))

    async def remove(self, expected: Mapping[str, str]) -> dict[str, str]:
        with _spoken():
            return _codes(await self._files.remove_many(list(expected.items())))

    async def remove_folders(self, paths: Sequence[str]) -> None:
        with _spoken():
            for path in paths:
                found = await self._files.look(path)
                if found is not None and found[0] == "folder":
                    await self._files.remove_many([(path, None)])


def _codes(refused: Mapping[str, str]) -> dict[str, str]:
    """A file that changed meanwhile is no fault: the next look sees it."""
    meanwhile = ("conflict", "missing", "changing")
    return {path: "changed" if code in meanwhile else code for path, code in refused.items()}


@contextmanager
def _spoken() -> Iterator[None]:
    from sandbox.errors import SandboxError
    from sandbox.guest.call import PeerError, PeerGone

    try:
        yield
    except SandboxError as error:
        raise OrionError(error.code, fault="tool", **error.fields) from error
    except (PeerError, PeerGone) as error:
        raise OrionError("sync_interrupted", fault="tool", reason=str(error)) from error
