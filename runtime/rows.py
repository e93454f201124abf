"""The fold of a session's records into the rows that a door draws when it opens the session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runtime.journal import Damage, Record
from runtime.messages import JsonObject

_DENIED = {"denied": "denied", "unknown": "unknown"}


class Rows:
    """Rows of kind user, assistant, tool and notice, in order, as JSON-serialisable dicts.

    An assistant's row has `heard` where it was spoken and interrupted; see `_heard`.
    """

    def __init__(self, records: Iterable[Record], damage: Iterable[Damage] = ()) -> None:
        self.rows: list[JsonObject] = []
        self._tools: dict[str, JsonObject] = {}
        self._changes: dict[str, JsonObject] = {}
        self._queued: dict[str, JsonObject] = {}
        self._open = False
        self._last_time = 0.0
        for record in records:
            self._add(record)
        for broken in damage:
            self._notice("journal_damaged", self._last_time, line=broken.line, kept_in=broken.kept_in)

    def settle(self, running: bool) -> list[JsonObject]:
        """The rows, with a turn that was cut off shown as interrupted unless it still runs."""
        if self._open and not running:
            waiting = any(row["status"] == "waiting" for row in self._tools.values())
            for row in self._tools.values():
                if row["status"] == "running":
                    row["status"] = "unknown"
            if not waiting:
                self._notice("turn_interrupted", self._last_time)
        return [*self.rows, *self._queued.values()]

    def _add(self, record: Record) -> None:
        data = record.data
        self._last_time = record.time
        match record.type:
            case "user":
                self._open = True
                if self._queued:
                    self._queued.pop(str(data.get("queued", "")), None)
                self.rows.append(_user(record))
            case "assistant":
                self._assistant(record)
            case "done":
                self._done(record)
            case "queued":
                self._queued[record.id] = _user(record) | {"queued": True}
            case "tool_intent":
                self._tool(data["call"])["status"] = "running"
            case "approval" if data["phase"] == "asked":
                self._tool(data["call"])["status"] = "waiting"
            case "tool_result":
                self._result(data)
            case "undo":
                self._undo(record)
            case "heard":
                self._heard(data)
            case "compaction":
                self._notice("history_shortened", record.time, before=data["before"], after=data["after"])
            case "fallback":
                self._fallback(record)
            case "note":
                self._notice("agent_told", record.time, text=data["text"])
            case "error" | "notice":
                self._notice(data["code"], record.time, **data["fields"])

    def _done(self, record: Record) -> None:
        self._open = False
        if record.data["reason"] == "cancelled":
            self._notice("turn_cancelled", record.time)
        for row in self._tools.values():
            row["status"] = {"running": "unknown", "waiting": "denied"}.get(row["status"], row["status"])

    def _fallback(self, record: Record) -> None:
        data = record.data
        if data["text"]:
            broken = {"kind": "assistant", "id": record.id, "text": data["text"], "reasoning": ""}
            broken |= {"thinking_seconds": 0.0, "partial": True, "stop_reason": "replaced"}
            self.rows.append(broken | {"time": record.time})
        fields = data["fields"] | {"old": data["old"], "new": data["new"], "reason_code": data["code"]}
        self._notice("fallback_taken", record.time, **fields)

    def _assistant(self, record: Record) -> None:
        data = record.data
        self.rows.append(
            {
                "kind": "assistant",
                "id": record.id,
                "text": data["text"],
                "reasoning": "".join([part["text"] for part in data["reasoning"]]),
                "thinking_seconds": data.get("thinking_seconds", 0.0),
                "partial": not data["complete"],
                "stop_reason": data["stop_reason"],
                "time": record.time,
            }
        )
        self._tools.clear()
        for call in data["calls"]:
            row: dict[str, Any] = {
                "kind": "tool",
                "id": call["id"],
                "name": call["name"],
                "arguments": call["arguments"],
            }
            row |= {
                "status": "waiting",
                "failure": "",
                "text": "",
                "details": {},
                "seconds": 0.0,
                "risk": "low",
            }
            self._tools[call["id"]] = row
            self.rows.append(row)

    def _tool(self, call: str) -> JsonObject:
        return self._tools.get(call, {})

    def _result(self, data: JsonObject) -> None:
        row = self._tool(data["call"])
        row["status"] = "ok" if data["ok"] else _DENIED.get(data["kind"], "failed")
        row["failure"] = data["kind"]
        row["text"] = "".join(part.get("text", "") for part in data["parts"])
        row["details"] = dict(data["details"])
        row["seconds"] = data["seconds"]
        row["risk"] = data.get("risk", "low")
        if change := data["details"].get("change"):
            self._changes[str(change)] = row

    def _undo(self, record: Record) -> None:
        if row := self._changes.get(record.data["change"]):
            row["details"]["undone"] = True
        self._notice("change_undone", record.time, files=", ".join(record.data["files"]))

    def _heard(self, data: JsonObject) -> None:
        """`heard`, of a spoken answer that was interrupted: how many characters of its text were heard."""
        said = (row for row in reversed(self.rows) if row.get("id") == data["of"])
        row = next((row for row in said if row["kind"] == "assistant"), None)
        if row is not None:
            row["heard"] = None if data["whole"] else len(data["text"])

    def _notice(self, code: str, when: float, **fields: str | int | float) -> None:
        self.rows.append({"kind": "notice", "code": code, "fields": fields, "time": when})


def _user(record: Record) -> JsonObject:
    text, source = record.data["text"], record.data["source"]
    return {"kind": "user", "id": record.id, "text": text, "time": record.time, "source": source}
