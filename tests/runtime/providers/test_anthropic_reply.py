"""How the events of Anthropic's Messages API become the items of a reply."""

from __future__ import annotations

import pytest

from resources.sentences import sentence
from runtime.messages import Image, JsonObject, ToolCall, ToolMessage, ToolSpec, Usage
from runtime.providers.anthropic_request import BINDING
from runtime.providers.provider import CallReady, CallWriting, Finished, NativeTool
from tests.wire.anthropic import OLDER
from tests.wire.anthropic_score import (
    ASKED,
    PIXEL,
    WEATHER,
    asking,
    begin,
    block,
    call,
    finish,
    made,
    read,
    replied,
    text,
    thoughts,
    unmarked,
)


def test_thinking_without_a_signature_is_not_sent_back() -> None:
    thought = block(0, {"type": "thinking", "thinking": "Hm."})
    signed = block(1, {"type": "thinking", "thinking": "So."}, {"type": "signature_delta", "signature": "s"})
    reply = replied(read(begin(), *thought, *signed, *text(2, "Yes."), *finish("end_turn")))
    assert [part.text for part in reply.reasoning] == ["Hm.", "So."]
    assert [part["thinking"] for part in thoughts(made(asking(ASKED, reply, ASKED)).body)] == ["So."]


def test_what_was_cached_counts_as_part_of_the_prompt() -> None:
    start = begin(
        input_tokens=5, cache_creation_input_tokens=20, cache_read_input_tokens=100, output_tokens=1
    )
    end = finish("end_turn", output_tokens=30, output_tokens_details={"thinking_tokens": 12})
    last = read(start, *text(0, "Yes."), *end)[-1]
    assert isinstance(last, Finished)
    assert last.usage == Usage(125, 30, 100, 12, 20)
    assert last.window == 1_000_000
    assert last.tokens_per_second > 0


def test_tools_are_described_as_the_service_wants() -> None:
    odd = ToolSpec("mail.send now", "Sends mail.")
    body = made(asking(tools=(WEATHER, odd))).body
    assert [tool["name"] for tool in body["tools"]] == ["weather", "mail_send_now"]
    assert body["tools"][0]["input_schema"] == {"type": "object"} | WEATHER.parameters
    called = call(0, '{"to": "me"}', name="mail_send_now")
    items = read(begin(), *called, *finish("tool_use"), request=asking(tools=(odd,)))
    assert [item.call.name for item in items if isinstance(item, CallReady)] == ["mail.send now"]


def test_a_call_of_a_native_tool_comes_back_whole() -> None:
    native = NativeTool("computer", "computer_20250124", {})
    called = call(0, '{"action": "left_click", "coord', 'inate": [3, 4]}', name="computer")
    items = read(begin(), *called, *finish("tool_use"), request=asking(model=OLDER, native=(native,)))
    ready = [item.call for item in items if isinstance(item, CallReady)]
    assert ready == [ToolCall("toolu_0", "computer", {"action": "left_click", "coordinate": [3, 4]})]


def test_a_member_of_a_set_of_tools_is_called_as_an_action_and_goes_back_as_a_member() -> None:
    native = NativeTool("computer", "computer_toolset_20260801", {"configs": {"zoom": {"enabled": False}}})
    called = call(0, '{"coordinate": [3, 4]}', name="left_click", toolset_name="computer")
    shot = call(1, name="screenshot", toolset_name="computer")
    items = read(begin(), *called, *shot, *finish("tool_use"), request=asking(native=(native,)))
    reply = replied(items)
    assert reply.calls == (
        ToolCall("toolu_0", "computer", {"action": "left_click", "coordinate": [3, 4]}),
        ToolCall("toolu_1", "computer", {"action": "screenshot"}),
    )
    results = [ToolMessage(made.id, "computer", (Image("image/png", PIXEL),)) for made in reply.calls]
    received = made(asking(ASKED, reply, *results, native=(native,), tools=()))
    body = unmarked(received.body)
    assert body["tools"] == [{"type": native.type, "configs": {"zoom": {"enabled": False}}}]
    assert body["messages"][1]["content"] == [
        {
            "type": "tool_use",
            "id": "toolu_0",
            "name": "left_click",
            "toolset_name": "computer",
            "input": {"coordinate": [3, 4]},
        },
        {"type": "tool_use", "id": "toolu_1", "name": "screenshot", "toolset_name": "computer", "input": {}},
    ]
    assert [found["toolset_name"] for found in body["messages"][2]["content"]] == ["computer", "computer"]
    assert received.betas == (BINDING,)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "length"),
        ("refusal", "refused"),
        ("something_new", "stop"),
    ],
)
def test_every_reason_to_stop_is_known(reason: str, expected: str) -> None:
    last = read(begin(), *text(0, "Yes."), *finish(reason))[-1]
    assert isinstance(last, Finished)
    assert last.stop_reason == expected


def test_a_refusal_tells_why() -> None:
    end = finish("refusal", output_tokens=2)
    end[0]["delta"]["stop_details"] = {
        "type": "refusal",
        "category": "cyber",
        "explanation": "It may do harm.",
    }
    last = read(begin(), *text(0, "I"), *end)[-1]
    assert isinstance(last, Finished)
    assert last.usage.completion == 2
    ((code, fields),) = last.notices
    assert "It may do harm." in sentence(code, **fields)


@pytest.mark.parametrize(
    ("pieces", "arguments", "fault"),
    [
        ((), {}, ""),
        (('{"place": ', '"Łódź"}'), {"place": "Łódź"}, ""),
        (('{"place": "Os',), {}, "they are no JSON"),
        (('{"heat": NaN}',), {}, "a number is not finite"),
        (("[" * 100_000,), {}, "they are no JSON"),
        (("[1]",), {}, "they are no JSON object"),
    ],
)
def test_arguments_that_cannot_be_read_are_told_to_the_model(
    pieces: tuple[str, ...], arguments: JsonObject, fault: str
) -> None:
    items = read(begin(), *call(0, *pieces), *finish("tool_use"))
    ready = [item.call for item in items if isinstance(item, CallReady)]
    assert ready == [ToolCall("toolu_0", "weather", arguments, fault)]
    written = [item for item in items if isinstance(item, CallWriting)]
    assert written[0] == CallWriting("weather", "")
    assert "".join(item.text for item in written) == "".join(pieces)


def test_a_call_that_is_never_closed_is_given_with_its_fault() -> None:
    items = read(begin(), *call(0, '{"place": "Oslo"}')[:-1], *finish("max_tokens"))
    ready = [item.call for item in items if isinstance(item, CallReady)]
    assert ready[0].error
    assert isinstance(items[-1], Finished)
    assert items[-1].stop_reason == "length"
