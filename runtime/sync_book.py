"""What is remembered of a copy of the workspace: the common state of both sides, and what is undecided.

Stored form: one JSON object in `changes/copy-<name>.json`, replaced as a whole; contents lie in the content
store beside it. States of files are `[sha256, size, executable]`, null where there is no file.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

from runtime.confine import write_all
from runtime.errors import OrionError
from runtime.locks import Lock

T = TypeVar("T")
VERSION = 1
PATIENCE = 10.0
RUNS = 200
DECISIONS = 100
STEPS = 50_000
"""Files of all stored runs, and of all decisions, together; the oldest are forgotten, the newest never."""
Kind = Literal["apply", "reject", "beside"]


@dataclass(frozen=True, slots=True)
class Mark:
    """The state of a file: SHA-256 of its content, bytes, and whether its owner may run it."""

    sha256: str
    size: int
    executable: bool = False


State = Mark | None
"""None is no file."""
Turn = tuple[State, State]
"""A state and the one that followed it."""


@dataclass(slots=True)
class Run:
    """What one turn changed in the copy; `session` and `turn` are empty where no agent's turn was told."""

    id: str
    session: str
    turn: str
    time: float
    steps: dict[str, Turn] = field(default_factory=dict)


@dataclass(slots=True)
class Decision:
    """What the user decided, and how it turned states: `host` those of files of the host (which became the
    common ones), `agreed` common ones without a change there, `copy` those of the copy."""

    id: str
    kind: Kind
    time: float
    host: dict[str, Turn] = field(default_factory=dict)
    agreed: dict[str, Turn] = field(default_factory=dict)
    copy: dict[str, Turn] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)

    @property
    def weight(self) -> int:
        """How many states it holds."""
        return len(self.host) + len(self.agreed) + len(self.copy)


@dataclass(slots=True)
class Book:
    """`base`: the last common state of each file; `pending`: the copy's state where it differs from that;
    `owed`: what the copy must still be given, valid while it is in the first state; `meant`: states that an
    application (of `meant_by`) or its undoing leaves on the host; `left_out`: files that cannot be synced,
    each with a code; `gone`: folders that are no longer in the copy."""

    volume: str = ""
    base: dict[str, Mark] = field(default_factory=dict)
    pending: dict[str, State] = field(default_factory=dict)
    owed: dict[str, Turn] = field(default_factory=dict)
    meant: dict[str, State] = field(default_factory=dict)
    meant_by: str = ""
    left_out: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)

    def known(self, path: str) -> State:
        """What the copy has there once nothing is owed any more."""
        return self.pending[path] if path in self.pending else self.base.get(path)

    def set_base(self, path: str, state: State) -> None:
        """Make `state` the common one and the copy's."""
        if state is None:
            self.base.pop(path, None)
        else:
            self.base[path] = state
        self.pending.pop(path, None)

    def rebase(self, path: str, state: State) -> None:
        """Make `state` the common one; the copy keeps its own."""
        known = self.known(path)
        self.set_base(path, state)
        self.set_copy(path, known)

    def set_copy(self, path: str, state: State) -> None:
        """Note what the copy has; what is a difference is pending."""
        if state == self.base.get(path):
            self.pending.pop(path, None)
        else:
            self.pending[path] = state

    def owe(self, path: str, state: State) -> None:
        """Have the copy get `state` at the next chance, and count it as done."""
        was = self.owed[path][0] if path in self.owed else self.known(path)
        self.set_copy(path, state)
        if was == state:
            self.owed.pop(path, None)
        else:
            self.owed[path] = (was, state)

    def run(self, session: str, turn: str) -> Run:
        """The run of that turn, begun when it is not known; work that nobody told a turn of is one run
        until an agent's turn comes in between."""
        of_turn = (run for run in reversed(self.runs) if (run.session, run.turn) == (session, turn))
        found = next(of_turn, None)
        if found is None or (not turn and found is not self.runs[-1]):
            found = Run(secrets.token_hex(8), session, turn, now())
            self.runs.append(found)
            del self.runs[:-RUNS]
        return found

    def runs_of(self, path: str) -> list[str]:
        return [run.id for run in self.runs if path in run.steps]

    def as_dict(self) -> dict[str, Any]:
        """The stored form; JSON-serialisable."""
        return {
            "v": VERSION,
            "volume": self.volume,
            "base": _stored(self.base),
            "pending": _stored(self.pending),
            "owed": _turns(self.owed),
            "meant": _stored(self.meant),
            "meant_by": self.meant_by,
            "left_out": self.left_out,
            "gone": self.gone,
            "runs": [
                {
                    "id": run.id,
                    "session": run.session,
                    "turn": run.turn,
                    "time": run.time,
                    "steps": _turns(run.steps),
                }
                for run in _newest(self.runs, [len(run.steps) for run in self.runs], RUNS)
            ],
            "decisions": [
                {
                    "id": made.id,
                    "kind": made.kind,
                    "time": made.time,
                    "host": _turns(made.host),
                    "agreed": _turns(made.agreed),
                    "copy": _turns(made.copy),
                    "runs": made.runs,
                }
                for made in _newest(self.decisions, [made.weight for made in self.decisions], DECISIONS)
            ],
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Book:
        """Read the stored form. Raises KeyError, TypeError or ValueError when it is damaged."""
        pending = {str(path): _state(state) for path, state in stored["pending"].items()}
        return cls(
            volume=str(stored["volume"]),
            base={str(path): _mark(state) for path, state in stored["base"].items()},
            pending=pending,
            owed=_read_turns(stored["owed"]),
            meant={str(path): _state(state) for path, state in stored["meant"].items()},
            meant_by=str(stored["meant_by"]),
            left_out={str(path): str(code) for path, code in stored["left_out"].items()},
            gone=[str(folder) for folder in stored["gone"]],
            runs=[
                Run(
                    str(run["id"]),
                    str(run["session"]),
                    str(run["turn"]),
                    float(run["time"]),
                    _read_turns(run["steps"]),
                )
                for run in stored["runs"]
            ],
            decisions=[_decision(made) for made in stored["decisions"]],
        )


def _newest(items: Sequence[T], weights: Sequence[int], count: int) -> Sequence[T]:
    """The last of `items` that are together not too many; at least one."""
    kept, total = 0, 0
    for weight in reversed(weights):
        total += weight
        if kept and (total > STEPS or kept >= count):
            break
        kept += 1
    return items[len(items) - kept :]


def now() -> float:
    """Seconds since the epoch, as they are stored."""
    return round(time.time(), 3)


# --- the file -----------------------------------------------------------------------------------------


class BookFile:
    """The book on disk, shared by the processes of one home. Any thread; `hold` it from `load` to `save`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.patience = PATIENCE

    def hold(self) -> Lock:
        """Keep other processes from changing it; the caller releases. Raises OrionError `review_busy`."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                return Lock(self.path.with_suffix(".lock"), "review", "review_busy")
            except OSError as error:
                raise self._unwritable(error) from error
            except OrionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def load(self) -> Book:
        """The book, an empty one where there is none. Raises OrionError `review_damaged`, `format_newer`."""
        try:
            stored = json.loads(self.path.read_bytes())
            found = int(stored["v"])
            if found > VERSION:
                raise OrionError("format_newer", path=str(self.path), found=found, known=VERSION)
            return Book.from_dict(stored)
        except FileNotFoundError:
            return Book()
        except OSError as error:
            raise self._unwritable(error) from error
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise OrionError("review_damaged", path=str(self.path)) from error

    def save(self, book: Book) -> None:
        """Replace it durably in one step; a kill leaves the old one or the new one."""
        beside = self.path.with_suffix(".new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(beside, flags, 0o600)
            try:
                write_all(descriptor, json.dumps(book.as_dict(), separators=(",", ":")).encode("ascii"))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(beside, self.path)
            _sync(self.path.parent)
        except OSError as error:
            with suppress(OSError):
                beside.unlink()
            raise self._unwritable(error) from error

    def signature(self) -> tuple[int, int]:
        """Something that differs after every change."""
        try:
            found = self.path.stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_ino

    def _unwritable(self, error: OSError) -> OrionError:
        reason = error.strerror or type(error).__name__
        return OrionError("file_unwritable", path=str(self.path), reason=reason)


def _sync(folder: Path) -> None:
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# --- states as JSON -----------------------------------------------------------------------------------


def _plain(state: State) -> list[Any] | None:
    return None if state is None else [state.sha256, state.size, state.executable]


def _stored(states: Mapping[str, State]) -> dict[str, Any]:
    return {path: _plain(state) for path, state in states.items()}


def _turns(turns: Mapping[str, Turn]) -> dict[str, Any]:
    return {path: [_plain(was), _plain(became)] for path, (was, became) in turns.items()}


def _mark(stored: Any) -> Mark:
    sha256, size, executable = stored
    if not isinstance(sha256, str):
        raise ValueError(f"not a state: {stored}")
    return Mark(sha256, int(size), bool(executable))


def _state(stored: Any) -> State:
    return None if stored is None else _mark(stored)


def _read_turns(stored: Mapping[str, Any]) -> dict[str, Turn]:
    return {str(path): (_state(was), _state(became)) for path, (was, became) in stored.items()}


def _decision(stored: Mapping[str, Any]) -> Decision:
    if stored["kind"] not in get_args(Kind):
        raise ValueError(f"not a decision: {stored}")
    return Decision(
        str(stored["id"]),
        cast(Kind, stored["kind"]),
        float(stored["time"]),
        _read_turns(stored["host"]),
        _read_turns(stored["agreed"]),
        _read_turns(stored["copy"]),
        [str(run) for run in stored["runs"]],
    )
