"""What was said and done in one session: its journal, and the transcript that is the fold of it."""

from __future__ import annotations

from typing import Any

from runtime.errors import OrionError
from runtime.events import Notice, UserSaid
from runtime.journal import Journal, Record
from runtime.messages import Image, JsonObject
from runtime.outlet import Outlet
from runtime.rows import Rows
from runtime.stimulus import Stimulus
from runtime.transcript import Transcript

TITLE_LENGTH = 60


class History:
    """The stored side of a session. Used from the runtime's loop; closed by the session.

    `transcript` is replaced when the conversation goes back to an earlier point.
    """

    def __init__(self, journal: Journal, outlet: Outlet) -> None:
        self.journal = journal
        self.transcript = Transcript(journal.chain())
        self._outlet = outlet

    def record(self, type_: str, /, **data: Any) -> Record:
        """Append to the journal, then to the transcript; durable as the type demands."""
        record = self.journal.append(type_, **data)
        self.transcript.apply(record)
        return record

    def note(self, text: str, images: tuple[Image, ...] = ()) -> Record:
        """What happened beside the conversation, for the model; doors are told that it hears of it."""
        shown = [{"media_type": image.media_type, "data": image.data} for image in images]
        record = self.record("note", text=text, **({"images": shown} if shown else {}))
        self._outlet.emit(Notice("agent_told", {"text": text}))
        return record

    def enter(self, stimulus: Stimulus, queued: str = "") -> Record:
        """A message enters the conversation; `queued` is the record under which it waited."""
        steering = bool(self.transcript.turn)
        extra = {"queued": queued} if queued else {}
        record = self.record("user", **stimulus.as_data(), **extra)
        self._outlet.turn = self.transcript.turn
        self._outlet.emit(UserSaid(record.id, stimulus.text, stimulus.source, steering))
        if not self.journal.title:
            self.record("title", title=" ".join(stimulus.text.split())[:TITLE_LENGTH] or "…")
        return record

    def admit(self) -> bool:
        """Let the messages that queued up meanwhile enter; whether there were any."""
        waiting = list(self.transcript.queued.items())
        for queued, stimulus in waiting:
            self.enter(stimulus, queued)
        return bool(waiting)

    def rows(self, running: bool) -> list[JsonObject]:
        """The transcript to draw; see Rows."""
        return Rows(self.journal.chain(), self.journal.damage).settle(running)

    def said(self) -> list[Record]:
        """The user's messages. Raises OrionError `nothing_to_retry` when there are none."""
        said = [record for record in self.journal.chain() if record.type == "user"]
        if not said:
            raise OrionError("nothing_to_retry")
        return said

    def last_answer(self) -> str:
        """The id of the last assistant record after the user's last message; "" where there is none."""
        for record in reversed(self.journal.chain()):
            if record.type in ("assistant", "user"):
                return record.id if record.type == "assistant" else ""
        return ""

    def message(self, record_id: str) -> Record:
        """A message of the user's on any branch. Raises OrionError `message_unknown`."""
        for record in self.journal.records:
            if record.id == record_id and record.type == "user":
                return record
        raise OrionError("message_unknown", id=record_id)

    def rewind(self, record_id: str | None) -> None:
        """Go back to just after `record_id`; profile, model and autonomy stay as they are now."""
        settings = self.transcript.settings
        self.journal.branch(record_id)
        self.transcript = Transcript(self.journal.chain())
        if self.transcript.settings != settings:
            self.record("mode", **settings)

    def shorten(self, tokens: int, window: int) -> None:
        """Show the model about half a `window` of a conversation of `tokens`; the stored one stays whole.

        Older messages are left out first, then the middle of a long one.
        """
        said = self.said()
        self.rewind(said[-1].id)
        total = self.transcript.size()
        budget = int(total * min(1.0, 0.5 * window / max(tokens, 1)))
        keep, kept = len(said) - 1, len(str(said[-1].data["text"]))
        while keep > 0 and kept + len(str(said[keep - 1].data["text"])) < budget // 4:
            keep -= 1
            kept += len(str(said[keep].data["text"]))
        self.record(
            "compaction", keep=said[keep].id, limit=max(budget, 200), all=True, before=total, after=budget
        )

    def close(self) -> None:
        """Free the journal; one that was only opened is removed. Idempotent."""
        journal = self.journal
        unused = journal.open and all(record.type in ("session", "mode") for record in journal.records)
        journal.close()
        if unused and journal.path is not None:
            journal.path.unlink(missing_ok=True)
