"""The rows of one conversation, folded from stored rows and from live events; knows no Qt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from desktop.chat.rows import (
    ActivityRow,
    AnyRow,
    AssistantRow,
    ThinkingRow,
    ToolRow,
    UserRow,
    notice,
    stored,
)
from runtime import events as ev

MAX_LOG = 100_000
"""Characters of a running tool's output that are kept, the newest."""


class Transcript:
    """The rows in order. `show` replaces them, `apply` takes one event; both name the rows to draw anew."""

    def __init__(self) -> None:
        self.rows: list[AnyRow] = []
        self._tools: dict[str, ToolRow] = {}

    def show(self, rows: Iterable[dict[str, Any]]) -> None:
        """Replace everything by stored rows."""
        self.rows = stored(rows)
        self._tools = {row.id: row for row in self.rows if isinstance(row, ToolRow)}

    def apply(self, event: ev.Event) -> list[AnyRow]:
        """Fold one event in; the rows that changed or were added."""
        touched = self._fold(event.body, event.time)
        for row in touched:
            row.version += 1
        return touched

    def _fold(self, body: ev.Body, time: float) -> list[AnyRow]:
        match body:
            case ev.UserSaid():
                said = UserRow(id=body.id, text=body.text, source=body.source, time=time)
                return [*self._add(said), *self._add(ActivityRow(time=time, live=True))]
            case ev.ModelState():
                return self._activity(body.state, body.progress)
            case ev.ThinkingStart() | ev.ThinkingChunk() | ev.ThinkingComplete():
                return self._think(body, time)
            case ev.ResponseChunk() | ev.ResponseComplete():
                return self._answer(body, time)
            case (
                ev.ToolStart()
                | ev.ToolChunk()
                | ev.ToolComplete()
                | ev.ToolFailed()
                | ev.Boundary()
                | ev.ApprovalRequired()
                | ev.ApprovalReceived()
            ):
                return self._tool(body, time)
            case ev.AnswerHeard():
                return self._heard(body)
            case ev.Undone():
                return self._undone(body, time)
            case ev.ErrorRaised():
                return self._add(notice(body.code, dict(body.fields), time))
            case ev.Fallback():
                return self._handed_over(body, time)
            case ev.Notice():
                return self._add(notice(body.code, dict(body.fields), time))
            case ev.Retry():
                service = body.fields.get("provider") or body.fields.get("host") or ""
                return self._activity("retrying", note=str(service), seconds=body.seconds)
            case ev.ToolWriting():
                return self._writing(body, time)
            case ev.Compaction():
                return self._add(
                    notice("history_shortened", {"before": body.before, "after": body.after}, time)
                )
            case ev.Done():
                return self._done(body, time)
            case (
                ev.StateChange()
                | ev.Queued()
                | ev.Paused()
                | ev.ModeChanged()
                | ev.PlanCreated()
                | ev.PlanUpdated()
                | ev.TaskUpdate()
                | ev.UsageReport()
            ):
                return []
            case _:
                assert_never(body)

    def _add(self, row: AnyRow) -> list[AnyRow]:
        if self.rows and isinstance(self.rows[-1], ActivityRow):
            self.rows.pop()
        self.rows.append(row)
        return [row]

    def _activity(
        self, state: str, progress: float = 0.0, note: str = "", seconds: float = 0.0
    ) -> list[AnyRow]:
        last = self.rows[-1] if self.rows else None
        if not isinstance(last, ActivityRow):
            return []
        last.state, last.progress, last.note, last.seconds = state, progress, note, seconds
        return [last]

    def _writing(self, body: ev.ToolWriting, time: float) -> list[AnyRow]:
        """The row that says which call is being written; drawn anew only when that changes."""
        last = self.rows[-1] if self.rows else None
        if not isinstance(last, ActivityRow):
            return self._add(ActivityRow(state="writing", note=body.name, time=time, live=True))
        if last.state == "writing" and body.name in ("", last.note):
            return []
        return self._activity("writing", note=body.name)

    def _live(self, kind: type[AssistantRow] | type[ThinkingRow]) -> Any:
        """The row of that kind that still grows: the last, but for one that says what is being done."""
        place = -2 if len(self.rows) > 1 and isinstance(self.rows[-1], ActivityRow) else -1
        last = self.rows[place] if self.rows else None
        return last if isinstance(last, kind) and last.live else None

    def _think(
        self, body: ev.ThinkingStart | ev.ThinkingChunk | ev.ThinkingComplete, time: float
    ) -> list[AnyRow]:
        row: ThinkingRow | None = self._live(ThinkingRow)
        touched: list[AnyRow] = [row] if row else []
        if row is None:
            if isinstance(body, ev.ThinkingComplete):
                return []
            row = ThinkingRow(live=True, time=time)
            touched = self._add(row)
        if isinstance(body, ev.ThinkingChunk):
            row.text += body.text
        elif isinstance(body, ev.ThinkingComplete):
            row.seconds, row.live = body.seconds, False
        return touched

    def _answer(self, body: ev.ResponseChunk | ev.ResponseComplete, time: float) -> list[AnyRow]:
        row: AssistantRow | None = self._live(AssistantRow)
        touched: list[AnyRow] = [row] if row else []
        if row is None:
            if not body.text:
                return []
            row = AssistantRow(live=True, time=time)
            touched = self._add(row)
        if isinstance(body, ev.ResponseChunk):
            row.text += body.text
        else:
            row.id, row.text, row.stop_reason, row.live = body.id, body.text, body.stop_reason, False
        return touched

    def _tool(
        self,
        body: ev.ToolStart
        | ev.ToolChunk
        | ev.ToolComplete
        | ev.ToolFailed
        | ev.Boundary
        | ev.ApprovalRequired
        | ev.ApprovalReceived,
        time: float,
    ) -> list[AnyRow]:
        row = self._tools.get(body.id)
        touched: list[AnyRow] = [row] if row else []
        if row is None:
            if isinstance(body, ev.ToolChunk | ev.ApprovalReceived):
                return []
            row = self._tools[body.id] = ToolRow(id=body.id, name=body.name, live=True, time=time)
            touched = self._add(row)
        match body:
            case ev.ToolStart():
                row.arguments, row.risk, row.status = body.arguments, body.risk, "running"
                row.live, row.time = True, time
            case ev.ToolChunk():
                row.log = (row.log + body.text)[-MAX_LOG:]
            case ev.ToolComplete():
                row.text, row.details, row.seconds = body.text, dict(body.details), body.seconds
                row.status, row.live = "ok", False
            case ev.ToolFailed():
                row.failure, row.text, row.seconds, row.live = body.kind, body.text, body.seconds, False
                row.status = body.kind if body.kind in ("denied", "unknown") else "failed"
            case ev.Boundary():
                row.status, row.text, row.live = "denied", body.rule, False
            case ev.ApprovalRequired():
                row.arguments, row.risk, row.summary = body.arguments, body.risk, body.summary
                row.status = "waiting"
            case ev.ApprovalReceived():
                agreed = body.decision in ("approve", "edit")
                row.status, row.live = ("running", True) if agreed else ("denied", False)
            case _:
                assert_never(body)
        return touched

    def _handed_over(self, body: ev.Fallback, time: float) -> list[AnyRow]:
        """What the first model said stays to be looked at, marked as broken off."""
        touched: list[AnyRow] = []
        row: AssistantRow | None = self._live(AssistantRow)
        if row is not None:
            row.live, row.partial, row.stop_reason = False, True, "replaced"
            touched.append(row)
        fields = dict(body.fields) | {"old": body.old, "new": body.new, "reason_code": body.code}
        touched += self._add(notice("fallback_taken", fields, time))
        return touched + self._add(ActivityRow(time=time, live=True))

    def _heard(self, body: ev.AnswerHeard) -> list[AnyRow]:
        """What was heard of a spoken answer, which is mostly the last one."""
        answers = (row for row in reversed(self.rows) if isinstance(row, AssistantRow))
        row = next((row for row in answers if row.id == body.id), None)
        if row is None:
            return []
        row.heard = None if body.whole else len(body.text)
        return [row]

    def _undone(self, body: ev.Undone, time: float) -> list[AnyRow]:
        changed: list[AnyRow] = []
        for row in self._tools.values():
            if row.change == body.change:
                row.details["undone"] = True
                changed.append(row)
        return changed + self._add(notice("change_undone", {"files": ", ".join(body.files)}, time))

    def _done(self, body: ev.Done, time: float) -> list[AnyRow]:
        touched = [row for row in self.rows if row.live]
        for row in touched:
            row.live = False
            if isinstance(row, AssistantRow):
                row.partial = body.reason != "complete"
            elif isinstance(row, ToolRow):
                row.status = "failed" if row.status == "running" else row.status
        if self.rows and isinstance(self.rows[-1], ActivityRow):
            self.rows.pop()
        if body.reason == "cancelled":
            touched += self._add(notice("turn_cancelled", {}, time))
        return [row for row in touched if not isinstance(row, ActivityRow)]
