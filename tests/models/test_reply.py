"""Token bytes become frames: whole characters, calls apart, and a grammar from the first mark on."""

from __future__ import annotations

import json
from collections.abc import Mapping

from models.engine import TemplateSource
from models.frames import Frame
from models.generation import JsonObject
from models.reply import MOST_CALLS, Reply
from models.speech import Speech

TOOL: JsonObject = {
    "type": "function",
    "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
}
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
CALL = '<tool_call>\n{"name": "look", "arguments": {"at": "ü"}}\n</tool_call>'


def told(text: str, *, size: int = 3, tools: bool = True) -> tuple[list[Frame], list[str]]:
    """The frames for a reply fed in pieces of `size` bytes, and the grammars that were set."""
    prompt = Speech(TemplateSource(TEMPLATE, "", "", ())).prompt(
        [{"role": "user", "content": "Hello"}], [TOOL] if tools else [], {}
    )
    frames: list[Frame] = []
    grammars: list[str] = []

    def hold(grammar: str, weights: Mapping[str, float]) -> bool:
        assert not weights
        grammars.append(grammar)
        return True

    reply = Reply(frames.append, prompt, hold)
    data = text.encode()
    for at in range(0, len(data), size):
        reply.add(data[at : at + size])
    reply.finish()
    assert reply.calls == sum(frame["t"] == "call" for frame in frames)
    return frames, grammars


def test_text_and_call_come_apart_and_one_grammar_is_set() -> None:
    frames, grammars = told("I look.\n" + CALL)
    assert "".join(frame["text"] for frame in frames if frame["t"] == "text").strip() == "I look."
    (call,) = [frame["call"] for frame in frames if frame["t"] == "call"]
    assert (call["name"], json.loads(call["arguments"]), call["fault"]) == ("look", {"at": "ü"}, "")
    assert len(grammars) == 1
    assert any(frame["t"] == "writing" for frame in frames)


def test_without_tools_the_same_words_are_an_answer() -> None:
    frames, grammars = told(CALL, tools=False)
    assert "".join(frame["text"] for frame in frames if frame["t"] == "text") == CALL
    assert not grammars


def test_a_call_that_never_closes_and_a_thousand_calls_are_results() -> None:
    frames, _ = told(CALL[:-20])
    (call,) = [frame["call"] for frame in frames if frame["t"] == "call"]
    assert call["fault"] == "unclosed"
    thousand = "".join(CALL.replace("ü", str(at)) for at in range(1000))
    calls = [frame["call"] for frame in told(thousand, size=4096)[0] if frame["t"] == "call"]
    assert [call["fault"] for call in calls[:MOST_CALLS]] == [""] * MOST_CALLS
    assert {call["fault"] for call in calls[MOST_CALLS:]} == {"too_many"}
