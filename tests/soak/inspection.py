"""Opens a home after a kill and names everything that an acknowledged user could miss or have twice."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from runtime.assemble import Runtime, assemble
from runtime.errors import OrionError
from runtime.events import ApprovalRequired, Event
from runtime.journal import Record, parse
from runtime.messages import JsonObject
from runtime.session import Session
from tests.soak.ledger import Acknowledged


@dataclass(slots=True)
class Findings:
    """`problems` are sentences, empty when all is well; the rest counts what was looked at."""

    problems: list[str] = field(default_factory=list)
    sessions: int = 0
    messages: int = 0
    effects: int = 0
    unknown: int = 0
    torn: int = 0
    interrupted: int = 0


async def inspect(home: Path, finish: bool) -> Findings:
    """Check every session of `home`; with `finish` also bring each interrupted turn to its end and check
    again."""
    found = Findings()
    known = Acknowledged(home / "acknowledged.jsonl")
    async with assemble(home, door="inspection") as runtime:
        for path in sorted((home / "sessions").glob("*.jsonl")):
            await _Inspection(runtime, path, known, found).run(finish)
        present = {path.stem for path in (home / "sessions").glob("*.jsonl")}
        found.problems += [f"session {name} is gone" for name in set(known.sessions()) - present]
    return found


class _Inspection:
    """Checks one session."""

    def __init__(self, runtime: Runtime, path: Path, known: Acknowledged, found: Findings) -> None:
        self._runtime = runtime
        self._path = path
        self._id = path.stem
        self._known = known
        self._found = found
        self._answers: set[asyncio.Task[None]] = set()

    async def run(self, finish: bool) -> None:
        self._found.sessions += 1
        if not self._path.read_bytes().endswith(b"\n"):
            self._found.torn += 1
        try:
            session = await self._runtime.open(self._id)
        except OrionError as error:
            self._say(f"does not open: {error.code} {error.fields}")
            return
        self._check(session)
        if session.interrupted:
            self._found.interrupted += 1
            if self._id in self._known.sessions() and not finish:
                self._check_shown(session)
        if finish and self._known.of("said", self._id):
            await self._finish(session)
            self._check(session)
            self._check_ended(session)

    def _say(self, problem: str) -> None:
        self._found.problems.append(f"{self._id}: {problem}")

    # --- what was acknowledged ----------------------------------------------------------------------

    def _check(self, session: Session) -> None:
        records = self._records()
        self._check_messages(session, records)
        self._check_results(session, records)
        self._check_effects(records)
        self._check_index(session, records)
        titles = [entry["title"] for entry in self._known.of("titled", self._id)]
        if titles and titles[-1] != session.title and session.title not in self._titles(records, titles[-1]):
            self._say(f"title {titles[-1]!r} became {session.title!r}")

    def _titles(self, records: list[Record], acknowledged: str) -> list[str]:
        """Titles set after the acknowledged one: by a rename that the kill kept from being noted."""
        titles = [str(record.data["title"]) for record in records if record.type == "title"]
        return titles[titles.index(acknowledged) :] if acknowledged in titles else []

    def _records(self) -> list[Record]:
        _, records, bad = parse(self._path.read_bytes(), self._path)
        if len(bad) > 1:
            self._say(f"{len(bad)} damaged records")
        return records

    def _check_messages(self, session: Session, records: list[Record]) -> None:
        said = self._known.of("said", self._id)
        self._found.messages += len(said)
        stored = {record.id: record for record in records if record.type in ("user", "queued")}
        for entry in said:
            record = stored.get(entry["id"])
            if record is None:
                self._say(f"message {entry['id']} {entry['text']!r} is not in the journal")
            elif record.data["text"] != entry["text"]:
                self._say(f"message {entry['text']!r} was stored as {record.data['text']!r}")
        shown = [row["text"] for row in session.rows() if row["kind"] == "user"]
        twice = [text for text, count in Counter(shown).items() if count > 1]
        if twice:
            self._say(f"shown twice: {twice}")
        wanted = [entry["text"] for entry in said]
        if [text for text in shown if text in set(wanted)] != wanted:
            self._say(f"messages shown as {shown}, said as {wanted}")

    def _check_results(self, session: Session, records: list[Record]) -> None:
        results = {record.data["call"]: record.data for record in records if record.type == "tool_result"}
        rows = {row["id"]: row for row in session.rows() if row["kind"] == "tool"}
        for entry in self._known.of("result", self._id):
            call = entry["call"]
            if call not in results or results[call]["ok"] != entry["ok"]:
                self._say(f"result of {call} ({entry}) is not in the journal")
            elif call not in rows or (rows[call]["status"] == "ok") != entry["ok"]:
                self._say(f"result of {call} is shown as {rows.get(call)}")
        decided = {record.data["call"] for record in records if record.type == "approval"}
        for entry in self._known.of("approved", self._id):
            if entry["call"] not in decided:
                self._say(f"approval of {entry['call']} is not in the journal")
        ended = sum(record.type == "done" for record in records)
        if ended < len(self._known.of("done", self._id)):
            self._say("the end of a turn is not in the journal")

    # --- what happened to the world -----------------------------------------------------------------

    def _check_effects(self, records: list[Record]) -> None:
        calls = {
            call["id"]: call
            for record in records
            if record.type == "assistant"
            for call in record.data["calls"]
        }
        intents = Counter(record.data["call"] for record in records if record.type == "tool_intent")
        results = {record.data["call"]: record.data for record in records if record.type == "tool_result"}
        undone = {record.data["change"] for record in records if record.type == "undo"}
        undoing = {entry["change"] for entry in self._known.of("undoing", self._id)}
        for entry in self._known.of("undone", self._id):
            if entry["change"] not in undone:
                self._say(f"undo of {entry['change']} is not in the journal")
        for ident, call in calls.items():
            if call["name"] != "write_file":
                continue
            self._found.effects += 1
            result = results.get(ident)
            change = result["details"].get("change") if result else None
            allowed = _allowed(intents[ident], result, change in undone, change in undoing)
            count = self._count(call["arguments"])
            if count not in allowed:
                self._say(f"{ident} {call['arguments']} took effect {count} times, expected {allowed}")
            if intents[ident] > 1:
                self._say(f"{ident} began {intents[ident]} times")
            if result and result["kind"] == "unknown":
                self._found.unknown += 1

    def _count(self, arguments: JsonObject) -> int:
        path = self._runtime.home.workspace / arguments["path"]
        content = path.read_text("utf-8") if path.exists() else ""
        if arguments.get("append"):
            return content.split("\n").count(arguments["text"].strip())
        return int(content == arguments["text"])

    # --- what the doors show ------------------------------------------------------------------------

    def _check_index(self, session: Session, records: list[Record]) -> None:
        listed = {entry["id"]: entry for entry in self._runtime.sessions.list()}.get(self._id)
        if listed is None:
            if any(record.type == "user" for record in records):
                self._say("the list does not have it")
            return
        messages = sum(record.type in ("user", "assistant") for record in records)
        if listed["messages"] != messages:
            self._say(f"the list counts {listed['messages']} messages, the journal has {messages}")
        if listed["interrupted"] and not session.interrupted:
            self._say("the list calls it interrupted and it is not")

    def _check_shown(self, session: Session) -> None:
        """A call that began and has no result must be shown as outcome unknown."""
        _, records, _ = parse(self._path.read_bytes(), self._path)
        ended = {record.data["call"] for record in records if record.type == "tool_result"}
        begun = {record.data["call"] for record in records if record.type == "tool_intent"} - ended
        rows = {row["id"]: row["status"] for row in session.rows() if row["kind"] == "tool"}
        for call in begun:
            if rows.get(call) != "unknown":
                self._say(f"call {call} began, has no result and is shown as {rows.get(call)}")

    # --- bringing it to its end ---------------------------------------------------------------------

    async def _finish(self, session: Session) -> None:
        """Go on as a user would: continue, approve what is asked, and say one more thing."""

        def approve(event: Event) -> None:
            if isinstance(event.body, ApprovalRequired):
                task = asyncio.create_task(session.answer(event.body.id, "approve", door="inspection"))
                self._answers.add(task)
                task.add_done_callback(self._answers.discard)

        stop = session.subscribe(approve)
        try:
            async with asyncio.timeout(20):
                if session.interrupted:
                    await session.continue_()
                await session.idle()
        except TimeoutError:
            self._say(f"does not come to an end: {session.state}")
        finally:
            stop()

    def _check_ended(self, session: Session) -> None:
        if session.interrupted or session.state != "IDLE":
            self._say(f"is {session.state} after its end, interrupted={session.interrupted}")
        for row in session.rows():
            if row["kind"] == "user" and row.get("queued"):
                self._say(f"message {row['text']!r} still waits after the end")
            if row["kind"] == "tool" and row["status"] in ("waiting", "running"):
                self._say(f"call {row['id']} is {row['status']} after the end")


def _allowed(begun: int, result: dict[str, Any] | None, undone: bool, undoing: bool) -> set[int]:
    """How often a call may have taken effect, given what the journal says of it."""
    if not begun:
        return {0}
    if undone:
        return {0}
    if undoing or result is None or result["kind"] in ("unknown", "cancelled", "timeout", "bug"):
        return {0, 1}
    return {1} if result["ok"] else {0}


def report(request: dict[str, Any]) -> None:
    """Run `inspect` as asked by the nursery and write the findings to its file."""
    home = Path(request["home"])
    found = asyncio.run(inspect(home, request["finish"]))
    (home / "findings.json").write_text(json.dumps(asdict(found)), "utf-8")
