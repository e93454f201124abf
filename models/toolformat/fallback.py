"""The format of models whose template knows no tools: a block for the system prompt, and its answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from models.toolformat.format import ARGUMENTS, NAME, ToolFormat
from models.toolformat.values import types

OPEN, CLOSE = "<tool_call>", "</tool_call>"

_ASK = f"""To use a tool, answer with exactly this and nothing else:
{OPEN}
{{"name": "TOOL", "arguments": {{"KEY": VALUE}}}}
{CLOSE}
The result comes back to you. If no tool helps, answer in plain words."""


def fallback(known: ToolFormat) -> ToolFormat:
    """The prompt format for a template that shows no tools; what is known of its turns stays."""
    return replace(
        known,
        syntax="object",
        origin="fallback",
        section_open="",
        section_close="",
        call_open=f"{OPEN}\n",
        call_close=f"\n{CLOSE}",
        between="\n",
        name_close="",
        layout=f'{{"name": "{NAME}", "arguments": {ARGUMENTS}}}',
        array=False,
        name_path=("name",),
        arguments_path=("arguments",),
        id_path=(),
        name_is_key=False,
        quote="",
        tags=None,
        parallel=True,
        id_form="",
        fenced=True,
    )


def system_block(tools: Sequence[Mapping[str, Any]]) -> str:
    """What to add to the system prompt. Depends on the tools alone, so that a cached prefix stays valid."""
    lines = [_described(tool.get("function", tool)) for tool in tools]
    return "You can use these tools:\n" + "\n".join(lines) + f"\n\n{_ASK}"


def call_text(name: str, arguments: str) -> str:
    """An earlier call as it stands in the conversation; `arguments` is the JSON text of an object."""
    return f'{OPEN}\n{{"name": {json.dumps(name)}, "arguments": {arguments}}}\n{CLOSE}'


def result_text(name: str, content: str) -> str:
    """A tool's result as a message of the user, for templates without a role for tools."""
    return f"<tool_response>\n{name}: {content}\n</tool_response>"


def _described(function: Mapping[str, Any]) -> str:
    """`- name(key: type, key?: type): description`, with the descriptions of keys behind it."""
    schema = function.get("parameters") or {}
    properties = schema.get("properties") or {}
    required = schema.get("required") or []
    keys, notes = [], []
    for key, value in properties.items():
        keys.append(f"{key}{'' if key in required else '?'}: {_type(value, schema)}")
        text = value.get("description") if isinstance(value, Mapping) else None
        if text:
            notes.append(f"\n    {key}: {_line(text)}")
    head = f"- {function['name']}({', '.join(keys)})"
    return (
        head + (f": {_line(function['description'])}" if function.get("description") else "") + "".join(notes)
    )


def _type(schema: Any, root: Mapping[str, Any]) -> str:
    if isinstance(schema, Mapping) and isinstance(schema.get("enum"), list):
        return "|".join(json.dumps(one, ensure_ascii=False) for one in schema["enum"])
    kinds = types(schema, root)
    if len(kinds) > 3:
        return "any"
    if kinds == {"array"} and isinstance(schema, Mapping) and "items" in schema:
        return f"array of {_type(schema['items'], root)}"
    return "|".join(sorted(kinds))


def _line(text: str) -> str:
    return " ".join(str(text).split())
