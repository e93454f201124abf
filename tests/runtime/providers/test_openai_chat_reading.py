"""Everything in which services that speak Chat Completions differ, over HTTP against a local one."""

from __future__ import annotations

import json

import pytest

from runtime.messages import (
    AssistantMessage,
    JsonObject,
    Usage,
)
from runtime.providers.provider import (
    CallWriting,
    Provider,
    StreamItem,
)
from runtime.reply import Reply
from tests.runtime.providers.chat_service import (
    DONE,
    GOOD,
    HELLO,
    Raw,
    asked,
    called,
    calls,
    code,
    collect,
    delta,
    end,
    read,
    request,
    served,
    text,
    thoughts,
)
from tests.wire.openai_chat import Wire, chunk
from tests.wire.server import Play, WireServer


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param(
            [
                [called(0, "a", name="f", arguments='{"n": 1}')],
                [called(0, "b", name="f", arguments='{"n": 2}')],
            ],
            id="every whole call has the index 0",
        ),
        pytest.param(
            [
                [
                    called(None, "a", name="f", arguments='{"n": 1}'),
                    called(None, "b", name="f", arguments='{"n": 2}'),
                ]
            ],
            id="no index, all at once",
        ),
        pytest.param(
            [
                [called(None, "a", name="f", arguments="")],
                [called(None, arguments='{"n": 1}')],
                [called(None, "b", name="f")],
                [called(None, arguments='{"n":'), called(None, arguments=" 2}")],
            ],
            id="no index, in pieces",
        ),
        pytest.param(
            [
                [called(0, "a", name="f", arguments='{"n"')],
                [called(1, "b", name="f", arguments='{"n":')],
                [called(0, "x", arguments=": 1}")],
                [called(1, "y", name="", arguments="2}")],
            ],
            id="interleaved, a new id to every piece",
        ),
        pytest.param(
            [
                [called(0, name="f", arguments={"n": 1})],
                [called(1, "b", name="f", arguments='{"n": ')],
                [called(1, "b", name="f", arguments="2}")],
            ],
            id="no id, arguments as an object, the name again and again",
        ),
    ],
)
def test_calls_are_put_together_however_they_are_written(deltas: list[list[JsonObject]]) -> None:
    found = read(*(delta(tool_calls=part) for part in deltas), delta("stop"), DONE)
    assert [(call.name, call.arguments, call.error) for call in calls(found)] == [
        ("f", {"n": 1}, ""),
        ("f", {"n": 2}, ""),
    ]
    assert len({call.id for call in calls(found)}) == 2
    assert calls(found)[1].id == "b"
    assert end(found).stop_reason == "tool_calls"


def test_a_call_is_shown_while_it_is_written() -> None:
    parts = (called(0, "a", name="f", arguments=""), called(0, arguments='{"n"'), called(0, arguments=": 1}"))
    found = read(*(delta(tool_calls=[part]) for part in parts), delta("tool_calls"), DONE)
    written = [(item.name, item.text) for item in found if isinstance(item, CallWriting)]
    assert written == [("f", ""), ("f", '{"n"'), ("f", ": 1}")]


@pytest.mark.parametrize(
    ("arguments", "finish", "error"),
    [
        ("{'n': 1}", "tool_calls", "they are no JSON"),
        ("[1]", "tool_calls", "they are no JSON object"),
        ('{"n": NaN}', "tool_calls", "a number is not finite"),
        ('{"n": 1', "length", "the reply ended before the call was complete"),
        ("", "tool_calls", ""),
    ],
)
def test_arguments_that_cannot_be_read_are_told_to_the_model(arguments: str, finish: str, error: str) -> None:
    found = read(delta(tool_calls=[called(0, "a", name="f", arguments=arguments)]), delta(finish), DONE)
    assert [(call.arguments, call.error) for call in calls(found)] == [({}, error)]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", "stop"),
        ("", "stop"),
        ("eos", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("content_filter", "refused"),
        ("tool_calls", "stop"),
    ],
)
def test_every_word_for_the_end_is_understood(finish: str, reason: str) -> None:
    assert end(read(delta(content="Well."), delta(finish))).stop_reason == reason


def test_a_refusal_is_shown_and_named() -> None:
    found = read(delta(refusal="I will not."), delta("stop"), DONE)
    assert (text(found), end(found).stop_reason) == ("I will not.", "refused")


def test_usage_is_found_wherever_it_stands() -> None:
    counts = {
        "prompt_tokens": 50,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 4},
    }
    assert end(read(delta("stop", content="x") | {"usage": counts}, DONE)).usage == Usage(50, 9, 40, 4, 3)
    deepseek = {
        "prompt_tokens": 50,
        "completion_tokens": 9,
        "prompt_cache_hit_tokens": 30,
        "prompt_tokens_details": None,
    }
    late = chunk({"model": "m"}, []) | {"usage": deepseek}
    assert end(read(delta(content="x"), delta("stop"), late, DONE)).usage == Usage(50, 9, 30)
    assert end(read(delta(content="x"), delta("stop"), DONE)).usage == Usage()


@pytest.mark.parametrize("details", [{}, {"completion_tokens_details": {"reasoning_tokens": 70}}])
def test_thoughts_that_only_the_total_counts_are_part_of_the_reply(details: JsonObject) -> None:
    """As with Gemini and Grok, which want to be paid for them."""
    counts = {"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 129} | details
    usage = end(read(delta("stop", content="x") | {"usage": counts}, DONE)).usage
    assert usage == Usage(50, 79, reasoning=70 if details else 0)


def test_empty_chunks_comments_and_unknown_members_do_no_harm() -> None:
    first = b": OPENROUTER PROCESSING\n\n"
    empty = chunk({"model": "m"}, [])
    strange = delta(content="Well.", audio=None, role=None) | {"provider": "x", "obfuscation": "yy"}
    second = chunk({"model": "m"}, [{"index": 1, "delta": {"content": "Another."}, "finish_reason": None}])
    found = read(first, empty, {"choices": None}, strange, second, delta("stop"), DONE)
    assert text(found) == "Well."


def test_a_message_instead_of_deltas_is_read() -> None:
    message = {
        "role": "assistant",
        "content": "Whole.",
        "tool_calls": [called(0, "a", name="f", arguments="{}")],
    }
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    found = read(whole, DONE)
    assert (text(found), len(calls(found))) == ("Whole.", 1)


def test_thoughts_are_told_apart_in_every_form() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "Yes."},
    ]
    for events in (
        [delta(reasoning_content="Hm."), delta(content="Yes.")],
        [delta(reasoning="Hm.", reasoning_content=None, content=""), delta(content="Yes.")],
        [delta(reasoning="Hm.", reasoning_content="Hm."), delta(content="Yes.")],
        [delta(content="<thi"), delta(content="nk>\nHm.\n</think>\n\nYes.")],
        [delta(content=parts)],
    ):
        found = read(*events, delta("stop"), DONE)
        assert (thoughts(found), text(found)) == ("Hm.", "Yes.")


def test_what_a_service_adds_to_a_thought_goes_back_to_the_same_model() -> None:
    pieces: list[JsonObject] = [
        {"type": "reasoning.text", "text": "H", "index": 0, "format": "x"},
        {"type": "reasoning.text", "text": "m.", "index": 0, "signature": "sig"},
        {"type": "reasoning.encrypted", "data": "sealed", "index": 1},
    ]
    events = [delta(reasoning=piece.get("text"), reasoning_details=[piece]) for piece in pieces]
    found = read(*events, delta(content="Yes."), delta("stop"), DONE)
    reply = Reply("m", lambda _event: None)
    for item in found:
        reply.take(item)
    said = AssistantMessage("Yes.", reply.blocks, provider="somewhere")
    received, _found = asked(
        GOOD, GOOD, requests=(request(HELLO, said, HELLO), request(HELLO, said, HELLO, model="m"))
    )
    own, other = (one.body["messages"][2] for one in received)
    assert own["reasoning"] == other["reasoning"] == "Hm."
    assert own["reasoning_details"] == [
        {"type": "reasoning.text", "text": "Hm.", "index": 0, "format": "x", "signature": "sig"},
        {"type": "reasoning.encrypted", "data": "sealed", "index": 1},
    ]
    assert "reasoning_details" not in other


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "slow down", "code": 429}, "rate_limited"),
        (
            {"message": "Provider returned error", "code": 502, "metadata": {"raw": "upstream"}},
            "provider_unavailable",
        ),
        ({"message": "You exceeded your current quota", "code": "insufficient_quota"}, "quota_spent"),
        ({"message": "it exceeds the available context size", "code": 400}, "context_too_long"),
        ({"message": "overloaded", "type": "overloaded_error"}, "provider_unavailable"),
        ("it broke", "provider_unavailable"),
    ],
)
def test_an_error_inside_the_stream_is_the_one_it_stands_for(error: object, expected: str) -> None:
    assert code(read(delta(content="Well."), {"error": error})) == expected
    assert code(read({"error": error})) == expected


def test_an_answer_that_ends_with_an_error_is_not_taken_for_whole() -> None:
    assert code(read(delta(content="Well."), delta("error"), DONE)) == "provider_unavailable"
    assert code(read(delta(content="Well."), DONE)) == "reply_cut_short"
    assert code(read(b"data: 7\n\n")) == "reply_malformed"
    assert code(read({"choices": 3})) == "reply_malformed"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'{"detail": "Unknown model"}', "Unknown model"),
        (b'{"error": "model not loaded"}', "model not loaded"),
        (b'{"object": "error", "message": "no such model", "code": 404}', "no such model"),
        (b"<html><body>nginx</body></html>", "HTTP 404"),
        (b"plain words", "plain words"),
        (b"", "HTTP 404"),
    ],
)
def test_the_words_of_a_refusal_are_found_in_every_form(body: bytes, problem: str) -> None:
    class Refusing(Wire):
        def refusal(self, status: int, problem: str, kind: str) -> bytes:
            return body

    async def scenario(_server: WireServer, provider: Provider) -> list[StreamItem]:
        return await collect(provider, request())

    found = served(Refusing(), scenario, Play(status=404))
    assert found[-1].error.code == "model_not_offered"
    assert found[-1].error.fields["problem"] == problem


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("application/json", b'{"error": "Unexpected endpoint or method."}', "request_rejected"),
        ("application/json; charset=utf-8", b'{"status": "ok"}', "reply_malformed"),
        ("text/html", b"<html>Welcome</html>", "reply_malformed"),
    ],
)
def test_something_else_at_the_address_is_told_apart(content_type: str, body: bytes, expected: str) -> None:
    wire = Raw(body)
    wire.content_type = content_type

    async def scenario(_server: WireServer, provider: Provider) -> list[StreamItem]:
        return await collect(provider, request())

    assert code(served(wire, scenario, Play())) == expected


def test_a_service_that_does_not_stream_is_read() -> None:
    message = {"role": "assistant", "content": "Whole."}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    counts = {"prompt_tokens": 5, "completion_tokens": 2}
    wire = Raw(json.dumps({"object": "chat.completion", "choices": choices, "usage": counts}).encode())
    wire.content_type = "application/json"

    async def scenario(_server: WireServer, provider: Provider) -> list[StreamItem]:
        return await collect(provider, request())

    found = served(wire, scenario, Play())
    assert (text(found), end(found).usage) == ("Whole.", Usage(5, 2))
