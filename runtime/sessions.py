"""The user's conversations on disk: list, search, create, rename, delete, restore, fork, export, import."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from pathlib import Path

from runtime.errors import OrionError
from runtime.export import as_markdown
from runtime.index import Entries, Index
from runtime.journal import Journal, Record, parse
from runtime.locks import Lock
from runtime.rows import Rows
from runtime.transcript import Transcript

_ID = re.compile(r"^[0-9A-Za-z][0-9A-Za-z._-]{0,99}$")


class SessionStore:
    """The journals in `folder`, with their index. Blocking, milliseconds; used from the runtime's loop.

    Every method that takes an id raises OrionError `session_unknown` for one that is not there. Deleted
    sessions lie in `folder`/deleted until they are restored.
    """

    def __init__(self, folder: Path, index: Path, door: str) -> None:
        self._folder = folder
        self._index_path = index
        self._index: Index | None = None
        self._door = door
        self._open: dict[str, Journal] = {}

    def list(self, limit: int = 200) -> Entries:
        """Newest first: {id, title, profile, updated, messages, preview, interrupted, fault}."""
        return self._opened().list(limit)

    def search(self, text: str, limit: int = 50) -> Entries:
        """Like `list`, those that hold the words, each with a `snippet`."""
        return self._opened().search(text, limit)

    def exists(self, session: str) -> bool:
        """Whether there is such a session."""
        return self._path(session).exists()

    def create(self, profile: str, model: str = "", title: str = "") -> str:
        """A new session's id; its journal holds the header. An empty `model` means the profile's own."""
        session = _new_id()
        journal = Journal(self._path(session))
        try:
            journal.append("session", title=title)
            journal.append("mode", profile=profile, model=model)
        finally:
            journal.close()
        return session

    def open(self, session: str) -> tuple[Journal, Lock]:
        """The journal under its lock, both for the caller to close.

        Raises OrionError `session_locked` when another process or door has it, `format_newer`.
        """
        path = self._existing(session)
        lock = self._lock(session)
        try:
            journal = self._open[session] = Journal(path)
        except OrionError:
            lock.release()
            raise
        return journal, lock

    def rename(self, session: str, title: str) -> None:
        """Give a session another title, open in this process or nowhere."""
        if session in self._open and self._open[session].open:
            self._open[session].append("title", title=title)
            return
        journal, lock = self.open(session)
        try:
            journal.append("title", title=title)
        finally:
            journal.close()
            lock.release()

    def delete(self, session: str) -> str:
        """Put a session that is not open aside; the token for `restore` is returned."""
        path = self._existing(session)
        lock = self._lock(session)
        try:
            aside = self._folder / "deleted"
            aside.mkdir(exist_ok=True)
            os.replace(path, aside / path.name)
        finally:
            lock.release()
        return session

    def restore(self, token: str) -> None:
        """Bring a deleted session back."""
        aside = self._folder / "deleted" / self._path(token).name
        if not aside.exists():
            raise OrionError("session_unknown", id=token)
        os.replace(aside, self._path(token))

    def export(self, session: str, form: str = "markdown") -> str:
        """The whole conversation as `markdown` or `json`; the JSON can be imported again."""
        path = self._existing(session)
        _, records, _ = parse(path.read_bytes(), path)
        if form == "json":
            lines = [json.loads(record.line()) for record in records]
            return json.dumps({"format": "orion-session", "v": 1, "records": lines}, indent=1)
        title = next((str(r.data["title"]) for r in reversed(records) if r.type == "title"), session)
        return as_markdown(title, Rows(_chain(records)).settle(False))

    def import_(self, text: str) -> str:
        """A new session from exported JSON: text from outside, of which nothing runs and in which nothing is
        allowed yet, whatever it says. Raises OrionError `import_unreadable`."""
        try:
            data = json.loads(text)
            if data["format"] != "orion-session" or data["v"] != 1:
                raise ValueError(f"format {data['format']!r}, version {data['v']!r}")
            lines = b"".join(json.dumps(record).encode("ascii") + b"\n" for record in data["records"])
        except (ValueError, KeyError, TypeError) as error:
            raise OrionError("import_unreadable", problem=str(error)) from error
        session = _new_id()
        path = self._path(session)
        _, records, bad = parse(lines, path)
        if bad or not records:
            raise OrionError("import_unreadable", problem=f"record {bad[0][0]}" if bad else "no records")
        _try_out(records)
        _copy([*map(_from_outside, records), *_ending(records)], path)
        return session

    def fork(self, session: str, message: str) -> str:
        """A new session with the conversation up to and including record `message`."""
        path = self._existing(session)
        _, records, _ = parse(path.read_bytes(), path)
        chain = _chain(records, message)
        title = next((str(r.data["title"]) for r in reversed(records) if r.type == "title"), "")
        forked = _new_id()
        journal = Journal(None)
        header = journal.append("session", title=title, forked_from=session)
        rest = [record for record in chain if record.type != "session"]
        journal.records = [header, *rest]
        journal.branch(rest[-1].id if rest else header.id)
        for record in _heard(records, {record.id for record in rest}):
            journal.append("heard", **record.data)
        journal.append("title", title=title)
        journal.append("done", reason="complete")
        _copy(journal.records, self._path(forked))
        return forked

    def close(self) -> None:
        """Close the index; idempotent."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def _opened(self) -> Index:
        if self._index is None:
            self._index = Index(self._index_path, self._folder)
        return self._index

    def _lock(self, session: str) -> Lock:
        return Lock(self._folder / "locks" / session, self._door, "session_locked")

    def _existing(self, session: str) -> Path:
        path = self._path(session)
        if not path.exists():
            raise OrionError("session_unknown", id=session)
        return path

    def _path(self, session: str) -> Path:
        if not _ID.match(session):
            raise OrionError("session_unknown", id=session)
        return self._folder / f"{session}.jsonl"


def _new_id() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


def _chain(records: list[Record], head: str | None = None) -> list[Record]:
    """The chain to `head` (the last record unless told). Raises OrionError `message_unknown`."""
    if head is not None and all(record.id != head for record in records):
        raise OrionError("message_unknown", id=head)
    journal = Journal(None)
    journal.records = records
    journal.head = head or (records[-1].id if records else None)
    return journal.chain()


def _heard(records: list[Record], kept: set[str]) -> list[Record]:
    """What is known of how much was heard of the spoken answers in `kept`, where that is told outside it."""
    told = [record for record in records if record.type == "heard" and record.data["of"] in kept]
    last = {record.data["of"]: record for record in told}
    return [record for record in last.values() if record.id not in kept]


_LATEST = 32_000_000_000.0
"""Seconds since 1970 that every system knows a date for."""

_UNTOLD = ("session", "title", "mode")
"""Records of which a model hears nothing."""


def _from_outside(record: Record) -> Record:
    """The record, marked as text that came from outside this program, without what it would allow: nobody
    here gave the approvals in it, and what may be done unasked is not for a file to say."""
    data = {key: value for key, value in record.data.items() if key not in ("rule", "autonomy")}
    if record.type == "approval":
        data["digest"] = ""  # that of no call
    return record._replace(data=data if record.type in _UNTOLD else data | {"foreign": True})


def _try_out(records: list[Record]) -> None:
    """Read what somebody may have written by hand in every way in which it will be read. Raises OrionError
    `import_unreadable`."""
    late = next((record for record in records if not 0 <= record.time < _LATEST), None)
    if late is not None:
        raise OrionError("import_unreadable", problem=f"record {late.id[:40]}: {late.time}")
    try:
        chain = _chain(records)
        as_markdown("", Rows(chain).settle(False))
        Transcript(chain).size()
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise OrionError("import_unreadable", problem=f"{type(error).__name__}: {error}") from error


def _ending(records: list[Record]) -> list[Record]:
    """What ends the last turn where it was cut off, so that no call in it is taken up again."""
    turns = [record.type for record in _chain(records) if record.type in ("user", "done")]
    if turns[-1:] != ["user"]:
        return []
    last = records[-1]
    return [Record(secrets.token_hex(6), last.id, last.time, "done", {"reason": "stopped"})]


def _copy(records: list[Record], path: Path) -> None:
    with path.open("xb") as out:
        for record in records:
            out.write(record.line())
        out.flush()
        os.fsync(out.fileno())
