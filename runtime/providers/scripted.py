"""A provider that plays a script; it drives tests, the demo profile and the self-test of a build."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime import yamlfile
from runtime.errors import OrionError
from runtime.messages import ToolCall, Usage
from runtime.providers.provider import (
    CallReady,
    Failed,
    Finished,
    ModelInfo,
    ReasoningDelta,
    Request,
    StreamItem,
    TextDelta,
    Traits,
)

STEPS = ("say", "think", "call", "error", "wait", "expect")
TRAITS = Traits(name="scripted", local=True, images=True)


@dataclass(slots=True)
class Reply:
    """What one model call plays: (step, value) pairs."""

    steps: list[tuple[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Script:
    """A parsed script; `loop` begins again after the last reply, `window` is the one it pretends to have."""

    path: Path
    replies: tuple[Reply, ...]
    loop: bool
    window: int = 0


def load_script(path: Path) -> Script:
    """Read {loop, window, steps: [{say | think | call | error | wait | expect}, …]}.

    A reply ends after its calls, after an error, and before a further think, say or expect once it has
    spoken. Raises OrionError with path and line for anything else.
    """
    data = yamlfile.read(path)
    replies: list[Reply] = []
    current = Reply()
    for number, step in enumerate(data.get("steps") or []):
        line = data["steps"].lc.item(number)[0] + 1
        if not isinstance(step, dict) or len(step) != 1 or next(iter(step)) not in STEPS:
            known = ", ".join(STEPS)
            raise OrionError(
                "yaml_wrong_value", path=str(path), line=line, key="steps", problem=f"one of {known}"
            )
        ((kind, value),) = step.items()
        if _ends_before(current, str(kind)):
            replies.append(current)
            current = Reply()
        current.steps.append((str(kind), value))
    if current.steps:
        replies.append(current)
    return Script(path, tuple(replies), bool(data.get("loop", False)), int(data.get("window", 0)))


def _ends_before(reply: Reply, step: str) -> bool:
    kinds = {kind for kind, _ in reply.steps}
    if "error" in kinds or ("call" in kinds and step != "call"):
        return True
    return "say" in kinds and step in ("say", "think", "expect")


class ScriptedProvider:
    """Plays `script`. Which reply comes next follows from the number of replies in the conversation, so it
    goes on where it was after a restart."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._played: set[int] = set()

    def traits(self, model: str) -> Traits:
        """See Provider."""
        return TRAITS

    async def models(self) -> list[ModelInfo]:
        """See Provider: the script is the one model."""
        return [ModelInfo(self._script.path.name, window=self._script.window)]

    def left_over(self) -> int:
        """How many replies were never played; a test that expects them all checks this."""
        return len(self._script.replies) - len(self._played)

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        """See Provider. Fails with `script_exhausted` or `script_mismatch` on a call it did not expect."""
        number = request.replies
        replies = self._script.replies
        if self._script.loop and replies:
            number %= len(replies)
        if number >= len(replies):
            yield Failed(
                OrionError("script_exhausted", fault="provider", path=str(self._script.path), call=number + 1)
            )
            return
        self._played.add(number)
        calls = words = 0
        for kind, value in replies[number].steps:
            match kind:
                case "wait":
                    await asyncio.sleep(float(value))
                case "expect":
                    if str(value) not in _last_text(request):
                        yield Failed(OrionError("script_mismatch", fault="provider", expected=str(value)))
                        return
                case "error":
                    yield Failed(_error(value))
                    return
                case "think" | "say":
                    text, delay = (
                        (value["text"], float(value["delay"])) if isinstance(value, dict) else (value, 0.0)
                    )
                    for piece in _pieces(str(text)):
                        words += 1
                        yield TextDelta(piece) if kind == "say" else ReasoningDelta(piece)
                        await asyncio.sleep(delay)
                case "call":
                    calls += 1
                    yield CallReady(_call(value, request, calls))
        prompt = await self.count(request)
        yield Finished("tool_calls" if calls else "stop", Usage(prompt, words), window=self._script.window)

    def window(self, model: str) -> int:
        """What the script says."""
        return self._script.window

    def tools_on_demand(self, model: str) -> bool:
        """A script is never confused."""
        return False

    async def count(self, request: Request) -> int:
        """A token for every word."""
        said = [request.system, *(message.text for message in request.messages)]
        return sum(len(text.split()) for text in said) + 40 * len(request.tools)

    async def close(self) -> None:
        """Nothing to free."""


def _pieces(text: str) -> list[str]:
    """Words with the space that follows them; joined they are the text."""
    pieces: list[str] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or (text[end - 1].isspace() and not text[end].isspace()):
            pieces.append(text[start:end])
            start = end
    return pieces


def _call(value: dict[str, Any], request: Request, number: int) -> ToolCall:
    unique = f"call-{len(request.messages)}-{number}"
    return ToolCall(str(value.get("id", unique)), str(value["name"]), dict(value.get("arguments") or {}))


def _error(value: Any) -> OrionError:
    if isinstance(value, dict):
        fields = {key: item for key, item in value.items() if key != "code"}
        return OrionError(str(value["code"]), fault="provider", **fields)
    return OrionError(str(value), fault="provider")


def _last_text(request: Request) -> str:
    return getattr(request.messages[-1], "text", "") if request.messages else ""
