"""The provider of models behind OpenAI's Responses API, which keeps nothing of the conversation there."""

from __future__ import annotations

import json

from runtime.messages import Image, JsonObject, Part, Reasoning, ToolSpec
from runtime.providers import openai_models
from runtime.providers.openai_history import Answered, History, Said, address, arguments, words
from runtime.providers.openai_provider import OpenAIProvider
from runtime.providers.openai_reply import Question
from runtime.providers.openai_responses_reading import ResponsesReading
from runtime.providers.provider import PRIVATE, Notices, Request

LEAST = 16
"""The service refuses to write fewer tokens."""


class OpenAIResponsesProvider(OpenAIProvider):
    """The model's reasoning is sent back encrypted with each call, so that it can think on; the service
    stores nothing. See OpenAIProvider."""

    path = "/responses"

    def _ask(self, request: Request) -> Question:
        model, lessons = request.model, self._lessons
        history = History(self._service.provider, sees=lessons.sees(model), acts=lessons.acts(model))
        keeps = lessons.takes(model, "encrypted")
        items = [item for turn in history.told(request) for item in _items(turn, model, keeps=keeps)]
        wanted = self._wanted(request)
        body = {name: value for name, value in wanted.items() if lessons.takes(model, name)}
        sent = set(body) | ({"images"} if history.shown else set())
        reasoning = body.get("reasoning", {})
        sent |= {"effort"} & reasoning.keys() | {"summary"} & reasoning.keys()
        if keeps and ("include" in body or any(item.get("type") == "reasoning" for item in items)):
            sent.add("encrypted")
        notices: Notices = history.notices(request)
        if request.effort not in ("", "off") and "effort" not in reasoning:
            notices += (("thinking_left_out", {"model": model}),)
        body |= {"model": model, "input": items, "stream": True, "store": False}
        if request.system:
            body["instructions"] = request.system
        return Question(body, frozenset(sent), notices, ResponsesReading(self._service, model))

    def _wanted(self, request: Request) -> JsonObject:
        """What is sent besides the conversation, unless the model refused it."""
        model, lessons = request.model, self._lessons
        kind = lessons.kind(model)
        limit = request.max_tokens + openai_models.room(kind, request.effort)
        body: JsonObject = {"max_output_tokens": max(LEAST, limit)}
        reasoning: JsonObject = {}
        effort = openai_models.effort(kind, request.effort)
        if effort and lessons.takes(model, "effort"):
            reasoning["effort"] = effort
        if kind.thinks:
            if lessons.takes(model, "summary"):
                reasoning["summary"] = "auto"
            if lessons.takes(model, "encrypted"):
                body["include"] = ["reasoning.encrypted_content"]
        else:
            body["temperature"] = request.temperature
        if reasoning:
            body["reasoning"] = reasoning
        if request.session != PRIVATE:
            body["prompt_cache_key"] = request.session
        if request.tools and lessons.acts(model):
            body["tools"] = [_tool(tool) for tool in request.tools]
            body["tool_choice"] = "none" if request.answer else "auto"
            body["parallel_tool_calls"] = True
        return body


def _tool(tool: ToolSpec) -> JsonObject:
    """Not strict, because that would change the schema."""
    described = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", **described, "strict": False}


def _items(turn: Said | Answered, model: str, *, keeps: bool) -> list[JsonObject]:
    if isinstance(turn, Said):
        return [{"type": "message", "role": "user", "content": _content(turn.parts)}]
    told = [item for block in turn.reasoning if keeps and (item := _thought(block, model))]
    if turn.text:
        told.append({"type": "message", "role": "assistant", "content": turn.text})
    for call, _parts in turn.calls:
        called = {"call_id": call.id, "name": call.name, "arguments": arguments(call)}
        told.append({"type": "function_call", **called})
    for call, parts in turn.calls:
        pictured = any(isinstance(part, Image) for part in parts)
        output = _content(parts) if pictured else words(parts)
        told.append({"type": "function_call_output", "call_id": call.id, "output": output})
    return told


def _content(parts: list[Part] | tuple[Part, ...]) -> list[JsonObject]:
    return [_part(part) for part in parts if isinstance(part, Image) or part.text]


def _part(part: Part) -> JsonObject:
    if isinstance(part, Image):
        return {"type": "input_image", "image_url": address(part), "detail": "auto"}
    return {"type": "input_text", "text": part.text}


def _thought(block: Reasoning, model: str) -> JsonObject:
    """What the service gave to be sent back; only the model that thought it can read it."""
    try:
        about = json.loads(block.opaque)
        item: JsonObject = about["item"]
    except (ValueError, KeyError, TypeError):
        return {}
    return item if about.get("model") == model else {}
