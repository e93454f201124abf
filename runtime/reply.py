"""A reply of a model as it comes in, piece by piece."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from typing import assert_never

from runtime.events import (
    Body,
    ModelState,
    ResponseChunk,
    Retry,
    ThinkingChunk,
    ThinkingComplete,
    ThinkingStart,
    ToolWriting,
)
from runtime.messages import JsonObject, Reasoning, ToolCall
from runtime.providers.provider import (
    CallReady,
    CallWriting,
    Failed,
    Finished,
    Progress,
    ReasoningDelta,
    Retrying,
    StreamItem,
    TextDelta,
)


@dataclass(slots=True)
class Reply:
    """Takes the items of a provider's stream and tells of each through `emit`. `end` is the last item, None
    where the stream ended without one; `open_thought` is when the running thought began; `taken` are the ids
    of the conversation's earlier calls."""

    model: str
    emit: Callable[[Body], None]
    taken: Collection[str] = ()
    text: list[str] = field(default_factory=list)
    thoughts: list[Reasoning] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    end: Finished | Failed | None = None
    open_thought: float = 0.0
    thinking_seconds: float = 0.0

    def take(self, item: StreamItem) -> None:
        """One more item."""
        match item:
            case ReasoningDelta(text, opaque):
                if not self.open_thought:
                    self.open_thought = time.monotonic()
                    self.emit(ThinkingStart())
                self.thoughts.append(Reasoning(text, opaque))
                self.emit(ThinkingChunk(text))
            case TextDelta(text):
                self._end_thought()
                self.text.append(text)
                self.emit(ResponseChunk(text))
            case CallWriting(name, text):
                self._end_thought()
                self.emit(ToolWriting(name, text))
            case CallReady(call):
                self._end_thought()
                self.calls.append(self._told_apart(call))
            case Progress(state, fraction):
                self.emit(ModelState(state, self.model, fraction))
            case Retrying(code, fields, attempt, seconds):
                self.emit(Retry(code, fields, attempt, seconds))
            case Finished() | Failed():
                self._end_thought()
                self.end = item
            case _:
                assert_never(item)

    def _told_apart(self, call: ToolCall) -> ToolCall:
        """The call with an id of its own: some services begin to count anew with each reply."""
        known = {*self.taken, *(other.id for other in self.calls)}
        if call.id not in known:
            return call
        return replace(call, id=next(name for n in count(2) if (name := f"{call.id}-{n}") not in known))

    def as_data(self, stop_reason: str) -> JsonObject:
        """The reply for the journal; calls of one that broke off were never whole and are left out."""
        end = self.end
        whole = isinstance(end, Finished)
        return {
            "text": "".join(self.text),
            "reasoning": [{"text": part.text, "opaque": part.opaque} for part in self.blocks],
            "calls": [asdict(call) for call in self.calls] if whole else [],
            "complete": whole,
            "stop_reason": stop_reason,
            "usage": asdict(end.usage) if isinstance(end, Finished) else {},
            "thinking_seconds": round(self.thinking_seconds, 3),
        }

    @property
    def begun(self) -> bool:
        """Whether anything of the reply came."""
        return bool(self.text or self.thoughts or self.calls)

    @property
    def written(self) -> str:
        """All that came, in the model's words."""
        calls = [json.dumps(call.arguments) for call in self.calls]
        return "".join([*(part.text for part in self.thoughts), *self.text, *calls])

    @property
    def blocks(self) -> tuple[Reasoning, ...]:
        """The thoughts joined into blocks; a signature closes its block."""
        blocks: list[Reasoning] = []
        open_block = False
        for piece in self.thoughts:
            if open_block:
                blocks[-1] = Reasoning(blocks[-1].text + piece.text, piece.opaque)
            else:
                blocks.append(piece)
            open_block = not piece.opaque
        return tuple(blocks)

    def _end_thought(self) -> None:
        if self.open_thought:
            seconds = time.monotonic() - self.open_thought
            self.thinking_seconds += seconds
            self.open_thought = 0.0
            self.emit(ThinkingComplete(round(seconds, 3)))
