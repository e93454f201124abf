"""Keeps what a model is shown within its window: slim tools, an account of what is old, recall of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from runtime import context
from runtime.chain import Link
from runtime.digest import digest
from runtime.errors import OrionError
from runtime.events import Body, Compaction
from runtime.exchange import shorten
from runtime.history import History
from runtime.messages import AssistantMessage, Message, Text, ToolSpec, UserMessage, without_surrogates
from runtime.pictures import recent
from runtime.profiles import Profile
from runtime.providers.provider import NativeTool, Provider, Request
from runtime.recall import recall
from runtime.slimming import called_for, named, slim

SMALL = 16_384
"""Up to this window the list of tools is slimmed."""

# Parts of the window: for the tools, for the answer at most, for what is kept, told and recalled after a cut.
TOOLS, ANSWER, KEPT, TOLD, RECALLED, RESULT = 0.2, 0.25, 0.35, 0.12, 0.08, 0.15

# Below this part of the window by a careful guess nothing is counted; a token has at least two bytes of text.
SURELY_FITS, BYTES_PER_TOKEN = 0.5, 2.0

TASK = "The task at hand: "
RECALL_HEAD = "(From earlier in this conversation: "


@dataclass(frozen=True, slots=True)
class Fitting:
    """Makes the requests of one turn for the model of `link`. `archive` stores the transcript for reading
    before a cut and returns where, or an empty string where nothing may be stored; `system` gives the prompt
    with or without tools; `native` are those that the service defines itself, in place of ours."""

    session: str
    link: Link
    system: Callable[[bool], str]
    history: History
    specs: tuple[ToolSpec, ...]
    archive: Callable[[], str]
    emit: Callable[[Body], None]
    native: tuple[NativeTool, ...] = ()

    @property
    def profile(self) -> Profile:
        return self.link.profile

    @property
    def model(self) -> str:
        return self.link.model

    @property
    def provider(self) -> Provider:
        return self.link.provider

    async def request(self) -> Request:
        """The next request, at most one compaction away. Raises OrionError `context_overflow` (prompt_tokens,
        window) when the message at hand alone is too much."""
        window = self.provider.window(self.model)
        if not window:
            return self._build(0)
        self._recall(window)
        request = self._build(window)
        if _size(request) / BYTES_PER_TOKEN < SURELY_FITS * window:
            return request
        reserve = int(min(self.profile.max_tokens, ANSWER * window))
        tokens = await self.provider.count(request)
        if tokens + reserve <= window:
            return request
        per_token = max(_size(request) / max(tokens, 1), 0.5)
        if self._compact(window, per_token):
            self._recall(window)
            request = self._build(window)
            tokens = await self.provider.count(request)
        if tokens >= window:
            raise OrionError("context_overflow", prompt_tokens=tokens, window=window)
        return request

    async def split(self, text: str) -> dict[str, int]:
        """How the window would be shared if `text` were said now, in tokens: window, system (with the
        template's frame), directives, memory, documents, tools, history, message, answer, free."""
        window = self.provider.window(self.model)
        request = self._build(window)
        message = UserMessage((Text(without_surrogates(text)),))
        alone = replace(request, messages=(UserMessage((Text(""),)),), tools=())
        whole = replace(request, messages=(*request.messages, message))
        system = await self.provider.count(alone)
        said = await self.provider.count(replace(alone, messages=(message,)))
        untold = await self.provider.count(replace(whole, tools=()))
        total = await self.provider.count(whole)
        answer = int(min(self.profile.max_tokens, ANSWER * window)) if window else self.profile.max_tokens
        parts = {"system": system, "directives": 0, "memory": 0, "documents": 0, "tools": total - untold}
        parts |= {"history": untold - said, "message": said - system, "answer": answer}
        return {"window": window} | parts | {"free": max(window - total - answer, 0)}

    def _build(self, window: int) -> Request:
        tools, on_demand = self.specs, self.provider.tools_on_demand(self.model)
        if on_demand:
            tools = named(tools, self._asked())
        if 0 < window <= SMALL:
            tools = slim(tools, int(TOOLS * window), self._first_words())
        request = context.build(
            self.session, self.profile, self.model, self.system(bool(tools)), self.history.transcript, tools
        )
        if on_demand and request.answer:  # out of a circle leads what was asked for and not done yet
            done = context.used(self.history.transcript.messages)
            left = tuple(tool for tool in called_for(tools, self._asked()) if tool.name not in done)
            request = replace(request, tools=left or tools, answer=not left)
        limit = int(min(request.max_tokens, window or request.max_tokens))
        return replace(request, messages=recent(request.messages), native=self.native, max_tokens=limit)

    def _asked(self) -> str:
        """What the turn is about: the user's last words."""
        messages = reversed(self.history.transcript.messages)
        return next((message.text for message in messages if isinstance(message, UserMessage)), "")

    def _first_words(self) -> str:
        """What the conversation is about: its first message, which no later one changes."""
        messages = self.history.transcript.messages
        return messages[0].text if messages else ""

    def _compact(self, window: int, per_token: float) -> bool:
        """Let the account stand in for what is old; false when nothing is old enough."""
        transcript = self.history.transcript
        room = KEPT * window * per_token
        start, keep = _cut(transcript.messages, transcript.places(), room)
        limit = int(RESULT * window * per_token)
        long = any(message.role == "tool" and len(message.text) > limit for message in transcript.messages)
        if not start and not long:
            return False
        before = transcript.size()
        told = int(TOLD * window * per_token)
        summary = (
            digest(transcript.messages[:start], transcript.summary, told) if start else transcript.summary
        )
        if start and not isinstance(transcript.messages[start], UserMessage):
            summary += _task(transcript.messages[:start], limit)
        where = self.archive()
        sizes = {"before": before, "after": 0, "archive": where}
        self.history.record("compaction", keep=keep, limit=limit, all=False, summary=summary, **sizes)
        self.emit(Compaction(before, transcript.size(), where))
        return True

    def _recall(self, window: int) -> None:
        """Once a turn: bring back what was left out and shares telling words with the message at hand."""
        transcript = self.history.transcript
        if not transcript.left_out or transcript.recalled == transcript.turn or not transcript.messages:
            return
        last = transcript.messages[-1]
        if not isinstance(last, UserMessage):
            return
        query = last.text.removeprefix(transcript.summary)
        found = recall(query, transcript.left_out, int(RECALLED * window * 3))
        text = RECALL_HEAD + " … ".join(found) + ")" if found else ""
        self.history.record("recall", turn=transcript.turn, text=text)


def _size(request: Request) -> int:
    """Bytes of a request, tools included."""
    tools = sum(len(str(tool)) for tool in request.tools)
    return len(request.system.encode()) + tools + sum(_weight(message) for message in request.messages)


def _weight(message: Message) -> int:
    """Bytes of a message with its calls and about what a template puts around it."""
    calls = message.calls if isinstance(message, AssistantMessage) else ()
    return len(message.text.encode()) + 16 + sum(len(str(call.arguments)) + 40 for call in calls)


def _cut(messages: list[Message], places: list[tuple[str, int]], room: float) -> tuple[int, str]:
    """The first message to keep and its record: the earliest from which all fit into `room` bytes, a
    message of the user's where there is one; else the last that can begin."""
    weights = [_weight(message) for message in messages]
    fitting = [(place, record) for record, place in places if sum(weights[place:]) <= room]
    users = [found for found in fitting if isinstance(messages[found[0]], UserMessage)]
    record, place = places[-1]
    return next(iter(users or fitting), (place, record))


def _task(messages: list[Message], limit: int) -> str:
    """The user's last words in `messages`, for a cut in the middle of the work on them."""
    said = next((message.text for message in reversed(messages) if isinstance(message, UserMessage)), "")
    said = said.rsplit(TASK, 1)[-1]
    return f"\n\n{TASK}{said if len(said) <= limit else shorten(said, limit)}"
