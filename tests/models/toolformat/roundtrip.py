"""Checks that what a template renders is parsed back: `python -m tests.models.toolformat.roundtrip FOLDER`.

Works for any template: it renders replies itself, cuts off the header, and compares what the parser finds
with what was rendered. A template that cannot be rendered must be refused with a reason.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from models.toolformat.compare import common_suffix
from models.toolformat.derive import THINKING, derive
from models.toolformat.format import ToolFormat
from models.toolformat.probe import FIELDS, Prober, Refused, call
from models.toolformat.stream import StreamParser, primer_of

Json = dict[str, Any]

SCHEMA: Json = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "A place"},
        "note": {"type": "string", "description": "Any text"},
        "days": {"type": "integer", "description": "How many"},
        "share": {"type": "number", "description": "A part"},
        "exact": {"type": "boolean", "description": "Whether"},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Words"},
        "place": {
            "type": "object",
            "properties": {"lat": {"type": "number"}, "name": {"type": "string"}},
            "description": "A point",
        },
    },
    "required": ["city"],
}
NAMES = ("look_up", "note.Down-2")
TOOLS: list[Json] = [
    {"type": "function", "function": {"name": name, "description": "A tool", "parameters": SCHEMA}}
    for name in NAMES
]
CALLS: dict[str, list[tuple[str, Json]]] = {
    "no call": [],
    "a string": [(NAMES[0], {"city": "Oslo"})],
    "a hard string": [(NAMES[0], {"city": "a \"b\" \\ c\n\n{d} [e] <f>'g' </x>\n\té ☃", "note": ""})],
    "numbers": [(NAMES[1], {"city": "7", "days": -3, "share": 0.25, "exact": True})],
    "nested": [(NAMES[0], {"city": "x", "tags": ["p", "q"], "place": {"lat": 1.5, "name": "y, z"}})],
    "no arguments": [(NAMES[0], {})],
    "two": [(NAMES[0], {"city": "Rome"}), (NAMES[1], {"city": "Bern", "days": 2})],
    "three": [(NAMES[0], {"city": str(at)}) for at in range(3)],
}


def message(known: ToolFormat, content: str, thought: str, calls: list[tuple[str, Json]]) -> Json:
    """An assistant's message as `known` says its template wants it."""
    found: Json = {"role": "assistant", "content": content}
    if thought:
        found[known.reasoning_field] = thought
    if calls:
        found["tool_calls"] = [
            call(
                name,
                json.dumps(arguments) if known.arguments_as == "text" else arguments,
                known.id_form.format(name=name, index=at) if known.id_form else f"id{at:07}",
            )
            for at, (name, arguments) in enumerate(calls)
        ]
    return found


def trials(known: ToolFormat) -> Iterator[tuple[str, str, str, list[tuple[str, Json]]]]:
    """(what, content, thought, calls) of every reply to try."""
    called = known.syntax != "none" and known.origin == "template"
    for what, calls in CALLS.items():
        if calls and (not called or (len(calls) > 1 and not known.parallel)):
            continue
        for content in ("Hello, *you*.\n\nSecond line.", ""):
            for thought in ("I muse: {1, 2}\nand go on.", "") if known.reasoning_field in FIELDS else ("",):
                if content or calls:
                    yield f"{what}, content {bool(content)}, thought {bool(thought)}", content, thought, calls


def faults(source: str) -> tuple[ToolFormat, list[str], list[str]]:
    """(the derived format, what does not come back, what the template refuses to render)."""
    known = derive(source, bos="<s>", eos="</s>")
    prober = Prober(source, "<s>", "</s>", tools=TOOLS, extra=dict(THINKING))
    wrong: list[str] = []
    refused: list[str] = []
    for what, content, thought, calls in trials(known) if not known.fault else ():
        try:
            turn = prober.turn(message(known, content, thought, calls))
        except Refused as error:
            refused.append(f"{what}: {error}")
            continue
        lost = [text for text in (content, thought) if text and text not in turn]
        inside = content and known.reasoning[0] in turn and known.reasoning[1] not in turn
        names = [name for name, _ in calls]
        if lost or inside or any(turn.count(name) < names.count(name) for name in names):
            refused.append(f"{what}: the template drops it")
            continue
        header = known.header if known.header in turn else known.header.strip()
        begun = turn[turn.index(header) + len(header) :]
        if len(known.turn_end) > 100:
            begun = begun.removesuffix(common_suffix([begun, known.turn_end]))
        begun = _own(begun, known.turn_end.strip(), names)
        if thought and known.reasoning[0] not in turn:
            begun = primer_of(known, prober.turn(None)) + begun
        if known.syntax == "channels" and calls and "<|channel|>final" not in turn and not thought:
            thought, content = content, ""
        parser = StreamParser(known, TOOLS)
        parser.feed(begun)
        parser.finish()
        reply = parser.reply
        found = [(one.name, json.loads(one.arguments) if not one.fault else one.fault) for one in reply.calls]
        if (reply.content.strip(), reply.reasoning, found) != (content, thought, calls):
            wrong.append(f"{what}: {reply} from {begun!r}")
    return known, wrong, refused


def _own(turn: str, end: str, names: list[str]) -> str:
    """`turn` without the header of an answer to its calls."""
    head, mark, rest = turn.rpartition(end) if end else ("", "", turn)
    return head + mark if mark and not any(name in rest for name in names) else turn


def main() -> None:
    """Print what does not come back, template by template."""
    for path in sorted(Path(sys.argv[1]).glob("*.jinja")):
        known, wrong, refused = faults(path.read_text("utf-8"))
        print(f"{len(wrong):3} wrong {len(refused):3} refused  {path.name}: {known.syntax} {known.fault}")
        for line in [*wrong[:3], *(f"(refused) {line}" for line in refused[:1])]:
            print(f"        {line[:700]}")


if __name__ == "__main__":
    main()
