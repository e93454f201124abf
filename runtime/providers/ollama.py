"""The provider of models that an Ollama server runs, on this machine or another one."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

from pydantic import BaseModel, ValidationError

from resources.translation import _
from runtime.errors import OrionError
from runtime.messages import (
    AssistantMessage,
    Image,
    JsonObject,
    StopReason,
    ToolCall,
    ToolSpec,
    Usage,
)
from runtime.providers import faults
from runtime.providers.call_arguments import read_arguments
from runtime.providers.connection import Connection
from runtime.providers.ollama_history import History
from runtime.providers.ollama_library import OllamaLibrary
from runtime.providers.provider import (
    CallReady,
    CallWriting,
    Failed,
    Finished,
    ModelInfo,
    Notices,
    ReasoningDelta,
    Request,
    StreamItem,
    TextDelta,
    Traits,
)

CLOUD = "ollama.com"
WINDOW = 16_384
"""Tokens of the window asked for: more takes memory from the model, and of itself Ollama gives too few for
work with tools."""

UNSEEN_SIZE = 2_048
"""A request of more tokens is sent only when the model's own window is known."""

PICTURE_TOKENS = 1_000
BYTES_PER_TOKEN = 3.0

_SEEING = ("-vl", "vl:", "vision", "llava", "gemma3", "gemma4", "moondream", "minicpm-v", "llama4", "pixtral")
_NO_TOOLS, _NO_THINKING = "does not support tools", "does not support thinking"


class OllamaProvider:
    """Answers with a model of the server that `connection` names. `library` manages the server's models.

    `keep_alive` says how long the server keeps a model in memory after a reply, in Ollama's form ("10m", -1);
    None leaves it to the server.
    """

    def __init__(self, connection: Connection, keep_alive: str | float | None = None) -> None:
        self.library = OllamaLibrary(connection)
        self._name = connection.provider
        self._keep_alive = keep_alive
        self._refused: set[tuple[str, str]] = set()
        self._bytes_per_token: dict[str, float] = {}

    def traits(self, model: str) -> Traits:
        """See Provider. A model that the server only passes on to Ollama's cloud is not local."""
        local = self.library.local and not _in_the_cloud(model)
        host = "" if local else CLOUD if self.library.local else self.library.host
        return Traits(self._name, local, self._can("tools", model), self._sees(model), host=host)

    def window(self, model: str) -> int:
        """See Provider: what is asked for, which is less than WINDOW where the model has less, or what the
        model's maker set."""
        known = self.library.known(model)
        if known is None or not (known.window or known.chosen):
            return 0 if _in_the_cloud(model) else WINDOW
        if _in_the_cloud(model):
            return known.window
        return min(known.chosen or WINDOW, known.window or WINDOW)

    def tools_on_demand(self, model: str) -> bool:
        """See Provider: never."""
        return False

    async def models(self) -> list[ModelInfo]:
        """See Provider: the models of the server that can talk."""
        return [
            ModelInfo(
                model.name,
                f"{model.name} ({model.parameters})" if model.parameters else model.name,
                self.window(model.name),
                model.size,
                self._sees(model.name),
                self._can("tools", model.name),
            )
            for model in await self.library.installed()
            if not model.capabilities or "completion" in model.capabilities
        ]

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        """See Provider. What the model turns out not to support is left out and it is asked again at once."""
        try:
            await self._meet(request)
        except OrionError as error:
            yield Failed(error)
            return
        refusal = True
        while refusal:
            refusal = False
            async with aclosing(self._once(request)) as items:
                async for item in items:
                    if isinstance(item, Failed) and self._learns(request.model, item.error):
                        refusal = True
                        break
                    yield item

    async def count(self, request: Request) -> int:
        """See Provider: a careful estimate."""
        size, pictures = _size(request)
        per_token = self._bytes_per_token.get(request.model, BYTES_PER_TOKEN)
        seen = pictures if self._sees(request.model) else 0
        return int(size / per_token) + 8 * len(request.messages) + seen * PICTURE_TOKENS

    async def close(self) -> None:
        """Close the connections to the server; idempotent."""
        await self.library.close()

    async def _meet(self, request: Request) -> None:
        """Ask what a model is like before it is sent what it may not see or read: Ollama leaves out both
        without a word."""
        if self.library.known(request.model) is None:
            pictures = _size(request)[1]
            if (pictures and not self._sees(request.model)) or await self.count(request) > UNSEEN_SIZE:
                await self.library.show(request.model)

    async def _once(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        body, notices = self._body(request)
        reading = _Reading()
        end: Finished | Failed
        try:
            async with aclosing(self.library.lines(request.model, "/api/chat", body)) as parts:
                async for part in parts:
                    for item in reading.take(part):
                        yield item
            end = self._end(request, reading, notices)
        except OrionError as error:
            end = Failed(error)
        except ValidationError:
            end = Failed(faults.malformed(self._name, _("not the JSON that Ollama documents")))
        yield end

    def _end(self, request: Request, reading: _Reading, notices: Notices) -> Finished | Failed:
        last = reading.last
        if last is None:
            return Failed(faults.cut_short(self._name, request.model))
        size, pictures = _size(request)
        if last.prompt_eval_count > UNSEEN_SIZE / 4 and not pictures:
            density = max(1.0, size / last.prompt_eval_count)
            self._bytes_per_token[request.model] = min(BYTES_PER_TOKEN, density)
        reason: StopReason = "stop"
        if reading.calls:
            reason = "tool_calls"
        elif last.done_reason == "length":
            reason = "length"
        usage = Usage(last.prompt_eval_count, last.eval_count)
        speed = last.eval_count * 1e9 / last.eval_duration if last.eval_duration else 0.0
        return Finished(reason, usage, speed, self.window(request.model), notices)

    def _body(self, request: Request) -> tuple[JsonObject, Notices]:
        """What is sent, and notices of what was left out of it."""
        model = request.model
        acts = self._can("tools", model)
        history = History(self._name, sees=self._sees(model), acts=acts)
        body: JsonObject = {"model": model, "messages": history.told(request), "stream": True}
        notices: list[tuple[str, dict[str, str | int | float]]] = []
        if history.left_out:
            notices.append(("content_left_out", {"model": model, "what": _("pictures")}))
        if request.tools and not acts:
            notices.append(("tools_left_out", {"model": model}))
        elif request.tools and not request.answer:  # Ollama cannot be told to offer tools and call none
            body["tools"] = [_tool(tool) for tool in request.tools]
        if request.effort == "off":
            body["think"] = False
        elif request.effort and self._can("thinking", model):
            body["think"] = request.effort if "gpt-oss" in model else True
        elif request.effort:
            notices.append(("thinking_left_out", {"model": model}))
        body["options"] = {"temperature": request.temperature, "num_predict": request.max_tokens}
        if not _in_the_cloud(model):
            body["options"]["num_ctx"] = self.window(model)
        body |= {"truncate": False, "shift": False}  # or what is too long is cut off without a word
        if self._keep_alive is not None:
            body["keep_alive"] = self._keep_alive
        return body, tuple(notices)

    def _can(self, what: str, model: str) -> bool:
        """Whether the model has the capability, as far as is known: until then it is believed to."""
        known = self.library.known(model)
        listed = known is None or not known.capabilities or what in known.capabilities
        return listed and (model, what) not in self._refused

    def _sees(self, model: str) -> bool:
        known = self.library.known(model)
        if known is not None and known.capabilities:
            return "vision" in known.capabilities
        return any(mark in model.lower() for mark in _SEEING)

    def _learns(self, model: str, error: OrionError) -> bool:
        """Whether the error tells something new of what the model cannot do."""
        said = str(error.fields.get("problem", ""))
        for what, mark in (("tools", _NO_TOOLS), ("thinking", _NO_THINKING)):
            if mark in said and (model, what) not in self._refused:
                self._refused.add((model, what))
                return True
        return False


def _in_the_cloud(model: str) -> bool:
    """Ollama's name for a model that its server passes on to CLOUD ends in this tag."""
    return model.partition(":")[2].endswith("cloud")


def _size(request: Request) -> tuple[int, int]:
    """Bytes of the request's text, and its pictures."""
    size = len(request.system.encode("utf-8", "replace"))
    size += sum(len(json.dumps(_tool(tool), ensure_ascii=False)) for tool in request.tools)
    pictures = 0
    for message in request.messages:
        if isinstance(message, AssistantMessage):
            size += len(message.text.encode("utf-8", "replace"))
            size += sum(len(part.text) for part in message.reasoning)
            size += sum(len(call.name) + len(json.dumps(call.arguments)) for call in message.calls)
        else:
            size += len(message.text.encode("utf-8", "replace"))
            pictures += sum(isinstance(part, Image) for part in message.parts)
    return size, pictures


def _tool(tool: ToolSpec) -> JsonObject:
    described = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": described}


class _Function(BaseModel):
    name: str
    arguments: Any = None


class _Called(BaseModel):
    id: str | None = None
    function: _Function


class _Said(BaseModel):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[_Called] | None = None


class _Line(BaseModel):
    """One line of a streamed chat; durations in nanoseconds."""

    message: _Said = _Said()
    done: bool = False
    done_reason: str | None = None
    prompt_eval_count: int = 0
    eval_count: int = 0
    eval_duration: int = 0


class _Reading:
    """Reads the lines of one reply; `last` is the one that ends it."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self.last: _Line | None = None

    def take(self, part: JsonObject) -> Iterator[StreamItem]:
        """One more line. Raises ValidationError."""
        line = _Line.model_validate(part)
        said = line.message
        if said.thinking:
            yield ReasoningDelta(said.thinking)
        if said.content:
            yield TextDelta(said.content)
        for called in said.tool_calls or ():
            call = self._call(called)
            self.calls.append(call)
            yield CallWriting(call.name, json.dumps(call.arguments, ensure_ascii=False))
            yield CallReady(call)
        if line.done:
            self.last = line

    def _call(self, called: _Called) -> ToolCall:
        """A call comes whole; older servers give it no id."""
        taken = {call.id for call in self.calls}
        own = called.id if called.id and called.id not in taken else secrets.token_hex(5)[:9]
        arguments = called.function.arguments
        if not isinstance(arguments, str):
            arguments = json.dumps({} if arguments is None else arguments)
        return ToolCall(own, called.function.name, *read_arguments(arguments))
