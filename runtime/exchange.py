"""The messages of a conversation as a model sees them, folded from the session's records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runtime.journal import Record
from runtime.messages import (
    AssistantMessage,
    Image,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
    without_surrogates,
)
from runtime.stimulus import Stimulus

UNKNOWN = (
    "The program stopped while this call ran: whether it took effect is unknown. Check before you repeat it."
)
NOT_RUN = "This call was not run."
INTERRUPTED = "[interrupted here; the rest was not heard]"


class Exchange:
    """The messages of a conversation and the calls in them.

    `messages` is what a model sees: lone surrogates replaced, roles alternating, a result for every call
    once the turn moves on. `open_calls` are the calls of the last reply that have no result yet,
    `started` those of them that began to run, `asked` and `decided` their approvals by call id. `replies`
    counts those of all turns, `call_ids` are the ids of all their calls. `left_out` are texts that
    compactions took out of sight, `summary` is the account that stands in for them, and `recalled` the turn
    for which they were searched. `places` says where the message of a record is. An answer that was spoken
    and interrupted ends where it was, with a mark.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.open_calls: dict[str, ToolCall] = {}
        self.started: set[str] = set()
        self.asked: dict[str, dict[str, Any]] = {}
        self.decided: dict[str, dict[str, Any]] = {}
        self.call_ids: set[str] = set()
        self.replies = 0
        self.summary = ""
        self.left_out: list[str] = []
        self.recalled = ""
        self.places: dict[str, int] = {}
        self._late: list[UserMessage] = []
        self._uncut: dict[str, str] = {}

    def apply(self, record: Record) -> None:
        """Take one more record into account."""
        data = record.data
        match record.type:
            case "user":
                self._user(record)
            case "assistant":
                self._assistant(record)
            case "done":
                self._end()
            case "tool_intent":
                self.started.add(data["call"])
            case "tool_result":
                self._result(data)
            case "approval":
                known = self.asked if data["phase"] == "asked" else self.decided
                known[data["call"]] = data
            case "heard":
                self._cut(data)
            case "undo":
                files = ", ".join(data["files"])
                self._add_user(UserMessage((_text(f"(I took back your change to {files}.)"),)))
            case "note":
                images = (Image(found["media_type"], found["data"]) for found in data.get("images", ()))
                self._add_user(UserMessage((*images, _text(f"({data['text']})"))))
            case "compaction":
                self._compact(data)
            case "recall":
                self._recall(data)

    def _user(self, record: Record) -> None:
        stimulus = Stimulus.from_data(record.data)
        parts: tuple[Part, ...] = (*stimulus.images, _text(stimulus.text))
        self.places[record.id] = len(self.messages)
        self._add_user(UserMessage(parts))

    def _add_user(self, message: UserMessage) -> None:
        if self.open_calls:
            self._late.append(message)
        elif self.messages and isinstance(last := self.messages[-1], UserMessage):
            self.messages[-1] = UserMessage((*last.parts, Text("\n\n"), *message.parts))
        else:
            self.messages.append(message)

    def _assistant(self, record: Record) -> None:
        data = record.data
        calls = tuple(
            ToolCall(call["id"], call["name"], call["arguments"], call.get("error", ""))
            for call in data["calls"]
        )
        reasoning = tuple(Reasoning(part["text"], part.get("opaque", "")) for part in data["reasoning"])
        if not (data["text"] or calls):
            return
        self.places[record.id] = len(self.messages)
        self.replies += 1
        text, provider = without_surrogates(data["text"]), str(data.get("provider", ""))
        self.messages.append(AssistantMessage(text, reasoning, calls, provider))
        self.open_calls = {call.id: call for call in calls}
        self.call_ids.update(self.open_calls)

    def _cut(self, data: dict[str, Any]) -> None:
        """Let a spoken answer end where it was interrupted, or put back what was heard after all."""
        place = self.places.get(data["of"])
        if place is None or not isinstance(message := self.messages[place], AssistantMessage):
            return
        text = self._uncut.setdefault(data["of"], message.text)
        if not data["whole"]:
            text = " ".join(filter(None, [without_surrogates(data["text"]).rstrip(), INTERRUPTED]))
        self.messages[place] = replace(message, text=text)

    def _result(self, data: dict[str, Any]) -> None:
        call = self.open_calls.pop(data["call"], None)
        if call is None:
            return
        self.messages.append(ToolMessage(call.id, call.name, _parts(data["parts"]), data["ok"]))
        if not self.open_calls:
            late, self._late = self._late, []
            for message in late:
                self._add_user(message)

    def _end(self) -> None:
        """The turn is over: calls left open will never run."""
        for call in list(self.open_calls.values()):
            text = UNKNOWN if call.id in self.started else NOT_RUN
            self._result({"call": call.id, "parts": [{"type": "text", "text": text}], "ok": False})
        self.started.clear()
        self.asked.clear()
        self.decided.clear()

    def _compact(self, data: dict[str, Any]) -> None:
        """Show the model only what comes from record `keep` on, after the account `summary` of the rest.

        No tool result is longer than `limit` characters then, and with `all` no message of the user's.
        """
        start, summary, limit = self.places.get(data["keep"], 0), data.get("summary", ""), int(data["limit"])
        dropped, self.messages = self.messages[:start], self.messages[start:]
        self.left_out += [
            text for message in dropped if (text := message.text.removeprefix(self.summary).strip())
        ]
        for position, message in enumerate(self.messages):
            cut = isinstance(message, ToolMessage) or (
                isinstance(message, UserMessage) and data.get("all", True)
            )
            if cut and not isinstance(message, AssistantMessage) and len(message.text) > limit:
                self.messages[position] = replace(message, parts=(Text(shorten(message.text, limit)),))
        shift = -start
        if summary and self.messages and isinstance(first := self.messages[0], UserMessage):
            self.messages[0] = UserMessage((Text(summary + "\n\n"), *first.parts))
        elif summary:
            self.messages.insert(0, UserMessage((Text(summary),)))
            shift += 1
        self.summary = summary
        self.places = {key: place + shift for key, place in self.places.items() if place >= start}

    def _recall(self, data: dict[str, Any]) -> None:
        """Passages from what was left out, beside the message that opened the turn."""
        self.recalled = data["turn"]
        if data["text"]:
            self._add_user(UserMessage((_text(data["text"]),)))


def shorten(text: str, limit: int) -> str:
    """The beginning and the end of `text`, `limit` characters in all, with a mark between them."""
    half = limit // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out} characters left out …]\n{text[-half:]}"


def _parts(found: list[dict[str, Any]]) -> tuple[Part, ...]:
    return tuple(
        Image(part["media_type"], part["data"]) if part["type"] == "image" else _text(part["text"])
        for part in found
    )


def _text(text: str) -> Text:
    return Text(without_surrogates(text))
