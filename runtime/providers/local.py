"""The provider of models on this machine: translates between a conversation and the embedded engine."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from runtime.errors import OrionError
from runtime.messages import (
    AssistantMessage,
    Image,
    JsonObject,
    Message,
    Part,
    StopReason,
    Text,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from runtime.providers.provider import (
    PRIVATE,
    CallReady,
    CallWriting,
    Failed,
    Finished,
    ModelInfo,
    Notices,
    Progress,
    ReasoningDelta,
    Request,
    StreamItem,
    TextDelta,
    Traits,
)
from runtime.settings import LocalModel

if TYPE_CHECKING:
    from models.errors import EngineError
    from models.generation import Call, GenerateEvent, LoadOptions
    from models.library import Library, ModelFile
    from models.worker_client import LocalEngine

TRAITS = Traits(name="local", local=True)

_USER_FAULTS = frozenset(
    {
        "context_overflow",
        "model_missing",
        "model_sees_no_pictures",
        "model_too_large",
        "model_unknown",
        "picture_too_large",
        "picture_unreadable",
        "projector_unusable",
    }
)
EASILY_CONFUSED = 1_000_000_000
"""Models in files of fewer bytes answer everything with calls or nonsense once they are told of tools, and
choose better among few; models.speech.HASTY is the same bound."""

TALKATIVE = 1.1
"""The repeat penalty of such models when they only talk."""

_POOL_PART = 8
"""The warm states of other conversations take at most this part of the memory limit or of free memory."""


class LocalProvider:
    """Answers with a model file of `library`, run by one engine child that all sessions of the process share.

    A model whose template knows no tools is told of them in the system prompt; the effort "off" reaches
    templates that know how not to think. `settings` gives the present ones; `command` replaces the way the
    child is started; `states` is where long chats are kept on disk.
    """

    def __init__(
        self,
        library: Library,
        settings: Callable[[], LocalModel],
        command: Sequence[str] | None = None,
        states: Path | None = None,
    ) -> None:
        self._library = library
        self._read_settings = settings
        self._command = command
        self._states = states
        self._engine: LocalEngine | None = None
        self._pool_limit = 0

    def traits(self, model: str) -> Traits:
        """See Provider; how sure calls are is known once the model was loaded."""
        from models.errors import EngineError

        try:
            file = self._file(model)
        except EngineError:
            return TRAITS
        info = self._engine.info if self._engine is not None else None
        calls = info.acting if info is not None and info.path == str(file.path) else ""
        return replace(TRAITS, images=bool(self._projector(file)), calls=calls)

    async def models(self) -> list[ModelInfo]:
        """See Provider: the usable files of the library that answer."""
        return [
            ModelInfo(file.name, file.name, file.context, file.size, bool(self._projector(file)))
            for file in await asyncio.to_thread(self._library.list)
            if file.kind == "language" and not file.error
        ]

    @property
    def _settings(self) -> LocalModel:
        return self._read_settings()

    @property
    def engine(self) -> LocalEngine:
        """The engine, made at the first use; needs a running event loop."""
        if self._engine is None:
            from models.worker_client import LocalEngine
            from models.worker_process import Limits

            self._engine = LocalEngine(self._command, Limits(silence=self._settings.hang_seconds))
        self._engine.idle_seconds = 60 * self._settings.idle_minutes
        return self._engine

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        """See Provider."""
        from models.errors import EngineError
        from models.generation import GenerateRequest, Sampling

        try:
            options = await asyncio.to_thread(self._options, request.model)
            messages, pictures = _conversation(request, sees=bool(options.projector))
            asked = GenerateRequest(
                model=options,
                session=request.session,
                messages=messages,
                pictures=pictures,
                tools=_tools(request.tools),
                sampling=Sampling(self._temperature(request), repeat_penalty=self._penalty(request)),
                max_tokens=request.max_tokens,
                template={"enable_thinking": False} if request.effort == "off" else {},
                answer=request.answer,
                private=request.session == PRIVATE,
            )
            async with aclosing(self.engine.generate(asked)) as events:
                async for event in events:
                    yield _item(event)
        except EngineError as error:
            yield Failed(_translated(await asyncio.to_thread(self._with_a_way_out, error)))

    def window(self, model: str) -> int:
        """See Provider: what the file was trained for, within the settings; less where memory is short."""
        from models.errors import EngineError

        try:
            return min(self._settings.window, self._file(model).context)
        except EngineError:
            return 0

    def tools_on_demand(self, model: str) -> bool:
        """See Provider: told from the size of the file."""
        from models.errors import EngineError

        try:
            return self._file(model).size < EASILY_CONFUSED
        except EngineError:
            return False

    async def count(self, request: Request) -> int:
        """See Provider: counted by the model's own template and tokeniser."""
        from models.errors import EngineError

        try:
            options = await asyncio.to_thread(self._options, request.model)
            messages, _ = _conversation(request, sees=bool(options.projector))
            return await self.engine.count_tokens(options, messages, _tools(request.tools))
        except EngineError as error:
            raise _translated(error) from error

    async def close(self) -> None:
        """End the engine child."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()

    def _temperature(self, request: Request) -> float:
        """Very small models act best on what they are surest of."""
        return 0.0 if request.tools and self.tools_on_demand(request.model) else request.temperature

    def _penalty(self, request: Request) -> float:
        """Very small models go round in circles; in words that is damped, in calls it would do harm."""
        return TALKATIVE if not request.tools and self.tools_on_demand(request.model) else 1.0

    def _file(self, model: str) -> ModelFile:
        return self._library.find(self._settings.model if model in ("", "bundled") else model)

    def _options(self, model: str) -> LoadOptions:
        """How to load what the request, the settings or the profile name. EngineError. Reads file headers."""
        from models.generation import LoadOptions
        from models.hardware import memory_available

        chosen = self._file(model)
        limit = self._settings.memory_limit_mb << 20
        if not self._pool_limit:  # once: other options would load the model again
            self._pool_limit = (limit or memory_available()) // _POOL_PART
        return LoadOptions(
            path=str(chosen.path),
            window_cap=self._settings.window,
            threads=self._settings.threads,
            ram_limit=limit,
            pool_limit=self._pool_limit,
            state_folder=str(self._states or ""),
            state_limit=self._settings.state_cache_mb << 20,
            gpu_layers=self._settings.gpu_layers,
            batch=self._settings.batch,
            projector=self._projector(chosen),
        )

    def _projector(self, model: ModelFile) -> str:
        """The file through which `model` sees pictures, or ""."""
        return self._settings.projector or str(model.projector or "")

    def _with_a_way_out(self, error: EngineError) -> EngineError:
        """The error of a model that is too large names the largest other one that would fit, if any does, and
        half the layers where the user put more on the graphics card than the program would."""
        from models.errors import EngineError
        from models.fit import largest_fitting

        if error.code in ("model_too_large", "worker_out_of_memory") and self._settings.gpu_layers > 0:
            layers = self._settings.gpu_layers // 2
            error = EngineError(error.code, **error.fields | {"suggested_layers": layers})
        if error.code != "model_too_large":
            return error
        room = int(error.fields["available_mb"]) << 20
        others = (file for file in self._library.list() if str(file.path) != error.fields["path"])
        found = largest_fitting(others, room, self._settings.window)
        return EngineError(error.code, **error.fields, suggested_model=found.name if found else "")


def _translated(error: EngineError) -> OrionError:
    fault = "user" if error.code in _USER_FAULTS or error.code.startswith("model_file") else "provider"
    return OrionError(error.code, fault="user" if fault == "user" else "provider", **error.fields)


_UNSEEN = "[a picture that cannot be seen]"


def _conversation(request: Request, *, sees: bool) -> tuple[list[JsonObject], list[str]]:
    """The conversation in the shape that chat templates read, and its pictures in base64. A model that does
    not see is given a picture only if it is what was said last, so that it is refused."""
    from models.pictures import free_of_marks

    messages: list[JsonObject] = []
    if request.system:
        messages.append({"role": "system", "content": free_of_marks(request.system)})
    pictures: list[str] = []
    for message in request.messages:
        shown = sees or (message is request.messages[-1] and isinstance(message, UserMessage))
        messages.append(_message(message, pictures if shown else None))
    return messages, pictures


def _said(parts: tuple[Part, ...], pictures: list[str] | None) -> str:
    """The text of `parts`, with a mark for each picture, which is added to `pictures`; None shows none."""
    from models.pictures import MARK, free_of_marks

    pieces: list[str] = []
    for part in parts:
        match part:
            case Text():
                pieces.append(free_of_marks(part.text))
            case Image():
                pieces.append(_UNSEEN if pictures is None else MARK)
                if pictures is not None:
                    pictures.append(part.data)
            case _:
                assert_never(part)
    return "".join(pieces)


def _message(message: Message, pictures: list[str] | None) -> JsonObject:
    match message:
        case UserMessage():
            return {"role": "user", "content": _said(message.parts, pictures)}
        case AssistantMessage():
            spoken: JsonObject = {"role": "assistant", "content": _said((Text(message.text),), None)}
            if message.reasoning:
                spoken["reasoning_content"] = "".join(part.text for part in message.reasoning)
            if message.calls:
                spoken["tool_calls"] = [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": _arguments(call)},
                    }
                    for call in message.calls
                ]
            return spoken
        case ToolMessage():
            return {
                "role": "tool",
                "tool_call_id": message.call_id,
                "name": message.name,
                "content": _said(message.parts, pictures),
            }
        case _:
            assert_never(message)


def _arguments(call: ToolCall) -> str:
    """As JSON text, in the order and the spacing in which models write it, so that the prompt continues what
    is evaluated already."""
    return json.dumps(call.arguments, ensure_ascii=False)


def _tools(tools: tuple[ToolSpec, ...]) -> list[JsonObject]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in tools
    ]


def _item(event: GenerateEvent) -> StreamItem:
    from models import generation as said

    match event:
        case said.Waiting():
            return Progress("waiting")
        case said.Starting(again):
            return Progress("restarted" if again else "starting")
        case said.Loading(fraction):
            return Progress("loading", fraction)
        case said.Prefill(done, total):
            return Progress("evaluating", done / total)
        case said.Text(text):
            return TextDelta(text)
        case said.Reasoning(text):
            return ReasoningDelta(text)
        case said.Writing(name):
            return CallWriting(name, "")
        case said.Call():
            return CallReady(_call(event))
        case said.Finished(stop_reason, usage, window, notice):
            reason: StopReason = stop_reason
            counted = Usage(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
            told: Notices = (("history_retold", {"reason": notice}),) if notice else ()
            speeds = usage.tokens_per_second, usage.prefill_per_second
            return Finished(reason, counted, speeds[0], window, told, speeds[1])
        case _:
            assert_never(event)


_FAULTS = {
    "unclosed": "the reply ended before the call was complete",
    "not_json": "they are no JSON",
    "not_an_object": "they are no JSON object",
    "not_finite": "a number is not finite",
    "too_deep": "they are nested too deeply",
    "too_many": "the reply held too many calls; ask for fewer at a time",
}


def _call(call: Call) -> ToolCall:
    """A call as the house knows it. Its id is ours, because models write the same one twice; it has the nine
    letters and digits that the strictest template wants."""
    arguments: JsonObject = {}
    fault = _FAULTS.get(call.fault, call.fault)
    try:
        found = json.loads(call.arguments or "{}")
        arguments = found if isinstance(found, dict) else {}
    except (ValueError, RecursionError):
        fault = fault or _FAULTS["not_json"]
    return ToolCall(secrets.token_hex(5)[:9], call.name, arguments, fault)
