"""How Ollama answers, over HTTP against a local server that speaks its wire format; no Ollama runs here."""

from __future__ import annotations

from typing import Any

import pytest

from resources.sentences import sentence
from runtime.messages import (
    AssistantMessage,
    JsonObject,
    Text,
    ToolMessage,
    Usage,
    UserMessage,
)
from runtime.providers.ollama import PICTURE_TOKENS, WINDOW, OllamaProvider
from runtime.providers.provider import (
    CallReady,
    CallWriting,
    Failed,
    Finished,
    ReasoningDelta,
    TextDelta,
)
from tests.runtime.providers.ollama_house import (
    CALL,
    HELLO,
    PICTURE,
    TOOL,
    asked,
    collect,
    end,
    exchange,
    fault,
    run,
)
from tests.wire.ollama import MODEL
from tests.wire.server import Call, Play, Say, Think, WireServer

# --- what comes back ------------------------------------------------------------------------------------


def test_usage_speed_and_window_are_reported() -> None:
    items, _ = exchange(asked(*HELLO), Play((Say("Yes."),), prompt=40, completion=10))
    finished = end(items)
    assert finished.usage == Usage(40, 10)
    assert finished.tokens_per_second == 20.0
    assert (finished.window, finished.stop_reason) == (WINDOW, "stop")


def test_an_answer_that_met_its_limit_says_so() -> None:
    assert end(exchange(asked(*HELLO), Play((Say("Yes"),), stop="length"))[0]).stop_reason == "length"


def test_a_call_without_an_id_is_given_one_and_doubled_ids_are_told_apart() -> None:
    calls = (Call("", "a", {}), Call("call_x", "b", {"n": [1]}), Call("call_x", "c", {}))
    items, _ = exchange(asked(*HELLO, tools=(TOOL,)), Play((Think("So."), *calls)))
    ready = [item.call for item in items if isinstance(item, CallReady)]
    assert [call.name for call in ready] == ["a", "b", "c"]
    assert ready[1].id == "call_x"
    assert len({call.id for call in ready}) == 3
    assert all(call.id for call in ready)
    assert CallWriting("b", '{"n": [1]}') in items
    assert end(items).stop_reason == "tool_calls"


@pytest.mark.parametrize(
    ("arguments", "understood", "error"),
    [
        ('{"place": "Rome"}', {"place": "Rome"}, ""),
        ("{place", {}, "they are no JSON"),
        ([1], {}, "they are no JSON object"),
        (None, {}, ""),
    ],
)
def test_arguments_that_are_no_object_are_said_to_the_model(
    arguments: Any, understood: JsonObject, error: str
) -> None:
    items, _ = exchange(asked(*HELLO, tools=(TOOL,)), Play((Call("call_1", "weather", arguments),)))
    (call,) = (item.call for item in items if isinstance(item, CallReady))
    assert (call.arguments, call.error) == (understood, error)


def test_an_error_inside_the_stream_ends_it() -> None:
    items, _ = exchange(asked(*HELLO), Play((Say("One two three"),), problem="llama runner has gone"))
    assert fault(items).code == "provider_unavailable"
    assert fault(items).fields["problem"] == "llama runner has gone"
    assert any(isinstance(item, TextDelta) for item in items)
    long = Play((Say("Yes"),), problem="the input length exceeds the context length")
    assert fault(exchange(asked(*HELLO), long)[0]).code == "context_too_long"
    busy = Play((Say("Yes"),), problem="too many requests", kind="429")
    assert fault(exchange(asked(*HELLO), busy)[0]).code == "rate_limited"


def test_a_line_ends_where_the_server_ends_it() -> None:
    """Other ends of lines stand unescaped inside of strings."""
    said = "one\x85two\u2028three\u2029four"
    items, _ = exchange(asked(*HELLO), Play((Say(said),), misdeed="split"))
    assert "".join(item.text for item in items if isinstance(item, TextDelta)) == said


def test_thoughts_and_words_come_as_they_are_written() -> None:
    items, _ = exchange(asked(*HELLO, effort="low"), Play((Think("Hm, well."), Say("Good day."))))
    kinds = [type(item) for item in items]
    assert kinds == [ReasoningDelta, ReasoningDelta, TextDelta, TextDelta, Finished]


# --- what a model cannot do -----------------------------------------------------------------------------


def test_a_model_without_tools_is_asked_again_at_once_and_never_offered_any_again() -> None:
    refusal = Play(status=400, problem="registry.ollama.ai/library/old:7b does not support tools")
    history = (
        *HELLO,
        AssistantMessage("I look.", calls=(CALL,), provider="another"),
        ToolMessage("call_1", "weather", (Text("sunny"),)),
    )

    async def scenario(server: WireServer, provider: OllamaProvider) -> None:
        request = asked(*history, model="old:7b", tools=(TOOL,))
        assert provider.traits("old:7b").tools
        for _ in range(2):
            items = await collect(provider, request)
            assert end(items).notices == (("tools_left_out", {"model": "old:7b"}),)
            assert not any(isinstance(item, Failed) for item in items)
        assert not provider.traits("old:7b").tools
        assert provider.traits(MODEL).tools
        first, second, third = (received.body for received in server.requests)
        assert "tools" in first
        assert "tools" not in second
        assert second == third
        assert second["messages"][2:] == [
            {"role": "assistant", "content": 'I look.\n[calls weather {"place": "Rome"}]'},
            {"role": "user", "content": "[result of weather]\nsunny"},
        ]

    run(scenario, refusal, Play((Say("Yes."),)), Play((Say("Yes."),)))
    assert "old:7b cannot use tools" in sentence("tools_left_out", model="old:7b")


def test_a_model_that_does_not_think_is_asked_again_without() -> None:
    thoughtless = Play(status=400, problem='"old:7b" does not support thinking')
    toolless = Play(status=400, problem="old:7b does not support tools")
    request = asked(*HELLO, model="old:7b", effort="high", tools=(TOOL,))
    items, requests = exchange(request, thoughtless, toolless, Play((Say("Yes."),)))
    assert {code for code, _fields in end(items).notices} == {"tools_left_out", "thinking_left_out"}
    assert ["think" in received.body for received in requests] == [True, False, False]


def test_a_refusal_that_teaches_nothing_new_is_a_fault() -> None:
    refusal = Play(status=400, problem="old:7b does not support tools")
    items, _ = exchange(asked(*HELLO, model="old:7b"), refusal, refusal)
    assert fault(items).code == "request_rejected"


def test_a_model_that_does_not_see_is_known_before_it_is_shown_a_picture() -> None:
    items, requests = exchange(asked(*PICTURE, model="gemma:2b"), Play((Say("Yes."),)))
    assert [received.path for received in requests] == ["/api/show", "/api/chat"]
    assert requests[-1].body["messages"][1]["content"] == "What is it?[a picture that cannot be seen]"
    assert requests[-1].body["options"]["num_ctx"] == 8_192
    assert end(items).notices == (("content_left_out", {"model": "gemma:2b", "what": "pictures"}),)


def test_the_window_is_asked_for_before_a_long_message_goes_out() -> None:
    long = (UserMessage((Text("word " * 3_000),)),)
    items, requests = exchange(asked(*long, model="gemma:2b"), Play((Say("Yes."),)))
    assert [received.path for received in requests] == ["/api/show", "/api/chat"]
    assert end(items).window == 8_192
    assert fault(exchange(asked(*long, model="nobody"))[0]).code == "model_not_offered"


def test_the_estimate_follows_what_the_model_counts() -> None:
    request = asked(UserMessage((Text("x" * 6_000),)))

    async def scenario(_server: WireServer, provider: OllamaProvider) -> tuple[int, int, int]:
        before = await provider.count(request)
        pictures = await provider.count(asked(*PICTURE)) - await provider.count(asked(*HELLO))
        await collect(provider, request)
        return before, await provider.count(request), pictures

    before, after, pictures = run(scenario, Play((Say("Yes."),), prompt=4_000))
    assert before < 2_100
    assert after >= 4_000
    assert PICTURE_TOKENS <= pictures < PICTURE_TOKENS + 20
