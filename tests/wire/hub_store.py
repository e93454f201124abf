"""What the hub on loopback holds, what it was asked, and what it is to do wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Kind = Literal[
    "cut", "stall", "wrong", "status", "redirect", "whole", "shifted", "refuse_range", "hangup", "unhashed"
]
"""cut: the connection ends after `after` bytes of the body; stall: nothing more comes after them; wrong: a
byte in the middle is another one; status: an answer with `status` and, where `seconds` is set, Retry-After;
redirect: to `to`; whole: Range is ignored, 200; shifted: 206 for another place than was asked for;
refuse_range: 416; hangup: no answer at all; unhashed: no X-Linked-Etag."""
Door = Literal["api", "head", "resolve", "cdn"]

PIECE = 1 << 16
LARGE = (".gguf", ".bin", ".safetensors")
"""What the hub keeps as large files, with a SHA-256 and behind a redirect; others it hands out itself."""


@dataclass(slots=True)
class Misdeed:
    """What the next `times` requests at `door` (head: HEAD of a file, resolve: GET of it) get instead, if the
    path has `file` in it."""

    kind: Kind
    door: Door = "cdn"
    times: int = 1
    after: int = 0
    status: int = 500
    seconds: int | None = None
    to: str = ""
    file: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came; names of headers in lower case. `host` is what the client wanted to reach."""

    method: str
    path: str
    headers: dict[str, str]

    @property
    def host(self) -> str:
        return self.headers.get("host", "")


class Blob:
    """The content of a file with its names: SHA-256 and the hash that git gives it."""

    def __init__(self, content: bytes | Path) -> None:
        self._content = content
        self.size = len(content) if isinstance(content, bytes) else content.stat().st_size
        sha256, git = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % self.size)
        for piece in self.pieces(0, self.size):
            sha256.update(piece)
            git.update(piece)
        self.sha256, self.git = sha256.hexdigest(), git.hexdigest()

    def pieces(self, begin: int, end: int) -> Iterator[bytes]:
        """The bytes from `begin` to before `end`."""
        if isinstance(self._content, bytes):
            for at in range(begin, end, PIECE):
                yield self._content[at : min(at + PIECE, end)]
            return
        with self._content.open("rb") as file:
            file.seek(begin)
            while begin < end and (piece := file.read(min(PIECE, end - begin))):
                begin += len(piece)
                yield piece


@dataclass(slots=True)
class Repository:
    """`history` maps every commit to its files; the last one is "main"."""

    history: dict[str, dict[str, Blob]] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def head(self) -> str:
        return list(self.history)[-1]
