"""What a download is: what was wanted, how it stands, and at which pace it goes about failures."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Literal

from models.errors import EngineError, Field
from models.hub_files import File, below

State = Literal["queued", "running", "paused", "checking", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to fetch: `files` of a repository at `revision` (a commit, or a name such as "main"), all of which
    make up one thing called `title` to the user, into the folder `into`, relative to that of the models."""

    repository: str
    revision: str
    files: tuple[File, ...]
    title: str
    kind: str = "language"
    into: str = ""

    @property
    def id(self) -> str:
        """The same for the same files going to the same place, whatever their revision."""
        told = [self.repository, self.into, sorted(file.name for file in self.files)]
        return hashlib.sha256(json.dumps(told).encode("ascii")).hexdigest()[:12]

    def check(self) -> None:
        """EngineError download_name_refused where a name could lead out of the folder of models."""
        for name in [*([self.into] if self.into else []), *(file.name for file in self.files)]:
            below(name)
        if not self.files:
            raise EngineError("download_name_refused", name="")


@dataclass(frozen=True, slots=True)
class Download:
    """How a download stands. `done` of `total` bytes are here, `speed` is bytes a second of the last seconds,
    `seconds_left` None where nobody can tell. `code` and `fields` say why it failed, pauses by itself or
    waits ("download_waiting" while it is running). `path` is the first file once all are in place. `step`
    grows with every change of any download."""

    id: str
    repository: str
    title: str
    kind: str
    files: tuple[str, ...]
    state: State
    done: int = 0
    total: int = 0
    speed: float = 0.0
    seconds_left: float | None = None
    code: str = ""
    fields: dict[str, Field] = field(default_factory=dict)
    step: int = 0
    path: str = ""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds and bytes. After the n-th failure in a row without a byte gained the next attempt waits
    `first_wait` · 2ⁿ⁻¹, at most `longest_wait`, or what the hub asks for; `tries` of them are the end. What
    came is made durable every `sync` and told every `tell` seconds; `spare` bytes of the disk stay free."""

    first_wait: float = 1.0
    longest_wait: float = 60.0
    tries: int = 8
    sync: float = 1.0
    tell: float = 0.1
    spare: int = 64 << 20
