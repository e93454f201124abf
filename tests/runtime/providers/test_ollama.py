"""What is Ollama's own, over HTTP against a local server that speaks its wire format; no Ollama runs here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import httpx
import pytest

from resources.sentences import sentence
from runtime.errors import OrionError
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
from runtime.providers.connection import Connection
from runtime.providers.ollama import PICTURE_TOKENS, WINDOW, OllamaProvider
from runtime.providers.ollama_library import Pulling
from runtime.providers.provider import (
    CallReady,
    CallWriting,
    Failed,
    Finished,
    ReasoningDelta,
    Request,
    StreamItem,
    TextDelta,
)
from tests.wire.links import connect
from tests.wire.ollama import MODEL, TOTAL, Wire, make
from tests.wire.server import Call, Play, Received, Say, Think, WireServer

NESTED = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "spots": {"type": "array", "items": {"type": "object", "properties": {"x": {"minimum": 0}}}}
    },
}
TOOL = ToolSpec("weather", "Tells the weather.", NESTED)
CALL = ToolCall("call_1", "weather", {"place": "Rome"})
HELLO: tuple[Message, ...] = (UserMessage((Text("Hello"),)),)
PICTURE: tuple[Message, ...] = (UserMessage((Text("What is it?"), Image("image/png", "aWNvbg=="))),)

Scenario = Callable[[WireServer, OllamaProvider], Awaitable[Any]]


def run(scenario: Scenario, *plays: Play, key: str = "") -> Any:
    """What `scenario` gives; every play must have been asked for."""

    async def main() -> Any:
        async with WireServer(Wire()) as server:
            server.plays(*plays)
            provider = make(connect(server.url, "ollama", key))
            try:
                return await scenario(server, provider)
            finally:
                await provider.close()
                assert server.left_over == 0

    return asyncio.run(main())


def asked(*messages: Message, **changes: Any) -> Request:
    settings: dict[str, Any] = {"session": "s", "model": MODEL, "system": "Be kind.", "messages": messages}
    return Request(**(settings | changes))


async def collect(provider: OllamaProvider, request: Request) -> list[StreamItem]:
    async with aclosing(provider.stream(request)) as items:
        return [item async for item in items]


def exchange(request: Request, *plays: Play) -> tuple[list[StreamItem], list[Received]]:
    """The items of one call, and the requests the server got."""

    async def scenario(server: WireServer, provider: OllamaProvider) -> Any:
        return await collect(provider, request), server.requests

    items, requests = run(scenario, *plays)
    return items, requests


def body(request: Request, play: Play | None = None) -> JsonObject:
    """What is sent for `request`."""
    return exchange(request, play or Play((Say("Yes."),)))[1][-1].body


async def pulled(provider: OllamaProvider) -> list[Pulling]:
    async with aclosing(provider.library.pull("gemma:2b")) as steps:
        return [step async for step in steps]


def end(items: list[StreamItem]) -> Finished:
    assert isinstance(items[-1], Finished), items[-1]
    return items[-1]


def fault(items: list[StreamItem]) -> OrionError:
    assert isinstance(items[-1], Failed)
    return items[-1].error


# --- what is sent ---------------------------------------------------------------------------------------


def test_the_options_name_the_window_and_forbid_silent_cutting() -> None:
    sent = body(asked(*HELLO, temperature=0.2, max_tokens=77))
    assert sent["options"] == {"temperature": 0.2, "num_predict": 77, "num_ctx": WINDOW}
    assert (sent["truncate"], sent["shift"], sent["stream"]) == (False, False, True)
    assert "keep_alive" not in sent
    assert "think" not in sent
    assert sent["messages"][0] == {"role": "system", "content": "Be kind."}


def test_a_schema_goes_whole_with_its_nested_parts() -> None:
    (tool,) = body(asked(*HELLO, tools=(TOOL,)))["tools"]
    assert tool == {
        "type": "function",
        "function": {"name": "weather", "description": "Tells the weather.", "parameters": NESTED},
    }


def test_tools_are_not_offered_where_words_are_asked_for() -> None:
    items, requests = exchange(asked(*HELLO, tools=(TOOL,), answer=True), Play((Say("Yes."),)))
    assert "tools" not in requests[-1].body
    assert end(items).notices == ()


@pytest.mark.parametrize(
    ("model", "effort", "think"),
    [(MODEL, "off", False), (MODEL, "high", True), ("gpt-oss:20b", "low", "low")],
)
def test_the_effort_becomes_thinking(model: str, effort: str, think: bool | str) -> None:
    assert body(asked(*HELLO, model=model, effort=effort))["think"] == think


def test_a_model_may_be_kept_in_memory() -> None:
    async def scenario() -> JsonObject:
        async with WireServer(Wire()) as server:
            server.plays(Play((Say("Yes."),)))
            provider = OllamaProvider(connect(server.url, "ollama"), keep_alive="10m")
            await collect(provider, asked(*HELLO))
            await provider.close()
            return server.requests[-1].body

    assert asyncio.run(scenario())["keep_alive"] == "10m"


def test_calls_and_results_keep_their_ids_and_pictures_follow_all_results() -> None:
    history = (
        *HELLO,
        AssistantMessage("", (Reasoning("Two at once."),), (CALL, ToolCall("call_2", "look", {})), "ollama"),
        ToolMessage("call_1", "weather", (Text("sunny"),)),
        ToolMessage("call_2", "look", (Image("image/png", "aWNvbg=="),)),
        ToolMessage("call_9", "lost", (Text("nobody asked"),)),
        AssistantMessage("", provider="ollama"),
        AssistantMessage("Done.", (Reasoning("not yours"),), provider="another"),
    )
    assert body(asked(*history))["messages"][2:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "call_1", "function": {"name": "weather", "arguments": {"place": "Rome"}}},
                {"id": "call_2", "function": {"name": "look", "arguments": {}}},
            ],
            "thinking": "Two at once.",
        },
        {"role": "tool", "tool_name": "weather", "tool_call_id": "call_1", "content": "sunny"},
        {"role": "tool", "tool_name": "look", "tool_call_id": "call_2", "content": ""},
        {"role": "user", "content": "[result of lost]\nnobody asked"},
        {"role": "user", "content": "[pictures of the results above]", "images": ["aWNvbg=="]},
        {"role": "assistant", "content": "Done."},
    ]


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


# --- where it runs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "model", "local"),
    [
        ("http://127.0.0.1:11434", MODEL, True),
        ("http://localhost:11434", MODEL, True),
        ("http://[::1]:11434", MODEL, True),
        ("http://127.0.0.1:11434", "gpt-oss:120b-cloud", False),
        ("http://127.0.0.1:11434", "glm-5:cloud", False),
        ("https://ollama.com", MODEL, False),
        ("http://127.example.org", MODEL, False),
    ],
)
def test_it_says_whether_anything_leaves_the_machine(address: str, model: str, local: bool) -> None:
    assert make(connect(address, "ollama")).traits(model).local is local


def test_a_model_in_the_cloud_keeps_its_own_window() -> None:
    assert "num_ctx" not in body(asked(*HELLO, model="glm-5:cloud"))["options"]
    assert make(connect("http://127.0.0.1:9", "ollama")).window("glm-5:cloud") == 0


def test_a_key_is_sent_where_there_is_one_and_never_one_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "from-the-environment")

    async def scenario(server: WireServer, provider: OllamaProvider) -> list[str]:
        await provider.models()
        await collect(provider, asked(*HELLO))
        return [received.headers.get("authorization", "") for received in server.requests]

    assert set(run(scenario, Play((Say("Yes."),)))) == {""}
    assert set(run(scenario, Play((Say("Yes."),)), key="mine")) == {"Bearer mine"}


def test_a_server_that_does_not_run_is_said_to_be_started() -> None:
    async def scenario() -> tuple[OrionError, OrionError]:
        async with WireServer(Wire()) as server:
            address = server.url
        provider = make(connect(address, "ollama"))
        failed = fault(await collect(provider, asked(*HELLO)))
        with pytest.raises(OrionError) as caught:
            await provider.models()
        await provider.close()
        return failed, caught.value

    for error in asyncio.run(scenario()):
        assert error.code == "provider_unreachable"
        assert "start it" in sentence(error.code, **error.fields)


@pytest.mark.parametrize(
    ("status", "text", "code"),
    [
        (200, "<html>sign in first</html>", "reply_malformed"),
        (200, "[1, 2]\n", "reply_malformed"),
        (200, '{"message": {"content": 5}}\n', "reply_malformed"),
        (200, "", "reply_cut_short"),
        (200, '\n{"message": {"content": "so f', "reply_cut_short"),
        (200, '{"error": {"message": "who are you"}, "status": 401}', "key_rejected"),
        (502, '"bad gateway"', "provider_unavailable"),
        (502, "bad gateway", "provider_unavailable"),
        (403, '{"error": {"message": "who are you"}}', "key_rejected"),
    ],
)
def test_what_stands_between_is_told_apart(status: int, text: str, code: str) -> None:
    """A proxy or a page where one signs in answers in its own form."""

    async def scenario() -> OrionError:
        transport = httpx.MockTransport(lambda _request: httpx.Response(status, text=text))
        plain = connect("http://ollama.example", "ollama")
        provider = make(
            Connection("ollama", plain.base_url, plain.key, plain.client, lambda: _client(transport))
        )
        try:
            return fault(await collect(provider, asked(*HELLO)))
        finally:
            await provider.close()

    assert asyncio.run(scenario()).code == code


def _client(transport: httpx.MockTransport) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=transport)


# --- the models of the server ---------------------------------------------------------------------------


def test_models_say_what_they_can_and_those_that_only_embed_are_not_offered() -> None:
    async def scenario(_server: WireServer, provider: OllamaProvider) -> None:
        found = {model.name: model for model in await provider.models()}
        assert set(found) == {MODEL, "gemma:2b", "mine:latest"}
        assert (found[MODEL].images, found[MODEL].tools, found[MODEL].window) == (True, True, WINDOW)
        assert (found["gemma:2b"].images, found["gemma:2b"].tools) == (False, False)
        assert found["gemma:2b"].window == 8_192
        assert found["mine:latest"].window == 4_096
        assert found[MODEL].size == 3_000_000_000
        assert provider.window("mine") == 4_096
        assert not provider.traits("gemma:2b").tools
        kept = {model.name: model for model in await provider.library.installed()}
        assert kept["all-minilm:latest"].capabilities == {"embedding"}
        assert (kept[MODEL].parameters, kept[MODEL].quantization) == ("8.8B", "Q4_K_M")

    run(scenario)


def test_models_are_looked_at_again_only_when_they_changed() -> None:
    async def scenario(server: WireServer, provider: OllamaProvider) -> None:
        first = await provider.library.installed()
        asked_first = len(server.requests)
        assert await provider.library.installed() == first
        assert [received.path for received in server.requests[asked_first:]] == ["/api/tags"]

    run(scenario)


def test_a_download_tells_how_far_it_is() -> None:
    async def scenario(server: WireServer, provider: OllamaProvider) -> list[Pulling]:
        found = await pulled(provider)
        assert server.requests[-1].body == {"model": "gemma:2b", "stream": True}
        return found

    steps = run(scenario, Play())
    assert steps[0] == Pulling("pulling manifest")
    assert [step.completed for step in steps if step.total] == [0, TOTAL // 4, TOTAL // 2, TOTAL]
    assert steps[-1].status == "success"


def test_a_download_stops_when_nobody_listens_any_more() -> None:
    async def scenario(server: WireServer, provider: OllamaProvider) -> None:
        steps = provider.library.pull("gemma:2b")
        await anext(steps)
        await steps.aclose()
        async with asyncio.timeout(5):
            await server.closed_early.wait()

    run(scenario, Play(misdeed="silent"))


@pytest.mark.parametrize(
    ("play", "code"),
    [
        (Play(problem="pull model manifest: file does not exist"), "pull_unknown"),
        (Play(problem="write blobs: no space left on device"), "pull_failed"),
        (Play(status=400, problem="invalid model name"), "pull_failed"),
        (Play(misdeed="truncate"), "pull_cut_short"),
        (Play(misdeed="cut"), "pull_cut_short"),
    ],
)
def test_a_download_that_fails_has_its_sentence(play: Play, code: str) -> None:
    async def scenario(_server: WireServer, provider: OllamaProvider) -> OrionError:
        with pytest.raises(OrionError) as caught:
            await pulled(provider)
        return caught.value

    error = run(scenario, play)
    assert error.code == code
    assert "gemma:2b" in sentence(error.code, **error.fields)


def test_a_model_can_be_deleted_once() -> None:
    async def scenario(_server: WireServer, provider: OllamaProvider) -> None:
        await provider.library.show("gemma:2b")
        await provider.library.delete("gemma:2b")
        assert provider.library.known("gemma:2b") is None
        with pytest.raises(OrionError, match="model_not_offered"):
            await provider.library.delete("gemma:2b")

    run(scenario)


def test_texts_become_vectors_in_their_order() -> None:
    async def scenario(server: WireServer, provider: OllamaProvider) -> None:
        assert await provider.library.embed("all-minilm", []) == []
        assert not server.requests
        vectors = await provider.library.embed("all-minilm", ["a", "bcd"])
        assert vectors == [[1.0, 0.5], [3.0, 0.5]]

    run(scenario)


def test_thoughts_and_words_come_as_they_are_written() -> None:
    items, _ = exchange(asked(*HELLO, effort="low"), Play((Think("Hm, well."), Say("Good day."))))
    kinds = [type(item) for item in items]
    assert kinds == [ReasoningDelta, ReasoningDelta, TextDelta, TextDelta, Finished]


def test_nothing_of_the_key_shows_in_what_can_be_printed() -> None:
    provider = make(connect("http://127.0.0.1:9", "ollama", "sk-very-secret-0123456789"))
    assert "very-secret" not in json.dumps([repr(provider), repr(provider.library), repr(vars(provider))])
