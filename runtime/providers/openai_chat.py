"""The provider of models behind services that speak OpenAI's Chat Completions, wherever they are."""

from __future__ import annotations

import json

from runtime.messages import Image, JsonObject, Part, Reasoning, Text, ToolSpec
from runtime.providers import openai_models
from runtime.providers.openai_chat_reading import ChatReading
from runtime.providers.openai_history import Answered, History, Said, address, arguments, pictures, words
from runtime.providers.openai_provider import OpenAIProvider
from runtime.providers.openai_reply import Question
from runtime.providers.provider import PRIVATE, Notices, Request

OF_RESULTS = "[pictures of the results above]"


class OpenAIChatProvider(OpenAIProvider):
    """Answers with a model of OpenAI, OpenRouter, NVIDIA, LM Studio, vLLM, llama.cpp's server and all others
    that speak this way; see OpenAIProvider."""

    path = "/chat/completions"

    def _ask(self, request: Request) -> Question:
        model, lessons = request.model, self._lessons
        history = History(self._service.provider, sees=lessons.sees(model), acts=lessons.acts(model))
        messages = _messages(history, request)
        wanted = self._wanted(request)
        body = {name: value for name, value in wanted.items() if lessons.takes(model, name)}
        sent = set(body) | ({"images"} if history.shown else set())
        notices: Notices = history.notices(request)
        if "reasoning_effort" in body:
            sent.add("effort")
        elif request.effort not in ("", "off"):
            notices += (("thinking_left_out", {"model": model}),)
        body |= {"model": model, "messages": messages, "stream": True}
        return Question(body, frozenset(sent), notices, ChatReading(self._service.provider, model))

    def _wanted(self, request: Request) -> JsonObject:
        """What is sent besides the conversation, unless the model refused it."""
        kind = self._lessons.kind(request.model)
        body: JsonObject = {"stream_options": {"include_usage": True}}
        limits = ["max_tokens", "max_completion_tokens"]
        if self._service.official:
            limits.reverse()
        if limit := next((name for name in limits if self._lessons.takes(request.model, name)), ""):
            body[limit] = request.max_tokens + openai_models.room(kind, request.effort)
        if not kind.thinks:
            body["temperature"] = request.temperature
        effort = openai_models.effort(kind, request.effort)
        if effort and self._lessons.takes(request.model, "effort"):
            body["reasoning_effort"] = effort
        if self._service.official:
            body["store"] = False
            if request.session != PRIVATE:
                body["prompt_cache_key"] = request.session
        if request.tools and self._lessons.acts(request.model):
            body["tools"] = [_tool(tool) for tool in request.tools]
            body["tool_choice"] = "none" if request.answer else "auto"
            body["parallel_tool_calls"] = True
        return body


def _tool(tool: ToolSpec) -> JsonObject:
    described = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": described}


def _messages(history: History, request: Request) -> list[JsonObject]:
    """The conversation; pictures of results come in a message of the user, because results hold text only."""
    told: list[JsonObject] = [{"role": "system", "content": request.system}] if request.system else []
    waiting: list[Part] = []
    for turn in history.told(request):
        if isinstance(turn, Said):
            told.append(_user([*waiting, *turn.parts]))
            waiting = []
            continue
        if waiting:
            told.append(_user(waiting))
        told.append(_reply(turn, request.model))
        for call, parts in turn.calls:
            told.append({"role": "tool", "tool_call_id": call.id, "content": words(parts)})
        shown = [picture for _call, parts in turn.calls for picture in pictures(parts)]
        waiting = [Text(OF_RESULTS), *shown] if shown else []
    return [*told, _user(waiting)] if waiting else told


def _user(parts: list[Part]) -> JsonObject:
    if not any(isinstance(part, Image) for part in parts):
        return {"role": "user", "content": words(parts)}
    return {
        "role": "user",
        "content": [_part(part) for part in parts if isinstance(part, Image) or part.text.strip()],
    }


def _part(part: Part) -> JsonObject:
    if isinstance(part, Image):
        return {"type": "image_url", "image_url": {"url": address(part)}}
    return {"type": "text", "text": part.text}


def _reply(turn: Answered, model: str) -> JsonObject:
    said: JsonObject = {"role": "assistant", "content": turn.text}
    if turn.calls:
        said["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments(call)}}
            for call, _parts in turn.calls
        ]
    for block in turn.reasoning:
        _think(said, block, model)
    return said


def _think(said: JsonObject, block: Reasoning, model: str) -> None:
    """Add a thought under the name it came with; what the service added to it is for the same model only."""
    try:
        about = json.loads(block.opaque)
        name, other = about["as"], about["model"] != model
    except (ValueError, KeyError, TypeError):
        return
    if name in ("reasoning_content", "reasoning") and block.text:
        said[name] = said.get(name, "") + block.text
    if isinstance(details := about.get("details"), list) and not other:
        said["reasoning_details"] = said.get("reasoning_details", []) + details
