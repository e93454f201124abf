"""A conversation made valid for services that speak like OpenAI's, before it gets one of their two forms."""

from __future__ import annotations

import hashlib
import json
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from resources.translation import _
from runtime.messages import (
    AssistantMessage,
    Image,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolMessage,
)
from runtime.providers.provider import Notices, Request

UNSEEN = "[a picture that cannot be seen]"
MISSING = "[no result was kept]"

_ID_LENGTH = 64
_ID_OTHERS = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(slots=True)
class Said:
    """What the user says in one go: text and pictures in their order, no empty text."""

    parts: list[Part]


@dataclass(slots=True)
class Answered:
    """A reply with its calls, each with the id that is sent and its result. `reasoning` is that of the
    provider the conversation is told to, and empty for replies of others."""

    text: str
    reasoning: tuple[Reasoning, ...] = ()
    calls: list[tuple[ToolCall, tuple[Part, ...]]] = field(default_factory=list)


Turn = Said | Answered


class History:
    """Tells one conversation for the model of a request; `own` is the provider whose reasoning goes back.

    Every call has exactly one result and an id of its own, replies without content are gone, and neighbours
    of one role are one. A model that does not see gets marks for pictures, one that does not act is told of
    calls and results in words; `shown` and `left_out` say whether a picture is sent and whether one is not.
    """

    def __init__(self, own: str, *, sees: bool, acts: bool) -> None:
        self._own = own
        self._sees = sees
        self._acts = acts
        self._turns: list[Turn] = []
        self._used: set[str] = set()
        self.shown = False
        self.left_out = False

    def told(self, request: Request) -> list[Turn]:
        """The conversation; once."""
        waiting = deque(request.messages)
        while waiting:
            message = waiting.popleft()
            if isinstance(message, AssistantMessage):
                self._answer(message, waiting)
            elif isinstance(message, ToolMessage):
                self._tell(message.name, self._seen(message.parts))
            else:
                self._say(self._seen(message.parts))
        return self._turns

    def notices(self, request: Request) -> Notices:
        """What was left out, for the user."""
        found: list[tuple[str, dict[str, str | int | float]]] = []
        if self.left_out:
            found.append(("content_left_out", {"model": request.model, "what": _("pictures")}))
        if request.tools and not self._acts:
            found.append(("tools_left_out", {"model": request.model}))
        return tuple(found)

    def _say(self, parts: Sequence[Part]) -> None:
        parts = [part for part in parts if isinstance(part, Image) or part.text]
        last = self._turns[-1] if self._turns else None
        if isinstance(last, Said) and parts:
            last.parts += [Text("\n\n"), *parts]
        elif parts:
            self._turns.append(Said(list(parts)))

    def _tell(self, name: str, parts: Sequence[Part]) -> None:
        """A result in words."""
        self._say([Text(f"[result of {name}]\n"), *parts])

    def _answer(self, message: AssistantMessage, waiting: deque[Message]) -> None:
        results = _results(message, waiting)
        reasoning = message.reasoning if message.provider == self._own else ()
        if not message.calls or not self._acts:
            text = "\n".join([*([message.text] if message.text else []), *_in_words(message.calls)])
            self._reply(Answered(text, reasoning if message.text else ()))
            for call in message.calls:
                if call.id in results:
                    self._tell(call.name, self._seen(results[call.id].parts))
            return
        calls: list[tuple[ToolCall, tuple[Part, ...]]] = []
        for call in message.calls:
            result = results.get(call.id)
            parts = tuple(self._seen(result.parts)) if result is not None else (Text(MISSING),)
            calls.append((replace(call, id=self._id(call.id)), parts))
        self._reply(Answered(message.text, reasoning, calls))

    def _reply(self, reply: Answered) -> None:
        last = self._turns[-1] if self._turns else None
        if isinstance(last, Answered) and not last.calls:
            text = "\n\n".join(piece for piece in (last.text, reply.text) if piece)
            self._turns[-1] = replace(reply, text=text, reasoning=last.reasoning + reply.reasoning)
        elif reply.text or reply.calls:
            self._turns.append(reply)

    def _seen(self, parts: tuple[Part, ...]) -> list[Part]:
        if any(isinstance(part, Image) for part in parts):
            self.shown, self.left_out = self._sees, not self._sees
        if self._sees:
            return list(parts)
        return [Text(UNSEEN) if isinstance(part, Image) else part for part in parts]

    def _id(self, own: str) -> str:
        """An id that every service accepts, and no other call of the conversation has."""
        fit = _ID_OTHERS.sub("_", own)
        if fit != own or not 0 < len(fit) <= _ID_LENGTH:
            fit = f"{fit[:40]}_{hashlib.sha256(own.encode('utf-8', 'replace')).hexdigest()[:12]}"
        found, number = fit, 1
        while found in self._used:
            number += 1
            found = f"{fit[: _ID_LENGTH - 8]}_{number}"
        self._used.add(found)
        return found


def _results(message: AssistantMessage, waiting: deque[Message]) -> dict[str, ToolMessage]:
    """The results of the calls, taken out of what follows up to the next reply."""
    found: dict[str, ToolMessage] = {}
    if not message.calls:
        return found
    wanted = {call.id for call in message.calls}
    rest: list[Message] = []
    while waiting and not isinstance(waiting[0], AssistantMessage):
        following = waiting.popleft()
        if isinstance(following, ToolMessage) and following.call_id in wanted - found.keys():
            found[following.call_id] = following
        else:
            rest.append(following)
    waiting.extendleft(reversed(rest))
    return found


def _in_words(calls: Sequence[ToolCall]) -> Iterator[str]:
    return (f"[calls {call.name} {arguments(call)}]" for call in calls)


def arguments(call: ToolCall) -> str:
    """As JSON text."""
    return json.dumps(call.arguments, ensure_ascii=False)


def words(parts: Sequence[Part]) -> str:
    """The text alone."""
    return "".join(part.text for part in parts if isinstance(part, Text))


def pictures(parts: Sequence[Part]) -> list[Image]:
    """The pictures alone."""
    return [part for part in parts if isinstance(part, Image)]


def address(picture: Image) -> str:
    """A picture as a data URL."""
    return f"data:{picture.media_type};base64,{picture.data}"


def size(request: Request) -> tuple[int, int]:
    """Bytes of the text of a request, and how many pictures it has."""
    count = len(request.system.encode("utf-8", "replace"))
    count += sum(
        len(tool.name) + len(tool.description) + len(json.dumps(tool.parameters)) for tool in request.tools
    )
    seen = 0
    for message in request.messages:
        count += len(message.text.encode("utf-8", "replace")) + 16
        if isinstance(message, AssistantMessage):
            count += sum(len(call.name) + len(json.dumps(call.arguments)) + 48 for call in message.calls)
        else:
            seen += len(pictures(message.parts))
    return count, seen
