"""The record of all model calls: who answered, how many tokens, what it cost; nothing of what was said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import apsw

from runtime.errors import OrionError
from runtime.messages import Usage

VERSION = 1
PATIENCE_MS = 5000
"""How long a call waits while another process writes."""

KEPT_SUMS = 4
"""Beginnings of days and months whose sums are kept."""

Step = Literal["hour", "day", "month"]

_BUCKETS: dict[Step, str] = {"hour": "%Y-%m-%d %H", "day": "%Y-%m-%d", "month": "%Y-%m"}
_SCHEMA = """
CREATE TABLE calls(
  time REAL NOT NULL, session TEXT NOT NULL, turn TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
  local INTEGER NOT NULL, prompt INTEGER NOT NULL, cached INTEGER NOT NULL, cache_written INTEGER NOT NULL,
  completion INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost REAL, seconds REAL NOT NULL,
  estimated INTEGER NOT NULL);
CREATE INDEX calls_by_time ON calls(time);
CREATE INDEX calls_by_session ON calls(session, turn);
"""
_SUMS = (
    "count(*), ifnull(sum(prompt), 0), ifnull(sum(cached), 0), ifnull(sum(cache_written), 0),"
    " ifnull(sum(completion), 0), ifnull(sum(reasoning), 0), ifnull(sum(cost), 0.0),"
    " ifnull(sum(cost IS NULL), 0), ifnull(sum(estimated), 0)"
)


@dataclass(frozen=True, slots=True)
class Call:
    """One model call. `time` is its end in seconds since the epoch, `seconds` how long it took, `cost` US
    dollars or None where the price is not known. `session` and `turn` are empty for a private session.
    `estimated`: the service never told the tokens, since the reply broke off or it counts none, so they are
    a careful guess."""

    time: float
    session: str
    turn: str
    provider: str
    model: str
    local: bool
    usage: Usage
    cost: float | None
    seconds: float
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Sum:
    """Several calls together. `cost` leaves out the `unknown` calls, those whose price is not known."""

    calls: int = 0
    prompt: int = 0
    cached: int = 0
    cache_written: int = 0
    completion: int = 0
    reasoning: int = 0
    cost: float = 0.0
    unknown: int = 0
    estimated: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(*(getattr(self, name) + getattr(other, name) for name in Sum.__slots__))


@dataclass(frozen=True, slots=True)
class Group:
    """The calls of one model in one stretch of time, such as "2026-11-21"; `local`: on this machine."""

    bucket: str
    provider: str
    model: str
    local: bool
    sum: Sum


class UsageRecord:
    """The file at `path`, which several processes may write at once; made with the first call.

    A call that was added survives the death of the program. Used from one thread; closed by the owner.
    Everything raises OrionError `usage_unusable` (path, reason), `disk_full` or `format_newer`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db: apsw.Connection | None = None
        self._spent: dict[float, tuple[int, float]] = {}

    def add(self, call: Call) -> None:
        """Write one call."""
        usage = call.usage
        values = (
            *(call.time, call.session, call.turn, call.provider, call.model, int(call.local)),
            *(usage.prompt, usage.cached, usage.cache_written, usage.completion, usage.reasoning),
            *(call.cost, call.seconds, int(call.estimated)),
        )
        with self._told():
            self._open().execute(f"INSERT INTO calls VALUES({', '.join('?' * len(values))})", values)

    def total(self, session: str, turn: str = "") -> Sum:
        """The calls of one session, or of one turn of it."""
        condition = "session = ?" + " AND turn = ?" * bool(turn)
        values = (session, turn) if turn else (session,)
        rows = self._rows(f"SELECT {_SUMS} FROM calls WHERE {condition}", values)
        return Sum(*rows[0]) if rows else Sum()

    def spent(self, since: float) -> float:
        """Dollars of the calls from `since` on, as far as they are known. Asked again it reads only what was
        added meanwhile, so that it can be asked before every call."""
        last, cost = self._spent.get(since, (0, 0.0))
        sql = "SELECT max(rowid), sum(cost) FILTER (WHERE time >= ?) FROM calls WHERE rowid > ?"
        for newest, more in self._rows(sql, (since, last)):
            last, cost = newest or last, cost + (more or 0.0)
        if since not in self._spent and len(self._spent) >= KEPT_SUMS:
            self._spent.clear()
        self._spent[since] = (last, cost)
        return cost

    def groups(self, since: float, step: Step) -> list[Group]:
        """The calls from `since` on by stretch of local time and by model, oldest first."""
        sql = (
            f"SELECT strftime('{_BUCKETS[step]}', time, 'unixepoch', 'localtime') AS bucket,"
            f" provider, model, local, {_SUMS} FROM calls WHERE time >= ?"
            " GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3"
        )
        return [
            Group(bucket, provider, model, bool(local), Sum(*sums))
            for bucket, provider, model, local, *sums in self._rows(sql, (since,))
        ]

    def first(self) -> float:
        """When the oldest call ended; 0 where there is none."""
        rows = self._rows("SELECT min(time) FROM calls", ())
        return float(rows[0][0] or 0.0) if rows else 0.0

    def close(self) -> None:
        """Idempotent."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def _rows(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """What `sql` finds; nothing where there is no file yet, which asking does not make."""
        if self._db is None and not self.path.exists():
            return []
        with self._told():
            return list(self._open().execute(sql, values))

    def _open(self) -> apsw.Connection:
        if self._db is None:
            db = apsw.Connection(str(self.path))
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db

    def _prepare(self, db: apsw.Connection) -> None:
        db.set_busy_timeout(PATIENCE_MS)
        found = next(db.execute("PRAGMA user_version"))[0]
        if found > VERSION:
            raise OrionError("format_newer", path=str(self.path), found=found, known=VERSION)
        db.execute("PRAGMA journal_mode = WAL").fetchall()  # what follows a row waits until it is read
        db.execute("PRAGMA synchronous = NORMAL")
        if found == VERSION:
            return
        db.execute("BEGIN IMMEDIATE")
        try:
            if next(db.execute("PRAGMA user_version"))[0] == 0:  # another process may have been quicker
                db.execute(_SCHEMA)
                db.execute(f"PRAGMA user_version = {VERSION}")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Faults of the database as errors of ours."""
        try:
            yield
        except apsw.FullError as error:
            raise OrionError("disk_full", path=str(self.path)) from error
        except apsw.Error as error:
            raise OrionError("usage_unusable", path=str(self.path), reason=str(error)) from error
