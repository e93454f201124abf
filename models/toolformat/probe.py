"""Renders small conversations with a template to see how it writes a turn."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from models.generation import JsonObject
from models.template import _FAULTS, TemplateTimeout, _bounded, _environment, _memory_bound
from models.toolformat import dialect

LIMIT = 400_000
"""A template that writes more characters for a short conversation is refused."""

USER = "Umbrella question"
REPLY = "Walnut answer"
RESULT = "Lapis result"
THOUGHT = "Saffron thought"
FIRST, SECOND = "fetch_zebra", "paint_quartz"
IDS = ("callZq001", "callZq002")
KEYS = ("kiwi", "mango")
VALUES = ("Opal", "Jade", "Topaz")

FIELDS = ("reasoning_content", "reasoning", "thinking", "thought")
"""The names under which templates look for reasoning in a message."""


def _result(made: JsonObject) -> JsonObject:
    """A tool's answer to a call."""
    name = made["function"]["name"]
    return {"role": "tool", "tool_call_id": made["id"], "name": name, "content": RESULT}


class Refused(Exception):
    """The template cannot be rendered; the text says why."""


def tool(name: str, properties: JsonObject | None = None) -> JsonObject:
    """A tool whose schema is simple enough for every template."""
    known = properties or {key: {"type": "string", "description": "A word"} for key in KEYS}
    schema = {"type": "object", "properties": known, "required": list(known)[:1]}
    return {"type": "function", "function": {"name": name, "description": "A tool", "parameters": schema}}


def call(name: str, arguments: Any, identity: str) -> JsonObject:
    """A call as it stands in an assistant's message."""
    return {"type": "function", "id": identity, "function": {"name": name, "arguments": arguments}}


@dataclass(slots=True)
class Prober:
    """Renders turns of one template. `turn` raises Refused; after a time-out every later turn does too.

    Where a template wants every call answered, a turn reaches up to the first tool's result.
    """

    source: str
    bos: str = ""
    eos: str = ""
    seconds: float = 1.0
    tools: list[JsonObject] = field(default_factory=lambda: [tool(FIRST), tool(SECOND)])
    extra: JsonObject = field(default_factory=dict)
    _compiled: Any = None
    _stopped: str = ""

    def turn(self, reply: JsonObject | None, tools: list[JsonObject] | None = None, **extra: Any) -> str:
        """What follows the user's words; without a reply, what asks the model for one."""
        messages: list[JsonObject] = [{"role": "user", "content": USER}]
        if reply is not None:
            messages.append({"role": "assistant", "content": "", **reply})
        try:
            text = self.render(messages, tools, add_generation_prompt=reply is None, **extra)
        except Refused:
            if reply is None or not reply.get("tool_calls"):
                raise
            messages += [_result(one) for one in reply["tool_calls"]]
            text = self.render(messages, tools, add_generation_prompt=False, **extra)
            text = text.partition(RESULT)[0]
        at = text.rfind(USER)
        if at < 0:
            raise Refused("the template drops the user's message")
        return text[at + len(USER) :]

    def render(self, messages: list[JsonObject], tools: list[JsonObject] | None = None, **extra: Any) -> str:
        """The whole text of a conversation. Raises Refused."""
        if self._stopped:
            raise Refused(self._stopped)
        offered = self.tools if tools is None else tools
        values = {
            "messages": copy.deepcopy(messages),
            "tools": copy.deepcopy(offered) or None,
            "documents": None,
            "bos_token": self.bos,
            "eos_token": self.eos,
            **dialect.variables(offered),
            **self.extra,
            **extra,
        }
        try:
            return self._run(values)
        except TemplateTimeout:
            self._stopped = f"the template takes longer than {self.seconds:g} s"
            raise Refused(self._stopped) from None
        except _FAULTS as error:
            raise Refused(f"{type(error).__name__}: {error}"[:300]) from error

    def _run(self, values: JsonObject) -> str:
        with _memory_bound(512 << 20), _bounded(self.seconds):
            if self._compiled is None:
                self._compiled = _environment().from_string(self.source)
            pieces: list[str] = []
            length = 0
            for piece in self._compiled.generate(values):
                length += len(piece)
                if length > LIMIT:
                    raise OverflowError(f"the template wrote more than {LIMIT} characters")
                pieces.append(piece)
        return "".join(pieces)
