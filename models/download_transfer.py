"""The work of one download in a thread: fetch, check and put in place, going on wherever it was cut off."""

from __future__ import annotations

import logging
import shutil
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from models.download import Pace, State
from models.download_faults import full, goes_on, unexpected, unwritable
from models.download_record import FULL, Piece, Record, Shelf
from models.errors import EngineError, Field
from models.hub import Hub, Located
from models.hub_files import below
from models.partial import Part, is_right, put

if TYPE_CHECKING:
    import httpx2

PASSING = ("hub_unreachable", "hub_unavailable")
"""Codes of failures after which it is tried again."""

_WINDOW = 5.0
"""Seconds of which the speed is told."""

_log = logging.getLogger("orion.models")
_Got = TypeVar("_Got")


@dataclass(frozen=True, slots=True)
class Now:
    """How the work stands, for other threads; replaced as a whole."""

    state: State
    done: int = 0
    speed: float = 0.0
    code: str = ""
    fields: tuple[tuple[str, Field], ...] = ()


class _Halted(Exception):
    """The owner wants no more."""


class Transfer:
    """Works on `record`, whose folder is `shelf` and is held by this process, until all its files lie below
    `folder` or something forbids it. `told` is called in the thread of `run` after changes of `now`."""

    def __init__(
        self, hub: Hub, record: Record, shelf: Shelf, folder: Path, pace: Pace, told: Callable[[], None]
    ) -> None:
        self.record = record
        self.now = Now("queued", sum(_here(piece) for piece in record.pieces))
        self._hub = hub
        self._shelf = shelf
        self._folder = folder
        self._pace = pace
        self._told = told
        self._halt = threading.Event()
        self._socket: socket.socket | None = None
        self._guard = threading.Lock()
        self._last_told = self._last_sync = 0.0
        self._samples: deque[tuple[float, int]] = deque()
        self._forgot = False

    @property
    def path(self) -> Path:
        """Where the first file lies or will lie."""
        return self._target(self.record.pieces[0])

    def halt(self) -> None:
        """Make `run` return soon, whatever it waits for; from any thread."""
        self._halt.set()
        self._hang_up()

    def _hang_up(self) -> None:
        with self._guard:
            if self._socket is not None:
                try:
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)  # the one below TLS, if there is
                except OSError:
                    _log.debug("the connection of a download had ended already")

    def run(self) -> None:
        """Blocks until `now` is done, failed or paused: halted, or a full disk, which has a code."""
        try:
            self._keep(replace(self.record, state="running", code="", fields={}))
            self._shelf.reserve()
            self._say("running")
            self._files()
            self._place()
            self._shelf.remove()
            self._say("done", done=self._total())
        except _Halted:
            self._say("paused", done=self._kept())
        except EngineError as error:
            self._end("paused" if error.code == "disk_full_for_model" else "failed", error)
        except OSError as error:
            if error.errno in FULL:
                self._end("paused", self._full())
            else:
                self._end("failed", unwritable(error, self._folder))
        except Exception as error:  # noqa: BLE001 (the boundary of the thread)
            _log.exception("a download ended unexpectedly")
            self._end("failed", unexpected(error, self.record.wanted.title))

    # --- one file after the other -------------------------------------------------------------------

    def _files(self) -> None:
        for index in range(len(self.record.pieces)):
            self._file(index)

    def _file(self, index: int) -> None:
        piece = self.record.pieces[index]
        if piece.whole and (self._shelf.part(index).exists() or self._there(index)):
            return
        self._adopt(index, self._patiently(lambda: self._look(index)))
        if self._there(index):
            self._shelf.part(index).unlink(missing_ok=True)  # else what came of it would be put over it
            self._keep(self.record.with_piece(index, whole=True))
            return
        for _attempt in range(2):
            self._room()
            if self._fetched(index):
                return
            _log.warning("a file came with a wrong checksum and is dropped")
        raise EngineError("download_corrupt", name=piece.name)

    def _look(self, index: int) -> Located:
        """What the hub says of a file. Where the pinned commit is gone, everything begins anew, once. A
        mirror that does not know this question is not asked it where hash and size are known."""
        piece, record = self.record.pieces[index], self.record
        name = piece.name
        try:
            return self._hub.look(record.wanted.repository, record.revision, name, self._opened)
        except EngineError as error:
            if error.code == "hub_unusable" and piece.sha256 and piece.size >= 0:
                return Located("", piece.size, piece.sha256, "")
            if not error.fields.get("revision") or not record.commit or self._forgot:
                raise
            self._forgot = True
            pieces = tuple(replace(piece, synced=0, whole=False) for piece in record.pieces)
            self._keep(replace(record, commit="", pieces=pieces))
            found = self._hub.look(record.wanted.repository, record.wanted.revision, name, self._opened)
            for earlier in range(index):
                self._file(earlier)
            return found

    def _adopt(self, index: int, located: Located) -> None:
        """Take size and hash as the hub has them now; a part of another file is dropped."""
        piece = self.record.pieces[index]
        sha256 = located.sha256 or piece.sha256
        git = "" if sha256 else located.git or piece.git
        size = located.size if located.size >= 0 else piece.size
        if not (sha256 or git) or size < 0:
            raise EngineError("download_unverified", host=self._hub.host, name=piece.name)
        same = (size, sha256, git) == (piece.size, piece.sha256, piece.git) and not piece.whole
        synced = piece.synced if same else 0
        changed = self.record.with_piece(index, size=size, sha256=sha256, git=git, synced=synced, whole=False)
        self._keep(replace(changed, commit=self.record.commit or located.commit))

    def _there(self, index: int) -> bool:
        """Whether the file is in its place already."""
        piece = self.record.pieces[index]
        target = self._target(piece)
        if piece.size < 0 or not target.is_file():
            return False
        self._say("checking")
        right = is_right(target, piece, self._alive)
        self._say("running")
        return right

    def _fetched(self, index: int) -> bool:
        """Whether the file is whole and right now; a wrong one is dropped."""
        piece = self.record.pieces[index]
        with closing(Part(self._shelf.part(index), piece)) as part:
            if piece.synced:
                self._say("checking")
            part.go_on(piece.synced, self._alive)
            self._say("running", done=self._done(index, part.size))
            try:
                self._patiently(lambda: self._bytes(index, part), part)
            finally:
                self._sync(index, part)
            self._say("checking")
            if not part.right():
                part.reset()
                self._keep(self.record.with_piece(index, synced=0))
                return False
        self._keep(self.record.with_piece(index, whole=True))
        return True

    # --- bytes --------------------------------------------------------------------------------------

    def _bytes(self, index: int, part: Part) -> None:
        """Read what is missing. EngineError where not all of it came."""
        piece, record = self.record.pieces[index], self.record
        repository = record.wanted.repository
        for _attempt in range(3):
            if part.size == piece.size:
                return
            begin = part.size
            with self._hub.fetch(repository, record.revision, piece.name, begin, self._opened) as response:
                if not goes_on(response, begin, piece.size):
                    part.reset()
                if response.status_code == 416 or (response.status_code == 206 and begin != part.size):
                    continue
                self._read(index, part, response)
        if part.size < piece.size:
            raise EngineError("hub_unreachable", host=self._hub.host, reason="the answer ended too early")

    def _read(self, index: int, part: Part, response: httpx2.Response) -> None:
        size = self.record.pieces[index].size
        for chunk in response.iter_raw():
            self._check()
            if part.size + len(chunk) > size:
                part.reset()
                raise EngineError("hub_unreachable", host=response.url.host, reason="too many bytes came")
            part.write(chunk)
            self._tick(index, part)

    def _tick(self, index: int, part: Part) -> None:
        """After every piece: now and then make it durable, look at the disk and tell."""
        now = time.monotonic()
        if now - self._last_sync >= self._pace.sync:
            self._last_sync = now
            self._sync(index, part)
            if self._free() < self._pace.spare:
                raise self._full()
        if now - self._last_told >= self._pace.tell:
            self._last_told = now
            done = self._done(index, part.size)
            self._say("running", done=done, speed=self._speed(now, done))

    def _sync(self, index: int, part: Part) -> None:
        durable = part.sync()
        if durable != self.record.pieces[index].synced:
            self._keep(self.record.with_piece(index, synced=durable))

    def _speed(self, now: float, done: int) -> float:
        samples = self._samples
        if samples and samples[-1][1] > done:
            samples.clear()
        samples.append((now, done))
        while now - samples[0][0] > _WINDOW:
            samples.popleft()
        passed = now - samples[0][0]
        return (done - samples[0][1]) / passed if passed > 0 else 0.0

    def _opened(self, stream: Any) -> None:
        """A connection stands; `halt` ends it, so that a read that waits comes back."""
        with self._guard:
            self._socket = stream.get_extra_info("socket")
        if self._halt.is_set():
            self._hang_up()

    # --- patience -----------------------------------------------------------------------------------

    def _patiently(self, work: Callable[[], _Got], part: Part | None = None) -> _Got:
        """`work`, again after failures that pass; those after which `part` has grown do not count."""
        tries = 0
        while True:
            self._check()
            before = part.size if part else 0
            try:
                return work()
            except EngineError as error:
                self._check()
                tries = 1 if part and part.size > before else tries + 1
                if error.code not in PASSING or tries >= self._pace.tries:
                    raise
                self._wait(tries, error)

    def _wait(self, tries: int, error: EngineError) -> None:
        asked = float(error.fields.get("seconds") or 0)
        seconds = asked or min(self._pace.first_wait * 2 ** (tries - 1), self._pace.longest_wait)
        reason = str(error.fields.get("reason") or f"HTTP status {error.fields.get('status')}")
        host = str(error.fields.get("host", self._hub.host))
        self._samples.clear()
        waiting = {"host": host, "reason": reason, "seconds": round(seconds)}
        self._say("running", speed=0.0, code="download_waiting", fields=waiting)
        if self._halt.wait(seconds):
            raise _Halted
        self._say("running")

    def _check(self) -> None:
        if self._halt.is_set():
            raise _Halted

    def _alive(self, _size: int) -> None:
        self._check()

    # --- the disk -----------------------------------------------------------------------------------

    def _place(self) -> None:
        """The first file last: without it a model that was split is none."""
        for index, piece in enumerate(self.record.pieces):
            if not (self._shelf.part(index).exists() or self._target(piece).is_file()):
                self._file(index)  # somebody took it away since it was seen in its place
        self._check()
        self._say("checking")
        for index in reversed(range(len(self.record.pieces))):
            part = self._shelf.part(index)
            if part.exists():
                put(part, self._target(self.record.pieces[index]))

    def _target(self, piece: Piece) -> Path:
        into = self.record.wanted.into
        return self._folder.joinpath(*(below(into).parts if into else ()), *below(piece.name).parts)

    def _room(self) -> None:
        if self._free() - self._needed() < self._pace.spare:
            raise self._full()

    def _needed(self) -> int:
        return sum(max(0, piece.size - _here(piece)) for piece in self.record.pieces)

    def _free(self) -> int:
        try:
            return shutil.disk_usage(self._shelf.folder).free
        except OSError:
            return 0

    def _full(self) -> EngineError:
        return full(self.record.wanted.title, self._folder, self._needed() + self._pace.spare, self._free())

    # --- what is told and kept ----------------------------------------------------------------------

    def _keep(self, record: Record) -> None:
        self.record = record
        self._shelf.write(record)

    def _end(self, state: State, error: EngineError) -> None:
        record = replace(self.record, state=state, code=error.code, fields=error.fields)
        try:
            self._keep(record)
        except OSError as other:
            _log.warning("the record of a download could not be written: %s", other.strerror)
        self._say(state, done=self._kept(), code=error.code, fields=error.fields)

    def _say(self, state: State, *, fields: dict[str, Field] | None = None, **changes: Any) -> None:
        shown = {"code": "", "speed": self.now.speed if state == "running" else 0.0, **changes}
        self.now = replace(self.now, state=state, fields=tuple((fields or {}).items()), **shown)
        self._told()

    def _done(self, index: int, size: int) -> int:
        return size + sum(_here(piece) for number, piece in enumerate(self.record.pieces) if number != index)

    def _kept(self) -> int:
        return sum(_here(piece) for piece in self.record.pieces)

    def _total(self) -> int:
        return sum(max(0, piece.size) for piece in self.record.pieces)


def _here(piece: Piece) -> int:
    return piece.size if piece.whole else piece.synced
