"""Turns a conversation into the body of a request to Anthropic's Messages API.

Source of the format: the API reference of version 2026-10-21 and the types of the official client.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from resources.translation import _
from runtime.messages import (
    AssistantMessage,
    Image,
    JsonObject,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from runtime.providers.anthropic_models import BUDGETS, LEAST_BUDGET, Kind
from runtime.providers.provider import NativeTool, Notices, Request

BINDING = "thinking-binding-controls-2026-08-01"
"""The beta header under which thinking that no longer fits its conversation is dropped and not refused."""

GAP = "\n\n"
"""Set between two blocks of a reply's text that something else stood between; it is not sent back."""

EPHEMERAL = {"type": "ephemeral"}
MARKED_TURNS = 2

_PICTURES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_NATIVE = re.compile(r"(computer|bash|text_editor|memory|computer_toolset|browser_toolset)_\d{8}")
_FIRST_BETA = "computer-use-2024-10-22"
_BETAS = {
    "computer_20241022": _FIRST_BETA,
    "bash_20241022": _FIRST_BETA,
    "text_editor_20241022": _FIRST_BETA,
    "computer_20250124": "computer-use-2025-01-24",
    "computer_20251124": "computer-use-2025-11-24",
}
_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
_ID_LENGTH, _NAME_LENGTH = 64, 128

_NOT_AT_THE_TOP = frozenset({"oneOf", "anyOf", "allOf"})
"""Keywords the service refuses at the top of a schema. Arguments are checked against the whole one later."""

_GONE = "It is not available any more."
_UNSEEN = "[a picture that cannot be seen]"
_NO_RESULT = "There is no result; the call was broken off."
_NO_OUTPUT = "It failed without saying why."
_GO_ON = "Go on."
_EARLIER = "[what was said before is not shown]"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request as it is sent. `betas` are the names for the beta header; `tools` gives the house's name
    for a name on the wire, `families` its name for a set of tools that the model calls member by member."""

    body: JsonObject
    betas: tuple[str, ...]
    tools: dict[str, str]
    families: dict[str, str]
    notices: Notices


def seal(model: str, chars: int, calls: int, *, signature: str = "", redacted: str = "") -> str:
    """What is kept as `opaque` of a block of thinking: who thought it, its signature or its encrypted text,
    and after how many characters of the answer and how many calls of the reply it stood."""
    found: JsonObject = {"model": model, "at": [chars, calls]}
    found |= {"signature": signature} if signature else {"redacted": redacted} if redacted else {}
    return json.dumps(found)


def prepare(request: Request, provider: str, kind: Kind) -> Prepared:
    """The body for `request` to a model of this `kind`. `provider` is under which name our own earlier
    replies are known: only their thinking goes back, and only to the model that thought it."""
    native = [tool for tool in request.native if _NATIVE.fullmatch(tool.type)]
    thinking, betas, room = _thinking(request, provider, kind)
    limit = kind.output or request.max_tokens + room
    kept = provider if thinking.get("thinking", {}).get("type") in ("adaptive", "enabled") else ""
    turns = _Turns(request.model, kept, kind.images, {tool.name: _family(tool) for tool in native})
    turns.take(request.messages)
    body: JsonObject = {"model": request.model, "max_tokens": min(request.max_tokens + room, limit)}
    body |= thinking
    if kind.sampling:
        body["temperature"] = request.temperature
    tools = _tools(request, native)
    if tools or turns.called:
        body["tools"] = tools or [_gone(name) for name in turns.called]
        if request.answer or not tools:
            body["tool_choice"] = {"type": "none"}
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system}]
    body["messages"] = turns.done
    _mark(body)
    unseen: Notices = (("content_left_out", {"model": request.model, "what": _("pictures")}),)
    betas += tuple(beta for tool in native if (beta := tool.beta or _BETAS.get(tool.type)))
    return Prepared(
        body,
        tuple(dict.fromkeys(betas)),
        {_name(tool.name): tool.name for tool in request.tools},
        {family: tool.name for tool in native if (family := _family(tool))},
        unseen if turns.unseen else (),
    )


def _thinking(request: Request, provider: str, kind: Kind) -> tuple[JsonObject, tuple[str, ...], int]:
    """The members that say how long to think, the beta headers they need, and the tokens they take."""
    effort = request.effort
    if kind.thinking == "adaptive":
        if effort == "off" and kind.off:
            return {"thinking": {"type": kind.off}}, (), 0
        if not kind.unasked and effort in ("", "off"):
            return {}, (), 0
        level = "low" if effort == "off" else effort
        asked: JsonObject = {"thinking": {"type": "adaptive", "display": "summarized"}}
        if kind.bound:
            asked["thinking"]["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
        if level:
            asked["output_config"] = {"effort": level}
        return asked, (BINDING,) if kind.bound else (), BUDGETS[level or "medium"]
    if kind.thinking == "none" or effort not in BUDGETS or _mid_turn_of_another(request, provider):
        return {}, (), 0
    room = BUDGETS[effort]
    if kind.output and request.max_tokens + room > kind.output:
        room = max(kind.output - request.max_tokens, min(room, kind.output // 2))
    if room < LEAST_BUDGET:
        return {}, (), 0
    return {"thinking": {"type": "enabled", "budget_tokens": room}}, (), room


def _mid_turn_of_another(request: Request, provider: str) -> bool:
    """Whether results are sent in a turn that did not begin with thinking of this model: one with a budget
    does not accept that while it is to think."""
    if not request.messages or not isinstance(request.messages[-1], ToolMessage):
        return False
    said = [place for place, message in enumerate(request.messages) if isinstance(message, UserMessage)]
    turn = request.messages[said[-1] + 1 :] if said else request.messages
    first = next((message for message in turn if isinstance(message, AssistantMessage)), None)
    return first is None or not _thoughts(first, request.model, provider)


def _tools(request: Request, native: Sequence[NativeTool]) -> list[JsonObject]:
    """The tools as the service wants them. One the service defines itself stands for ours of its name."""
    tools: list[JsonObject] = []
    for tool in native:
        named = {} if _family(tool) else {"name": tool.name}
        tools.append({"type": tool.type} | named | tool.params)
    taken = {tool.name for tool in native}
    for spec in request.tools:
        if spec.name not in taken:
            schema = {"type": "object", "properties": {}} | spec.parameters
            schema = {name: value for name, value in schema.items() if name not in _NOT_AT_THE_TOP}
            tools.append({"name": _name(spec.name), "description": spec.description, "input_schema": schema})
    return tools


def _gone(name: str) -> JsonObject:
    """A tool of which only calls are left; the service wants to be told of it all the same."""
    return {"name": name, "description": _GONE, "input_schema": {"type": "object", "properties": {}}}


def _mark(body: JsonObject) -> None:
    """Tell the service up to where it may keep what it has read: at most four places."""
    for last in (body.get("tools", []), body.get("system", [])):
        if last:
            last[-1]["cache_control"] = EPHEMERAL
    said = [message for message in body["messages"] if message["role"] == "user"]
    for message in said[-MARKED_TURNS:]:
        message["content"][-1]["cache_control"] = EPHEMERAL


def _family(tool: NativeTool) -> str:
    """The name under which a set of tools is called; empty for a single tool."""
    family, toolset, _version = tool.type.partition("_toolset_")
    return family if toolset else ""


def _name(name: str) -> str:
    return _UNFIT.sub("_", name)[:_NAME_LENGTH]


def _thoughts(message: AssistantMessage, model: str, provider: str) -> list[tuple[int, int, JsonObject]]:
    """The blocks of thinking that `model` may be sent back, with their places in the reply."""
    if not provider or message.provider != provider:
        return []
    return [found for part in message.reasoning if (found := _unsealed(part, model))]


def _unsealed(part: Reasoning, model: str) -> tuple[int, int, JsonObject] | None:
    try:
        kept = json.loads(part.opaque)
        chars, calls = map(int, kept["at"])
        thinker = kept["model"]
    except (ValueError, TypeError, KeyError):
        return None
    if thinker != model:
        return None
    if signature := kept.get("signature"):
        return chars, calls, {"type": "thinking", "thinking": part.text, "signature": signature}
    if redacted := kept.get("redacted"):
        return chars, calls, {"type": "redacted_thinking", "data": redacted}
    return None


@dataclass(slots=True)
class _Turns:
    """Builds the messages: roles take turns, each call has its result at the head of the next message, ids
    are unique and of the letters the service takes, and no text is empty. `families` maps names of native
    tools to the sets of tools they stand for. `called` holds the names of all calls, `unseen` tells whether a
    picture was left out."""

    model: str
    provider: str
    sees: bool
    families: dict[str, str]
    done: list[JsonObject] = field(default_factory=list)
    called: dict[str, None] = field(default_factory=dict)
    unseen: bool = False
    _open: dict[str, list[JsonObject]] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)

    def take(self, messages: Iterable[Message]) -> None:
        """The whole conversation."""
        for message in messages:
            match message:
                case UserMessage(parts):
                    self._say("user", self._parts(parts))
                case ToolMessage():
                    self._result(message)
                case AssistantMessage():
                    self._reply(message)
        self._settle()
        if not self.done or self.done[-1]["role"] != "user":
            self._say("user", [{"type": "text", "text": _GO_ON}])
        if self.done[0]["role"] != "user":
            self.done.insert(0, {"role": "user", "content": [{"type": "text", "text": _EARLIER}]})

    def _say(self, role: str, blocks: list[JsonObject]) -> None:
        if not blocks:
            return
        if self.done and self.done[-1]["role"] == role:
            self.done[-1]["content"] += blocks
        else:
            self.done.append({"role": role, "content": blocks})

    def _reply(self, message: AssistantMessage) -> None:
        if not message.text.strip() and not message.calls:
            return
        self._settle()
        blocks: list[JsonObject] = []
        said = called = 0
        for chars, calls, thought in _thoughts(message, self.model, self.provider):
            blocks += _texts(message.text[said:chars])
            blocks += [self._call(call) for call in message.calls[called:calls]]
            blocks.append(thought)
            said, called = max(said, chars), max(called, calls)
            said += len(GAP) if said and message.text.startswith(GAP, said) else 0
        blocks += _texts(message.text[said:])
        blocks += [self._call(call) for call in message.calls[called:]]
        self._say("assistant", blocks)

    def _call(self, call: ToolCall) -> JsonObject:
        """A call on the wire; what its result must name is noted until the result comes."""
        arguments = dict(call.arguments)
        block: JsonObject = {"type": "tool_use", "id": self._id(call.id), "name": _name(call.name)}
        result: JsonObject = {"type": "tool_result", "tool_use_id": block["id"]}
        self.called[block["name"]] = None
        family = self.families.get(call.name)
        if family and isinstance(arguments.get("action"), str):
            block |= {"name": arguments.pop("action"), "toolset_name": family}
            result["toolset_name"] = family
        self._open.setdefault(call.id, []).append(result)
        return block | {"input": arguments}

    def _id(self, own: str) -> str:
        wanted = _UNFIT.sub("_", own)[:_ID_LENGTH] or "call"
        found, count = wanted, 1
        while found in self._ids:
            count += 1
            found = f"{wanted}_{count}"
        self._ids.add(found)
        return found

    def _result(self, message: ToolMessage) -> None:
        blocks = self._parts(message.parts)
        waiting = self._open.get(message.call_id)
        if not waiting:
            self._say("user", [*_texts(f"[result of {message.name}]"), *blocks])
            return
        result = waiting.pop(0)
        pictures: list[JsonObject] = []
        if not message.ok:
            # The result of a call that failed may hold nothing but text.
            pictures = [block for block in blocks if block["type"] == "image"]
            blocks = [block for block in blocks if block["type"] == "text"] or _texts(_NO_OUTPUT)
            result["is_error"] = True
        if blocks:
            result["content"] = blocks
        self._answer(result)
        self._say("user", pictures)

    def _answer(self, result: JsonObject) -> None:
        """Results come before anything else the user's side says."""
        if not self.done or self.done[-1]["role"] != "user":
            self.done.append({"role": "user", "content": []})
        content = self.done[-1]["content"]
        place = sum(block["type"] == "tool_result" for block in content)
        content.insert(place, result)

    def _settle(self) -> None:
        """A call without a result is said to have none, for the service wants one."""
        for result in (left for waiting in self._open.values() for left in waiting):
            self._answer(result | {"is_error": True, "content": _texts(_NO_RESULT)})
        self._open.clear()

    def _parts(self, parts: Iterable[Part]) -> list[JsonObject]:
        blocks: list[JsonObject] = []
        for part in parts:
            match part:
                case Text(text):
                    blocks += _texts(text)
                case Image(media_type, data) if self.sees and media_type in _PICTURES:
                    source = {"type": "base64", "media_type": media_type, "data": data}
                    blocks.append({"type": "image", "source": source})
                case Image():
                    self.unseen = True
                    blocks += _texts(_UNSEEN)
        return blocks


def _texts(text: str) -> list[JsonObject]:
    return [{"type": "text", "text": text}] if text.strip() else []
