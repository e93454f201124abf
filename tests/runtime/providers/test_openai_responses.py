"""What OpenAI's Responses API asks of its client, over HTTP against a local server that speaks it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest

from runtime.messages import (
    AssistantMessage,
    Image,
    JsonObject,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from runtime.providers.openai import make
from runtime.providers.provider import (
    PRIVATE,
    CallReady,
    CallWriting,
    Failed,
    Finished,
    Provider,
    ReasoningDelta,
    Request,
    StreamItem,
    TextDelta,
)
from runtime.reply import Reply
from tests.wire.links import connect
from tests.wire.openai_responses import MODEL, SEALED, Wire
from tests.wire.server import Call, Play, Say, Think, WireServer

WEATHER = ToolSpec(
    "weather", "Tells the weather.", {"type": "object", "properties": {"place": {"type": "string"}}}
)
PICTURE = Image("image/png", "iVBORw0KGgo=")
HELLO = UserMessage((Text("Hello."),))
GOOD = Play((Say("All is well."),))
NAME = "openai"


def request(*messages: Message, **changes: Any) -> Request:
    settings: dict[str, Any] = {"session": "s-1", "model": MODEL, "system": "Be kind."}
    return Request(**(settings | {"messages": messages or (HELLO,)} | changes))


async def collect(provider: Provider, asked: Request) -> list[StreamItem]:
    async with aclosing(provider.stream(asked)) as items:
        return [item async for item in items]


def served(wire: Wire, scenario: Callable[[WireServer, Provider], Awaitable[Any]], *plays: Play) -> Any:
    async def main() -> Any:
        async with WireServer(wire) as server:
            server.plays(*plays)
            provider = make(connect(server.url + "/v1", NAME), "responses")
            try:
                return await scenario(server, provider)
            finally:
                await provider.close()

    return asyncio.run(main())


def asked(*plays: Play, requests: tuple[Request, ...]) -> tuple[list[JsonObject], list[list[StreamItem]]]:
    """The bodies that reach the server, and what comes of each request."""

    async def scenario(server: WireServer, provider: Provider) -> Any:
        found = [await collect(provider, one) for one in requests]
        return [received.body for received in server.requests], found

    result: tuple[list[JsonObject], list[list[StreamItem]]] = served(Wire(), scenario, *plays)
    return result


def read(*events: JsonObject) -> list[StreamItem]:
    """The items of an answer made of these events."""

    class Raw(Wire):
        def events(self, play: Play, request: JsonObject) -> list[bytes]:
            return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]

    async def scenario(_server: WireServer, provider: Provider) -> list[StreamItem]:
        return await collect(provider, request(tools=(WEATHER,)))

    found: list[StreamItem] = served(Raw(), scenario, Play())
    return found


def text(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))


def end(items: list[StreamItem]) -> Finished:
    assert isinstance(items[-1], Finished), items[-1]
    return items[-1]


def code(items: list[StreamItem]) -> str:
    assert isinstance(items[-1], Failed), items[-1]
    return items[-1].error.code


def message(items: list[StreamItem], provider: str = NAME) -> AssistantMessage:
    """The reply as the conversation keeps it."""
    reply = Reply("m", lambda _event: None)
    for item in items:
        reply.take(item)
    return AssistantMessage("".join(reply.text), reply.blocks, tuple(reply.calls), provider)


def completed(**about: Any) -> JsonObject:
    status = "incomplete" if "incomplete_details" in about else "completed"
    return {"type": f"response.{status}", "response": {"id": "r", "status": status, "output": []} | about}


def test_nothing_is_stored_and_reasoning_is_asked_for_in_encrypted_form() -> None:
    [body], _found = asked(GOOD, requests=(request(tools=(WEATHER,), effort="high", max_tokens=300),))
    assert body == {
        "model": MODEL,
        "instructions": "Be kind.",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]},
        ],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "high", "summary": "auto"},
        "max_output_tokens": 300 + 24_576,
        "prompt_cache_key": "s-1",
        "tools": [
            {
                "type": "function",
                "name": "weather",
                "description": "Tells the weather.",
                "parameters": WEATHER.parameters,
                "strict": False,
            }
        ],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
    }


def test_a_model_that_does_not_think_gets_a_temperature_and_a_notice() -> None:
    plain = request(model="gpt-4.1", session=PRIVATE, system="", effort="low", max_tokens=5, temperature=0.1)
    [body], [found] = asked(GOOD, requests=(plain,))
    assert body["temperature"] == 0.1
    assert body["max_output_tokens"] == 16
    assert not {"reasoning", "include", "prompt_cache_key", "instructions", "tools"} & body.keys()
    assert [notice[0] for notice in end(found).notices] == ["thinking_left_out"]


@pytest.mark.parametrize(
    ("model", "wanted", "sent"),
    [
        ("gpt-6-astra", "off", "low"),
        ("gpt-5.6-sol", "off", "none"),
        ("gpt-5-mini", "off", "minimal"),
        ("gpt-5-pro", "low", "high"),
        ("o4-mini", "medium", "medium"),
    ],
)
def test_effort_is_said_in_a_word_the_model_knows(model: str, wanted: str, sent: str) -> None:
    [body], _found = asked(GOOD, requests=(request(model=model, effort=wanted),))
    assert body["reasoning"]["effort"] == sent


def test_reasoning_goes_back_encrypted_across_a_turn_with_tools() -> None:
    calls = (Call("call_1", "weather", {"place": "Rome"}), Call("call_2", "weather", {"place": "Oslo"}))

    async def scenario(server: WireServer, provider: Provider) -> Any:
        server.plays(Play((Think("Hm, two places."), *calls)), GOOD, GOOD)
        said = message(await collect(provider, request(tools=(WEATHER,))))
        history = (
            HELLO,
            said,
            ToolMessage("call_2", "weather", (Text("rain"),)),
            ToolMessage("call_1", "weather", (Text("sunny"), PICTURE)),
        )
        await collect(provider, request(*history, tools=(WEATHER,)))
        await collect(provider, request(*history, tools=(WEATHER,), model="gpt-5.4"))
        return said, server.requests[1].body["input"], server.requests[2].body["input"]

    said, own, other = served(Wire(), scenario)
    assert said.reasoning[0].text == "Hm, two places."
    summary = [{"type": "summary_text", "text": "Hm, two places."}]
    assert own[1:] == [
        {"type": "reasoning", "id": "rs_0", "summary": summary, "encrypted_content": SEALED},
        {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": '{"place": "Rome"}'},
        {"type": "function_call", "call_id": "call_2", "name": "weather", "arguments": '{"place": "Oslo"}'},
        {
            "type": "function_call_output",
            "call_id": "call_1",
            "output": [
                {"type": "input_text", "text": "sunny"},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"},
            ],
        },
        {"type": "function_call_output", "call_id": "call_2", "output": "rain"},
    ]
    assert SEALED not in json.dumps(other)
    assert other[1:] == own[2:]


def test_reasoning_that_no_answer_follows_is_left_out() -> None:
    kept = json.dumps({"model": MODEL, "item": {"type": "reasoning", "encrypted_content": SEALED}})
    alone = AssistantMessage("", (Reasoning("Hm", kept),), (), NAME)
    history = (HELLO, alone, UserMessage((Text("Go on."),)))
    [body], _found = asked(GOOD, requests=(request(*history),))
    [only] = body["input"]
    assert [part["text"] for part in only["content"]] == ["Hello.", "\n\n", "Go on."]


def test_ids_of_other_services_are_made_to_fit() -> None:
    ids = ("x" * 90, "weather:0/ä", "weather:0/ä", "call_1")
    calls = tuple(ToolCall(id, "weather", {}) for id in ids[:2])
    history: tuple[Message, ...] = (
        HELLO,
        AssistantMessage("", (), calls, "another"),
        *(ToolMessage(id, "weather", (Text(id[:3]),)) for id in ids[:2]),
        AssistantMessage("", (), tuple(ToolCall(id, "weather", {}) for id in ids[2:]), "another"),
        *(ToolMessage(id, "weather", (Text("later"),)) for id in ids[2:]),
    )
    [body], _found = asked(GOOD, requests=(request(*history),))
    made = [item["call_id"] for item in body["input"] if item["type"] == "function_call"]
    answered = [item["call_id"] for item in body["input"] if item["type"] == "function_call_output"]
    assert made == answered
    assert len(set(made)) == 4
    assert made[3] == "call_1"
    assert all(len(one) <= 64 and one.isascii() and "/" not in one for one in made)


@pytest.mark.parametrize(
    ("problem", "gone"),
    [
        (
            "Your organization must be verified to generate reasoning summaries. param reasoning.summary",
            "summary",
        ),
        ("Encrypted content is not supported with this model.", "include"),
        ("Unsupported parameter: 'reasoning.effort' is not supported with this model.", "effort"),
    ],
)
def test_what_a_model_refuses_is_left_out_at_once(problem: str, gone: str) -> None:
    refusal = Play(status=400, problem=problem, kind="unsupported_parameter")
    bodies, [found] = asked(refusal, GOOD, requests=(request(effort="low"),))
    assert text(found) == "All is well."
    assert f'"{gone}"' in json.dumps(bodies[0])
    assert f'"{gone}"' not in json.dumps(bodies[1])


def test_reasoning_that_cannot_be_read_any_more_is_no_longer_sent() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "old"}
    said = AssistantMessage("A", (Reasoning("", json.dumps({"model": MODEL, "item": item})),), (), NAME)
    refusal = Play(
        status=400, problem="The encrypted content could not be verified.", kind="invalid_encrypted_content"
    )
    bodies, [found] = asked(refusal, GOOD, requests=(request(HELLO, said, HELLO),))
    assert text(found) == "All is well."
    assert "old" in json.dumps(bodies[0])
    assert "old" not in json.dumps(bodies[1])


def test_a_call_is_shown_while_it_is_written_and_keeps_the_id_of_the_service() -> None:
    _bodies, [found] = asked(Play((Call("call_x", "weather", {"place": "Rome"}),)), requests=(request(),))
    written = [item for item in found if isinstance(item, CallWriting)]
    assert {item.name for item in written} == {"weather"}
    assert json.loads("".join(item.text for item in written)) == {"place": "Rome"}
    [ready] = [item.call for item in found if isinstance(item, CallReady)]
    assert ready == ToolCall("call_x", "weather", {"place": "Rome"})


@pytest.mark.parametrize(("stop", "reason"), [("length", "length"), ("content_filter", "refused")])
def test_an_incomplete_answer_says_why(stop: str, reason: str) -> None:
    _bodies, [found] = asked(Play((Say("Well"),), stop=stop), requests=(request(),))
    assert (text(found), end(found).stop_reason) == ("Well", reason)


def test_a_call_that_was_broken_off_is_told_to_the_model() -> None:
    item = {"type": "function_call", "id": "fc", "call_id": "c", "name": "weather"}
    late = item | {"arguments": '{"pla', "status": "incomplete"}
    cut = completed(incomplete_details={"reason": "max_output_tokens"})
    begun = {"type": "response.output_item.added", "output_index": 0, "item": item | {"arguments": ""}}
    for events in (
        (begun, cut),
        (begun, {"type": "response.output_item.done", "output_index": 0, "item": late}, cut),
    ):
        found = read(*events)
        [ready] = [one.call for one in found if isinstance(one, CallReady)]
        assert (ready.name, ready.arguments) == ("weather", {})
        assert ready.error == "the reply ended before the call was complete"
        assert end(found).stop_reason == "length"


def test_what_came_in_no_event_of_its_own_is_taken_from_the_last_one() -> None:
    said = {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Well."}],
    }
    called = {"type": "function_call", "id": "f", "call_id": "c", "name": "weather", "arguments": "{}"}
    found = read(completed(output=[said, called]))
    assert text(found) == "Well."
    assert end(found).stop_reason == "tool_calls"


def test_a_refusal_is_shown_and_named() -> None:
    events = [
        {"type": "response.refusal.delta", "output_index": 0, "delta": piece} for piece in ("I will", " not.")
    ]
    found = read(*events, completed())
    assert (text(found), end(found).stop_reason) == ("I will not.", "refused")


def test_parts_of_a_thought_are_set_apart_and_plain_thoughts_are_read() -> None:
    name = "response.reasoning_summary"
    found = read(
        {"type": f"{name}_part.added", "summary_index": 0},
        {"type": f"{name}_text.delta", "summary_index": 0, "delta": "One."},
        {"type": f"{name}_part.added", "summary_index": 1},
        {"type": f"{name}_text.delta", "summary_index": 1, "delta": "Two."},
        {"type": "response.reasoning_text.delta", "output_index": 1, "delta": " Three."},
        completed(),
    )
    assert "".join(item.text for item in found if isinstance(item, ReasoningDelta)) == "One.\n\nTwo. Three."


def test_usage_has_what_was_cached_and_thought() -> None:
    counts = {
        "input_tokens": 900,
        "output_tokens": 80,
        "input_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 100},
        "output_tokens_details": {"reasoning_tokens": 60},
    }
    found = end(read(completed(usage=counts)))
    assert found.usage == Usage(900, 80, 700, 60, 100)
    assert found.window > 200_000


@pytest.mark.parametrize(
    ("kind", "problem", "expected"),
    [
        ("rate_limit_exceeded", "slow down", "rate_limited"),
        ("insufficient_quota", "You exceeded your current quota", "quota_spent"),
        ("server_error", "try later", "provider_unavailable"),
        ("invalid_prompt", "flagged as potentially violating our usage policy", "request_refused"),
        ("bio_policy", "no", "request_refused"),
        ("context_length_exceeded", "too long", "context_too_long"),
    ],
)
def test_a_failure_inside_the_stream_is_the_one_it_stands_for(kind: str, problem: str, expected: str) -> None:
    error = {"code": kind, "message": problem}
    begun = {"type": "response.output_text.delta", "output_index": 0, "delta": "Well"}
    for failure in (
        {"type": "error", **error},
        {"type": "error", "error": error},
        {"type": "response.failed", "response": {"status": "failed", "error": error}},
    ):
        assert code(read(failure)) == expected
        found = read(begun, failure)
        assert (text(found), code(found)) == ("Well", expected)


def test_an_answer_that_does_not_end_is_not_taken_for_whole() -> None:
    begun = {"type": "response.output_text.delta", "output_index": 0, "delta": "Well"}
    assert code(read(begun)) == "reply_cut_short"
    assert code(read({"type": "response.output_item.done", "item": "none"})) == "reply_malformed"
