"""Makes the list of tools fit a small window: shorter words first, then fewer tools."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import resources
from runtime.messages import JsonObject, ToolSpec
from runtime.recall import words

Tools = tuple[ToolSpec, ...]
CHARACTERS_PER_TOKEN, FRAME = 3.6, 31
"""Of a tool's schema, and tokens of what Qwen's template puts around each; others do about the same."""

_PATH = re.compile(r"[\w-]{2,}\.[A-Za-z]\w{1,4}\b|[A-Za-z]\w*/\w")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|e|s)$")
_SUM = re.compile(r"\d\s*[-+*/^×÷]\s*\d")


def tokens(tools: Tools) -> int:
    """Roughly how many tokens a template makes of `tools`."""
    size = sum(len(json.dumps([tool.name, tool.description, tool.parameters])) for tool in tools)
    return int(size / CHARACTERS_PER_TOKEN) + FRAME * len(tools)


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
    """Those of `tools` that `text` calls for (`called_for`); where none of these takes a file, a file name in
    it calls for all that do. For models so small that tools they do not need spoil their answers.
    """
    chosen = called_for(tools, text)
    if _PATH.search(text) and not any(_takes(tool, "path") for tool in chosen):
        chosen += tuple(tool for tool in tools if _takes(tool, "path") and tool not in chosen)
    return chosen


def called_for(tools: Tools, text: str) -> Tools:
    """Those of `tools` that `text` calls for by a word of their name or one that means the same, or by a sum
    to work out, in the order in which it does: small models call tools in the order they are told of them.
    """
    said = _stems(text)
    names = {tool.name: _stems(tool.name.replace("_", " ")) for tool in tools}
    spread = Counter(stem for stems in names.values() for stem in stems)
    telling = [stem for stem in said if spread[stem] == 1] or said
    chosen = [name for stem in telling for name, stems in names.items() if stem in stems]
    if _SUM.search(text):
        chosen += [tool.name for tool in tools if _takes(tool, "expression")]
    known = {tool.name: tool for tool in tools}
    return tuple(known[name] for name in dict.fromkeys(chosen))


def _takes(tool: ToolSpec, argument: str) -> bool:
    return argument in tool.parameters.get("properties", {})


def _stems(text: str) -> list[str]:
    """The telling words of `text` in their order, without their endings; of verbs that mean the same, the
    first."""
    stems = (_ENDING.sub("", word) for part in text.split() for word in sorted(words(part)))
    return list(dict.fromkeys(_verbs().get(stem, stem) for stem in stems))


@cache
def _verbs() -> dict[str, str]:
    lines = resources.text("alike_verbs.txt").splitlines()
    groups = ([_ENDING.sub("", verb) for verb in line.split()] for line in lines)
    return {verb: group[0] for group in groups for verb in group}


def _whole(tool: ToolSpec) -> ToolSpec:
    return tool


def _brief(tool: ToolSpec) -> ToolSpec:
    return replace(tool, description=_first_sentence(tool.description))


def _bare(tool: ToolSpec) -> ToolSpec:
    parameters: JsonObject = _without(tool.parameters, frozenset({"description", "default", "examples"}))
    return replace(tool, description=_first_sentence(tool.description), parameters=parameters)


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
