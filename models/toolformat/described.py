"""Knows the call formats of templates that offer tools but never show a call."""

from __future__ import annotations

from dataclasses import replace

from models.toolformat.format import ToolFormat

_FORMS = (
    ("<|tool_call_start|>", "<|tool_call_end|>", "python"),
    ("<|tool_call|>", "", "array"),
    ("<tool_call>", "</tool_call>", "object"),
    ("<tool_calls>", "</tool_calls>", "array"),
    ("[TOOL_CALLS]", "", "array"),
)
"""Marks that model families use, with what they enclose."""

_LAYOUT = '{"name": "\ue000", "arguments": \ue001}'


def described(known: ToolFormat, source: str) -> ToolFormat:
    """`known` with the format the text names, else the commonest: `<tool_call>` around a JSON object."""
    opening, closing, kind = next((form for form in _FORMS if form[0] in source), _FORMS[2])
    if opening == "<|tool_call_start|>" or "List of tools: " in source:
        opening, closing, kind = _FORMS[0]
    common = replace(known, origin="text", parallel=True)
    if kind == "python":
        return replace(common, syntax="python", array=True, section_open=opening, section_close=closing)
    common = replace(
        common,
        syntax="object",
        layout=_LAYOUT,
        name_path=("name",),
        arguments_path=("arguments",),
    )
    if kind == "array":
        return replace(common, array=True, section_open=opening, section_close=closing)
    return replace(common, call_open=f"{opening}\n", call_close=f"\n{closing}", between="\n")
