"""Replies give the same result however they are cut, and any text gives a result in time."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.toolformat.derive import derive
from models.toolformat.fallback import fallback
from models.toolformat.format import ToolFormat
from models.toolformat.items import CallArguments, CallFinished, CallStarted, Item, Reply, Text
from models.toolformat.stream import StreamParser, primer_of
from tests.models.toolformat.roundtrip import NAMES, TOOLS
from tests.models.toolformat.templates import FAMILIES

FORMATS = {name: derive(source) for name, source in FAMILIES.items()}
HERMES = FORMATS["object between marks"]
CALL = '<use>\n{"name": "look_up", "arguments": {"city": "Oslo"}}\n</use>'

REPLIES = {
    "object between marks": f"<muse>\nHm {CALL} hm\n</muse>\n\nHello.\n{CALL}\n{CALL}\nBye <use> now.",
    "objects in a list": '<uses>[{"name": "look_up", "arguments": {"city": "a\\"]}<b"}}, '
    '{"name": "note.Down-2", "arguments": {}}]</uses><|end|>',
    "object alone": 'Well:\n{"name": "look_up", "parameters": {"city": "x"}}',
    "name and id, then object": '<|many|><|one|>x1<|is|>look_up<|of|>{"city": "O"}<|/one|><|/many|>',
    "recipients": 'all\nI look.>>>look_up\n{"city": "Oslo"}>>>note.Down-2\n{}',
    "tags": "<use>\n<fn=look_up>\n<arg=city>\n</arg> x\n</arg>\n<arg=days>\n3\n</arg>\n</fn>\n</use>",
    "nested tags": '#<uses>\n#<invoke name="look_up">#<tags>#<item>a#</item>#</tags>#</invoke>\n#</uses>',
    "python": "<|py|>[look_up(city='it\\'s', tags=[1, (2,)]), note.Down-2()]<|/py|> done",
    "quoted by a mark": "<|fn>call:look_up{city:<|q|>a}{<|q|>,days:2}<fn|>",
    "channels": "<|channel|>analysis<|message|>I think<|end|><|start|>assistant<|channel|>commentary "
    'to=functions.look_up <|constrain|>json<|message|>{"city": "Oslo"}<|call|>',
    "calls never shown": 'Here:\n```json\n{"name": "look_up", "arguments": {"city": "Oslo"}}\n```',
}


def parse(
    known: ToolFormat, pieces: list[str], tools: list[dict[str, Any]] = TOOLS
) -> tuple[Reply, list[Item]]:
    """The reply in pieces and everything handed out."""
    parser = StreamParser(known, tools)
    items = [item for piece in pieces for item in parser.feed(piece)]
    items += parser.finish()
    return parser.reply, items


def read(known: ToolFormat, text: str, tools: list[dict[str, Any]] = TOOLS) -> Reply:
    """The whole reply at once."""
    return parse(known, [text], tools)[0]


def calls_of(reply: Reply) -> list[tuple[str, Any]]:
    """(name, arguments) of the calls; the fault instead of arguments where there is one."""
    return [(call.name, call.fault or json.loads(call.arguments)) for call in reply.calls]


@pytest.mark.parametrize("family", REPLIES)
def test_every_cut_gives_the_same(family: str) -> None:
    known, text = FORMATS[family], REPLIES[family]
    whole = read(known, text)
    assert whole.calls
    assert not any(call.fault for call in whole.calls)
    assert parse(known, list(text))[0] == whole
    for at in range(1, len(text)):
        assert parse(known, [text[:at], text[at:]])[0] == whole


@given(st.data())
def test_text_made_of_marks_gives_the_same_in_any_pieces(data: st.DataObject) -> None:
    known = FORMATS[data.draw(st.sampled_from(sorted(FORMATS)))]
    spare = [
        "{",
        "}",
        "[",
        "]",
        '"',
        ",",
        " ",
        "\n",
        "```json",
        "look_up",
        '{"name": "look_up"',
        "x",
        "(",
        ")",
    ]
    vocabulary = [*known.opens(), *known.closes(), *known.silent, *known.reasoning, *spare]
    text = "".join(data.draw(st.lists(st.sampled_from([one for one in vocabulary if one]), max_size=30)))
    cuts = sorted(data.draw(st.sets(st.integers(0, max(len(text), 1)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert parse(known, pieces)[0] == read(known, text) == parse(known, list(text))[0]


def test_items_add_up_to_the_reply() -> None:
    reply, items = parse(HERMES, list(REPLIES["object between marks"]))
    texts = [item for item in items if isinstance(item, Text)]
    assert "".join(item.text for item in texts if item.kind == "content") == reply.content
    assert "".join(item.text for item in texts if item.kind == "reasoning") == reply.reasoning
    assert [item.index for item in items if isinstance(item, CallStarted)] == [0, 1]
    assert [item.call for item in items if isinstance(item, CallFinished)] == list(reply.calls)
    sent = "".join(item.text for item in items if isinstance(item, CallArguments) and item.index == 0)
    assert json.loads(sent) == {"city": "Oslo"}


def test_text_around_calls_and_reasoning_are_told_apart() -> None:
    reply = read(HERMES, REPLIES["object between marks"])
    assert reply.content == "Hello.Bye <use> now."
    assert reply.reasoning == f"Hm {CALL} hm"
    assert calls_of(reply) == [("look_up", {"city": "Oslo"})] * 2


def test_a_call_is_started_before_its_arguments_end() -> None:
    parser = StreamParser(HERMES, TOOLS)
    items = parser.feed('<use>\n{"name": "look_up", "arguments": {"city": "O')
    assert items == [CallStarted(0, "look_up"), CallArguments(0, '{"city": "O')]


def test_answers_stream_as_they_come() -> None:
    parser = StreamParser(HERMES, TOOLS)
    assert parser.feed("Hel") == [Text("content", "Hel")]
    assert parser.feed("lo a <u") == [Text("content", "lo a")]
    assert parser.feed("b>") == [Text("content", " <ub>")]


def test_reasoning_that_the_prompt_opened() -> None:
    known = FORMATS["thinking opened by the prompt"]
    primer = primer_of(known, "<|user|>\nHi<|end|>\n<|model|>\n<think>\n")
    parser = StreamParser(known, TOOLS, primer=primer)
    parser.feed("I think\n</think>\n\nHello")
    parser.finish()
    assert parser.reply == Reply("Hello", "I think")


def test_calls_in_reasoning_that_never_closes_count() -> None:
    reply = read(HERMES, f"<muse>\nI look.\n{CALL}")
    assert reply.reasoning == "I look."
    assert calls_of(reply) == [("look_up", {"city": "Oslo"})]
    assert read(HERMES, "<muse>\nI use <use> a lot").reasoning == "I use <use> a lot"


def test_reasoning_can_stay_in_the_answer() -> None:
    parser = StreamParser(HERMES, TOOLS, keep_reasoning=True)
    parser.feed("<muse>\nHm\n</muse>\nHello")
    parser.finish()
    assert parser.reply == Reply("<muse>\nHm\n</muse>\nHello")


def test_a_later_mark_of_reasoning_is_text() -> None:
    assert read(HERMES, "Write <muse> and </muse>.").content == "Write <muse> and </muse>."


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('<use>{"name": "look_up", "arguments": {"city": "O', [("look_up", "unclosed")]),
        ('<use>{"name": "look_up", "arguments": {"city": "O"}', [("look_up", {"city": "O"})]),
        ('<use>{"name": "nothing", "arguments": {}}</use>', [("nothing", {})]),
        ('<use>{"arguments": {"city": "O"}, "name": "look_up"}</use>', [("look_up", {"city": "O"})]),
        (
            '<use>{"name": "look_up", "arguments": "{\\"city\\": \\"O\\"}"}</use>',
            [("look_up", {"city": "O"})],
        ),
        ('<use>{"name": "look_up"}</use>', [("look_up", {})]),
        ('<use>{"name": "look_up", "parameters": {"city": "O"}}</use>', [("look_up", {"city": "O"})]),
        ('<use>{"name": "look_up", "arguments": {"days": NaN}}</use>', [("look_up", "not_finite")]),
        ('<use>{"name": "look_up", "arguments": {"city": 1, "city": 2}}</use>', [("look_up", {"city": 2})]),
        ('<use>{"name": "look_up", "arguments": {\'city\': \'O\',}}</use>', [("look_up", {"city": "O"})]),
        ('<use>{"name": "look_up", "arguments": {"city": }}</use>', [("look_up", "not_json")]),
        ('<use>{"name": "look_up", "arguments": [1]}</use>', [("look_up", "not_an_object")]),
        ('[{"name": "look_up", "arguments": {"city": "O"}}]', [("look_up", {"city": "O"})]),
        ("<use>" * 50, []),
        ('```json\n{"name": "no_such", "arguments": {}}\n```', []),
        ('```json\n{"a": 1}\n```', []),
    ],
)
def test_bad_calls_give_a_result(text: str, calls: list[tuple[str, Any]]) -> None:
    reply = read(HERMES, text)
    assert calls_of(reply) == calls
    if not calls:
        assert reply.content == text
    assert parse(HERMES, list(text))[0] == reply


def test_unknown_tools_are_said_to_be_unknown() -> None:
    assert not read(HERMES, '<use>{"name": "nothing", "arguments": {}}</use>').calls[0].known


def test_without_tools_nothing_is_a_call() -> None:
    assert read(HERMES, CALL, []) == Reply(CALL)
    assert read(FORMATS["channels"], REPLIES["channels"], []).calls == ()


def test_untyped_values_take_the_types_of_the_schema() -> None:
    text = "<use>\n<fn=look_up>\n{}</fn>\n</use>"
    given_values = {"city": "7", "days": "7", "share": "7", "exact": "True", "tags": '["7"]', "note": "null"}
    arguments = "".join(f"<arg={key}>\n{value}\n</arg>\n" for key, value in given_values.items())
    wanted = {"city": "7", "days": 7, "share": 7, "exact": True, "tags": ["7"], "note": "null"}
    assert calls_of(read(FORMATS["tags"], text.format(arguments))) == [("look_up", wanted)]


def test_a_skipped_outer_mark_is_forgiven() -> None:
    reply = read(FORMATS["tags"], "I go.\n<fn=look_up>\n<arg=city>\nO\n</arg>\n</fn>\n</use>")
    assert calls_of(reply) == [("look_up", {"city": "O"})]


def test_the_prompt_format_is_parsed() -> None:
    known = fallback(FORMATS["no tools"])
    text = '<tool_call>\n{"name": "look_up", "arguments": {"city": "Oslo"}}\n</tool_call>'
    assert calls_of(read(known, text)) == [("look_up", {"city": "Oslo"})]


@pytest.mark.parametrize("family", FORMATS)
def test_large_and_hostile_replies_take_linear_time(family: str) -> None:
    known = FORMATS[family]
    call = REPLIES.get(family, CALL)
    for text in (call * 300, "<" * 60_000, "{" * 60_000, call[:-12] + "x" * 60_000, '{"name":' * 8_000):
        started = time.process_time()
        parse(known, [text[at : at + 3] for at in range(0, len(text), 3)])
        assert time.process_time() - started < 6


def test_a_megabyte_of_arguments_arrives_whole() -> None:
    value = "ab\\n" * 250_000
    text = f'<use>\n{{"name": "look_up", "arguments": {{"city": "{value}"}}}}\n</use>'
    reply = parse(HERMES, [text[at : at + 5] for at in range(0, len(text), 5)])[0]
    assert json.loads(reply.calls[0].arguments) == {"city": "ab\n" * 250_000}


def test_a_thousand_calls_arrive() -> None:
    assert len(read(HERMES, CALL * 1000).calls) == 1000
    assert len({call.name for call in read(HERMES, CALL * 1000).calls} & set(NAMES)) == 1


def test_deep_nesting_is_a_fault() -> None:
    deep = "[" * 100_000
    text = f'<use>{{"name": "look_up", "arguments": {{"tags": {deep}{"]" * 100_000}}}}}</use>'
    assert calls_of(read(HERMES, text)) in ([("look_up", "too_deep")], [("look_up", "not_json")])


def test_parsing_costs_little() -> None:
    text = REPLIES["tags"] + "A plain answer with words. " * 2000
    pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
    started = time.process_time()
    parse(FORMATS["tags"], pieces)
    assert (time.process_time() - started) / len(pieces) < 200e-6
