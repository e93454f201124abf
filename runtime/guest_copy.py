"""The copy of the workspace as the synchronisation needs it, and the guest's /workspace as such a copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    pass

Sort = Literal["file", "folder", "link", "other"]


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
