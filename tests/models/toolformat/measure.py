"""Scores the parser against a folder of recorded replies: `python -m tests.models.toolformat.measure FOLDER`.

The folder holds `templates/` and `cases.jsonl` (template, input, tools, …, and in expect: content,
reasoning_content, tool_calls). A case counts if content, reasoning and calls are exact (arguments as JSON
values) and if every cut of the reply into two gives the same.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from models.toolformat.derive import derive
from models.toolformat.format import ToolFormat
from models.toolformat.items import Reply
from models.toolformat.probe import Prober, Refused
from models.toolformat.stream import StreamParser, primer_of

Case = Mapping[str, Any]

_REASONING, _CONTENT = 2, 3
"""How a case continues a message that the prompt began: inside its reasoning, or inside its answer."""


@dataclass(slots=True)
class Score:
    """Results of one template."""

    right: int = 0
    total: int = 0
    partial: int = 0
    wrong: list[str] = field(default_factory=list)


def tools_of(case: Case) -> list[dict[str, Any]]:
    """The tools of a case as in a request."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool["description"],
                "parameters": json.loads(tool["parameters"]) if tool["parameters"] else {},
            },
        }
        for tool in case["tools"]
    ]


def primer(case: Case, known: ToolFormat, source: str) -> str:
    """What the prompt wrote of the reply already."""
    opening, closing = known.reasoning
    if case["continue_final_message"] == _REASONING:
        return f"{opening}I'm"
    if case["continue_final_message"] == _CONTENT:
        thought = f"{opening}I'm thinking{closing}" if case["expect"]["reasoning_content"] else ""
        return f"{thought}Hello, "
    prober = Prober(source, "<s>", "</s>", extra={"enable_thinking": case["enable_thinking"]})
    try:
        user = [{"role": "user", "content": "Hello"}]
        return primer_of(known, prober.render(user, tools_of(case), add_generation_prompt=True))
    except Refused:
        return ""


def parse(known: ToolFormat, case: Case, begun: str, cut: int | None = None) -> Reply:
    """The case's input, parsed whole, in characters (cut -1) or cut in two."""
    keep = not case["reasoning_format"]
    parser = StreamParser(known, tools_of(case), primer=begun, keep_reasoning=keep)
    text = case["input"]
    pieces = [text] if cut is None else list(text) if cut < 0 else [text[:cut], text[cut:]]
    for piece in pieces:
        parser.feed(piece)
    parser.finish()
    return parser.reply


def differences(reply: Reply, expect: Case) -> str:
    """What is not as expected, in a line; "" if nothing."""
    found: list[str] = []
    if reply.content != expect["content"]:
        found.append(f"content {reply.content!r} for {expect['content']!r}")
    if reply.reasoning != expect["reasoning_content"]:
        found.append(f"reasoning {reply.reasoning!r} for {expect['reasoning_content']!r}")
    calls = [(call.name, _json(call.arguments)) for call in reply.calls]
    wanted = [(call["name"], _json(call["arguments"])) for call in expect["tool_calls"]]
    if calls != wanted:
        found.append(f"calls {calls} for {wanted}")
    return "; ".join(found)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def score(folder: Path) -> tuple[dict[str, Score], float, int]:
    """(results by template, seconds spent in parsing whole streams by characters, their characters)."""
    scores: dict[str, Score] = defaultdict(Score)
    formats: dict[str, tuple[str, ToolFormat]] = {}
    seconds, characters = 0.0, 0
    for number, line in enumerate((folder / "cases.jsonl").read_text("utf-8").splitlines()):
        case = json.loads(line)
        name = case["template"]
        if name not in formats:
            source = (folder / "templates" / name).read_text("utf-8")
            formats[name] = source, derive(source, bos="<s>", eos="</s>")
        source, known = formats[name]
        begun = primer(case, known, source)
        whole = parse(known, case, begun)
        started = time.perf_counter()
        cuts = [parse(known, case, begun, -1)]
        seconds += time.perf_counter() - started
        characters += len(case["input"])
        cuts += [parse(known, case, begun, at) for at in range(1, len(case["input"]))]
        wrong = differences(whole, case["expect"])
        if any(cut != whole for cut in cuts):
            wrong = f"{wrong}; not the same when cut"
        result = scores[name]
        if case["is_partial"]:
            result.partial += 1
            continue
        result.total += 1
        result.right += not wrong
        if wrong:
            result.wrong.append(f"case {number}: {wrong}")
    return scores, seconds, characters


def main() -> None:
    """Print the score of each template and of all."""
    scores, seconds, characters = score(Path(sys.argv[1]))
    for name, result in sorted(scores.items()):
        print(f"{result.right:3}/{result.total:<3} {name}")
        for line in result.wrong:
            print(f"        {line}")
    right, total = (sum(getattr(one, key) for one in scores.values()) for key in ("right", "total"))
    pace = seconds / characters * 4e6
    print(f"{right}/{total} exact ({right / total:.1%}), {pace:.1f} µs a token of 4 characters fed singly")


if __name__ == "__main__":
    main()
