"""A rebuildable index over the session journals, for listing and full-text search."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import apsw

from runtime.errors import OrionError
from runtime.journal import Record, parse
from runtime.messages import JsonObject, without_surrogates

VERSION = 2
PREVIEW = 120

Entries = list[JsonObject]
_SCHEMA = """
CREATE TABLE sessions(
  id TEXT PRIMARY KEY, title TEXT, profile TEXT, updated REAL, messages INTEGER, preview TEXT,
  open INTEGER, size INTEGER, lines INTEGER, fault TEXT);
CREATE VIRTUAL TABLE texts USING fts5(session UNINDEXED, record UNINDEXED, text, tokenize='unicode61');
"""


class Index:
    """Lists and searches `folder`/*.jsonl. Reads only what was appended since the last look.

    Used from one thread; several processes may share the file. Closed by the owner.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self._folder = folder
        self._db = self._open(path)

    @staticmethod
    def _open(path: Path) -> apsw.Connection:
        try:
            db = _connect(path)
        except apsw.NotADBError:
            path.unlink()
            db = _connect(path)
        except apsw.Error as error:
            if not os.access(path.parent, os.W_OK):
                raise OrionError("home_unwritable", path=str(path.parent), reason="read-only") from error
            raise OrionError("index_unusable", path=str(path), reason=str(error)) from error
        return db

    def refresh(self) -> None:
        """Take in what changed in the folder. Raises OrionError `disk_full` (path) or `index_unusable`
        (path, reason); what was known before is still listed by the next call."""
        try:
            self._refresh()
        except apsw.FullError as error:
            raise OrionError("disk_full", path=self._db.filename) from error
        except apsw.Error as error:
            raise OrionError("index_unusable", path=self._db.filename, reason=str(error)) from error

    def _refresh(self) -> None:
        known = {row[0]: row[1:] for row in self._db.execute("SELECT id, size, lines FROM sessions")}
        found = {path.stem: path for path in self._folder.glob("*.jsonl")}
        with self._db:
            for session in known.keys() - found.keys():
                self._forget(session)
            for session, path in found.items():
                size = path.stat().st_size
                old_size, old_lines = known.get(session, (0, 0))
                if size < old_size:
                    self._forget(session)
                    old_size = old_lines = 0
                if size != old_size:
                    self._take(session, path, old_size, old_lines)

    def _forget(self, session: str) -> None:
        self._db.execute("DELETE FROM sessions WHERE id = ?", (session,))
        self._db.execute("DELETE FROM texts WHERE session = ?", (session,))

    def _take(self, session: str, path: Path, start: int, lines: int) -> None:
        with path.open("rb") as file:
            file.seek(start)
            raw = file.read()
        raw = raw[: raw.rfind(b"\n") + 1]
        self._db.execute("INSERT OR IGNORE INTO sessions VALUES(?,'','',0,0,'',0,0,0,'')", (session,))
        try:
            _, records, _ = parse(raw, path, lines + 1)
        except OrionError as error:
            self._db.execute(
                "UPDATE sessions SET fault = ?, size = ? WHERE id = ?",
                (error.code, start + len(raw), session),
            )
            return
        for record in records:
            self._apply(session, record)
        size, count = start + len(raw), lines + raw.count(b"\n")
        self._db.execute("UPDATE sessions SET size = ?, lines = ? WHERE id = ?", (size, count, session))

    def _apply(self, session: str, record: Record) -> None:
        data = record.data
        changes: dict[str, Any] = {}
        match record.type:
            case "session" | "title":
                changes["title"] = _plain(str(data.get("title", "")))
                if data.get("profile"):
                    changes["profile"] = str(data["profile"])
            case "mode":
                changes = {"profile": str(data["profile"])} if data.get("profile") else {}
            case "user" | "assistant":
                text = _plain(str(data["text"]))
                if text:
                    self._db.execute("INSERT INTO texts VALUES(?,?,?)", (session, record.id, text))
                changes = {"preview": " ".join(text.split())[:PREVIEW], "updated": record.time}
                self._db.execute("UPDATE sessions SET messages = messages + 1 WHERE id = ?", (session,))
                if record.type == "user":
                    changes["open"] = 1
            case "done":
                changes["open"] = 0
        if record.type == "session":
            changes["updated"] = record.time
        if changes:
            names = ", ".join(f"{name} = ?" for name in changes)
            self._db.execute(f"UPDATE sessions SET {names} WHERE id = ?", (*changes.values(), session))

    def list(self, limit: int) -> Entries:
        """The newest sessions in which something was said, first: {id, title, profile, updated, messages,
        preview, interrupted, fault}."""
        self.refresh()
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM sessions WHERE messages OR fault != '' ORDER BY updated DESC LIMIT ?",
            (limit,),
        )
        return [_entry(row) for row in rows]

    def search(self, text: str, limit: int) -> Entries:
        """Sessions whose title or messages hold all the words, best first, each with a `snippet`."""
        self.refresh()
        words = " ".join('"' + word.replace('"', '""') + '"*' for word in text.replace("\0", " ").split())
        if not words:
            return self.list(limit)
        found: dict[str, JsonObject] = {}
        hits = self._db.execute(
            "SELECT session, snippet(texts, 2, '', '', '…', 12) FROM texts"
            " WHERE texts MATCH ? ORDER BY rank LIMIT ?",
            (words, limit * 20),
        )
        snippets: dict[str, str] = {}
        for session, snippet in hits:
            snippets.setdefault(session, snippet)
        like = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        titled = self._db.execute("SELECT id, '' FROM sessions WHERE title LIKE ? ESCAPE '\\'", (like,))
        for session, snippet in [*titled, *snippets.items()]:
            if session in found or len(found) >= limit:
                continue
            row = self._db.execute(f"SELECT {_COLUMNS} FROM sessions WHERE id = ?", (session,)).fetchone()
            if row:
                found[session] = _entry(row) | {"snippet": snippets.get(session, snippet)}
        return list(found.values())

    def close(self) -> None:
        """Idempotent."""
        self._db.close()


def _plain(text: str) -> str:
    """What SQLite can hold: no lone surrogates, no NUL."""
    return without_surrogates(text).replace("\0", " ")


_COLUMNS = "id, title, profile, updated, messages, preview, open, fault"


def _entry(row: tuple[Any, ...]) -> JsonObject:
    names = ("id", "title", "profile", "updated", "messages", "preview", "interrupted", "fault")
    return dict(zip(names, row, strict=True)) | {"interrupted": bool(row[6])}


def _connect(path: Path) -> apsw.Connection:
    """Open or make the file; one of another version is rebuilt, for it holds nothing of its own."""
    db = apsw.Connection(str(path))
    db.set_busy_timeout(5000)
    db.execute("PRAGMA journal_mode = WAL").fetchall()  # what follows a row waits until it is read
    db.execute("PRAGMA synchronous = NORMAL")
    version = next(db.execute("PRAGMA user_version"))[0]
    if version != VERSION:
        with db:
            for (name,) in list(
                db.execute("SELECT name FROM sqlite_schema WHERE name IN ('sessions', 'texts')")
            ):
                db.execute(f"DROP TABLE {name}")
            db.execute(_SCHEMA)
            db.execute(f"PRAGMA user_version = {VERSION}")
    return db
