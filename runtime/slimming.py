"""Makes the list of tools fit a small window: shorter words first, then fewer tools."""

from __future__ import annotations

import json
import re
from typing import Any

from runtime.messages import JsonObject, ToolSpec
from runtime.recall import words

Tools = tuple[ToolSpec, ...]
CHARACTERS_PER_TOKEN = 3.6

_PATH = re.compile(r"[\w-]{2,}\.[A-Za-z]\w{1,4}\b|[A-Za-z]\w*/\w")
_SUM = re.compile(r"\d\s*[-+*/^×÷]\s*\d")


def tokens(tools: Tools) -> int:
    """Roughly how many tokens a template makes of `tools`."""
    sizes = (len(json.dumps([tool.name, tool.description, tool.parameters])) + 40 for tool in tools)
    return int(sum(sizes) / CHARACTERS_PER_TOKEN)


def slim(tools: Tools, budget: int, about: str) -> Tools:
    """`tools` in at most about `budget` tokens: as they are, else with short descriptions, else without
    descriptions of arguments, else only those that fit `about`, the text of what is wanted, best.

    The same input gives the same output, so that a cached prompt stays valid. At least one tool is left.
    """
    for shorten in (_whole, _brief, _bare):
        slimmer = tuple(shorten(tool) for tool in tools)
        if tokens(slimmer) <= budget:
            return slimmer
    return _fitting(tuple(_bare(tool) for tool in tools), budget, about)


def named(tools: Tools, text: str) -> Tools:
    """Those of `tools` that `text` calls for by a word of their name, by a file name or by a sum to work out.

    For models so small that tools they do not need spoil their answers.
    """
    said = words(text)
    path, calculation = bool(_PATH.search(text)), bool(_SUM.search(text))

    def fits(tool: ToolSpec) -> bool:
        takes = tool.parameters.get("properties", {})
        asked = (path and "path" in takes) or (calculation and "expression" in takes)
        return asked or bool(said & words(tool.name.replace("_", " ")))

    return tuple(tool for tool in tools if fits(tool))


def _whole(tool: ToolSpec) -> ToolSpec:
    return tool


def _brief(tool: ToolSpec) -> ToolSpec:
    return ToolSpec(tool.name, _first_sentence(tool.description), tool.parameters)


def _bare(tool: ToolSpec) -> ToolSpec:
    parameters: JsonObject = _without(tool.parameters, frozenset({"description", "default", "examples"}))
    return ToolSpec(tool.name, _first_sentence(tool.description), parameters)


def _fitting(tools: Tools, budget: int, about: str) -> Tools:
    """The tools that share most words with `about`, as many as fit, in their usual order."""
    wanted = words(about)

    def score(tool: ToolSpec) -> int:
        return len(wanted & words(f"{tool.name.replace('_', ' ')} {tool.description}"))

    chosen: set[str] = set()
    left = budget
    for tool in sorted(tools, key=lambda tool: (-score(tool), tokens((tool,)), tool.name)):
        left -= tokens((tool,))
        if left < 0 and chosen:
            break
        chosen.add(tool.name)
    return tuple(tool for tool in tools if tool.name in chosen)


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0]


def _without(schema: Any, names: frozenset[str]) -> Any:
    """`schema` without those keywords; properties that happen to be called so stay."""
    if isinstance(schema, list):
        return [_without(item, names) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _without(sub, names) for name, sub in value.items()}
        if key == "properties" and isinstance(value, dict)
        else _without(value, names)
        for key, value in schema.items()
        if key not in names
    }
