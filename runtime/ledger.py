"""The network ledger: one entry for every request that leaves this program, with host, time and bytes."""

from __future__ import annotations

import json
import logging
import os
import secrets
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from pathlib import Path

from runtime.errors import OrionError
from runtime.locks import Lock
from runtime.messages import JsonObject

VERSION = 1
FILE = "network.jsonl"
TOTALS = "network.totals.json"
LIMIT = 1_000_000
KEPT = 2

_log = logging.getLogger("orion.network")


@dataclass(frozen=True, slots=True)
class Entry:
    """One request. `time` is when it began, in seconds since the epoch; `who` asked for it and `purpose` is
    what for; `status` is the HTTP status, 0 where no answer came; `sent` and `received` are bytes of HTTP
    headers and bodies as they travel (compressed where they are), without TLS and the frames of a chunked
    body; `seconds` lasts until the answer was read or given up; `local` is a host on this machine; `via` is
    the proxy it went through; `open` is a request that has not ended, or whose process died before it did;
    `refused` is the code of why nothing was sent. There is no path, query or header in it.
    """

    id: str
    time: float
    who: str
    purpose: str
    host: str
    port: int
    method: str
    local: bool = False
    via: str = ""
    status: int = 0
    sent: int = 0
    received: int = 0
    seconds: float = 0.0
    open: bool = False
    refused: str = ""


_FIELDS = tuple(field.name for field in fields(Entry))


@dataclass(frozen=True, slots=True)
class Reached:
    """Everything that went to and came from one host."""

    host: str
    local: bool
    first: float
    last: float
    times: int
    sent: int
    received: int

    def plus(self, other: Reached) -> Reached:
        """Both together."""
        return Reached(
            host=self.host,
            local=self.local,
            first=min(self.first, other.first),
            last=max(self.last, other.last),
            times=self.times + other.times,
            sent=self.sent + other.sent,
            received=self.received + other.received,
        )


def new_id() -> str:
    """A name for an entry."""
    return secrets.token_hex(6)


class Ledger:
    """Appends entries to `folder`/network.jsonl; several processes may write the same file.

    A request is written when it begins and again when it has ended, under the same id, so that a process
    that is killed cannot hide where it was. At `limit` bytes the file is put aside; `kept` old ones stay,
    and of those before them the totals of each host.
    """

    def __init__(self, folder: Path, *, limit: int = LIMIT, kept: int = KEPT) -> None:
        self._folder = folder
        self._limit = limit
        self._kept = kept

    def begin(self, entry: Entry) -> None:
        """Write an entry before its request is sent. Raises OrionError `file_unwritable`; then nothing may
        be sent."""
        try:
            self._append(replace(entry, open=True))
        except OSError as error:
            path = str(self._folder / FILE)
            reason = error.strerror or type(error).__name__
            raise OrionError("file_unwritable", path=path, reason=reason) from error

    def end(self, entry: Entry) -> None:
        """Write what became of it. Where that fails, the entry stays open."""
        try:
            self._append(replace(entry, open=False))
        except OSError as error:
            _log.warning("an entry of the network ledger stays open: %s", error.strerror)

    def refused(self, entry: Entry) -> None:
        """Write that a request was refused; nothing of it was sent, so that a failure here is only logged."""
        try:
            self._append(entry)
        except OSError as error:
            _log.warning("a refusal is not in the network ledger: %s", error.strerror)

    def entries(self, since: float = 0.0) -> list[Entry]:
        """The entries that are kept and began at `since` or later, oldest first. Raises OrionError
        `format_newer`; a torn or damaged line is left out."""
        found = {entry.id: entry for path in self._files() for entry in _read(path)}
        return sorted((e for e in found.values() if e.time >= since), key=lambda entry: entry.time)

    def summary(self) -> list[Reached]:
        """Each host ever reached, the latest first; empty while nothing was."""
        return sorted(self._sums().values(), key=lambda reached: -reached.last)

    def _sums(self) -> dict[str, Reached]:
        return _add(self._totals(), self.entries())

    def _files(self) -> list[Path]:
        """The oldest first."""
        older = [self._folder / f"network.{number}.jsonl" for number in range(self._kept, 0, -1)]
        return [*older, self._folder / FILE]

    def _append(self, entry: Entry) -> None:
        """One write in append mode, which other processes cannot cut in two."""
        data = {"v": VERSION, **{name: getattr(entry, name) for name in _FIELDS}}
        if not entry.refused:
            del data["refused"]
        line = json.dumps(data, separators=(",", ":")) + "\n"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        handle = os.open(self._folder / FILE, flags, 0o600)
        try:
            os.write(handle, line.encode("ascii"))
            full = os.fstat(handle).st_size >= self._limit
        finally:
            os.close(handle)
        if full:
            self._try_to_rotate()

    def _try_to_rotate(self) -> None:
        """What was written stands, whatever keeps the file from being put aside: another process that does
        or did it, or one that has the file open where that forbids it. The next entry tries again."""
        try:
            self._rotate()
        except (OrionError, OSError) as error:
            _log.info("the network ledger was not put aside: %s", error)

    def _rotate(self) -> None:
        """Put the file aside. Only the process that gets the lock does it."""
        lock = Lock(self._folder / "network.lock", "ledger", "file_unwritable")
        try:
            files = self._files()
            if files[-1].stat().st_size < self._limit:
                return
            if files[0].exists():
                self._keep_totals(files)
            for older, newer in pairwise(files):
                if newer.exists():
                    os.replace(newer, older)
        finally:
            lock.release()

    def _keep_totals(self, files: list[Path]) -> None:
        """Add what will be overwritten to the totals, but no entry that ended in a later file."""
        later = {entry.id for path in files[1:] for entry in _read(path)}
        gone = {entry.id: entry for entry in _read(files[0]) if entry.id not in later}
        sums = _add(self._totals(), gone.values())
        data = {"v": VERSION, "hosts": [asdict(reached) for reached in sums.values()]}
        handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=f".{TOTALS}.")
        with os.fdopen(handle, "w", encoding="ascii") as out:
            json.dump(data, out)
        os.replace(temporary, self._folder / TOTALS)

    def _totals(self) -> dict[str, Reached]:
        path = self._folder / TOTALS
        try:
            data = json.loads(path.read_bytes())
            _check(data, path)
            return {entry["host"]: Reached(**entry) for entry in data["hosts"]}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("the totals of the network ledger are unreadable: %s", error)
            return {}


def _add(sums: dict[str, Reached], entries: Iterable[Entry]) -> dict[str, Reached]:
    for entry in entries:
        if entry.refused:
            continue
        one = Reached(entry.host, entry.local, entry.time, entry.time, 1, entry.sent, entry.received)
        sums[entry.host] = sums[entry.host].plus(one) if entry.host in sums else one
    return sums


def _read(path: Path) -> Iterator[Entry]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        with suppress(ValueError, TypeError, AttributeError):
            data: JsonObject = json.loads(line)
            _check(data, path)
            yield Entry(**{name: value for name, value in data.items() if name != "v"})


def _check(data: JsonObject, path: Path) -> None:
    found = data.get("v", VERSION)
    if isinstance(found, int) and found > VERSION:
        raise OrionError("format_newer", path=str(path), found=found, known=VERSION)


def now() -> float:
    """Seconds since the epoch, to the millisecond."""
    return round(time.time(), 3)
