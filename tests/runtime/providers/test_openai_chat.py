"""What goes to services that speak Chat Completions, over HTTP against a local server that does."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest

from runtime.messages import (
    AssistantMessage,
    JsonObject,
    Reasoning,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from runtime.providers.connection import Connection
from runtime.providers.openai import make
from runtime.providers.openai_chat import OpenAIChatProvider
from runtime.providers.openai_responses import OpenAIResponsesProvider
from runtime.providers.provider import (
    PRIVATE,
    Failed,
    Provider,
)
from runtime.reply import Reply
from tests.runtime.providers.chat_service import (
    GOOD,
    HELLO,
    PICTURE,
    WEATHER,
    asked,
    code,
    collect,
    end,
    request,
    served,
    text,
)
from tests.wire.links import KEY, connect
from tests.wire.openai_chat import MODEL, Wire
from tests.wire.server import Play, Say, Think, WireServer


def test_a_request_has_what_compatible_services_know() -> None:
    [received], _found = asked(GOOD, requests=(request(tools=(WEATHER,), max_tokens=300, temperature=0.2),))
    function = {"name": WEATHER.name, "description": WEATHER.description, "parameters": WEATHER.parameters}
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.body == {
        "model": MODEL,
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello."}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 300,
        "temperature": 0.2,
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
    }


def test_a_service_without_a_key_gets_no_header_and_nothing_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "planted")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer planted\nX-Planted: planted")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://planted.example")
    [received], [found] = asked(GOOD, requests=(request(),), key="")
    assert text(found) == "All is well."
    assert "authorization" not in received.headers
    assert "planted" not in str(received)


def test_a_key_with_odd_characters_is_refused_before_it_is_sent() -> None:
    received, [found] = asked(requests=(request(),), key="sk-bad\nkey")
    assert code(found) == "key_unfit"
    assert "sk-bad" not in str(found)
    assert not received


def test_a_fault_does_not_carry_the_request_and_its_key_along() -> None:
    received, found = asked(
        Play(misdeed="hangup"), Play(status=401, problem=f"not {KEY}"), requests=(request(), request())
    )
    assert received[0].headers["authorization"] == f"Bearer {KEY}"
    for items in found:
        failure = items[-1]
        assert isinstance(failure, Failed)
        assert (failure.error.__cause__, failure.error.__context__) == (None, None)
        assert KEY not in str(failure.error)


def test_openai_itself_gets_its_own_names_and_is_spoken_to_by_responses() -> None:
    bodies: list[JsonObject] = []

    def answer(sent: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(sent.content))
        whole = b"".join(Wire().events(GOOD, bodies[-1]))
        return httpx2.Response(200, content=whole, headers={"content-type": Wire.content_type})

    def official(host: str) -> Connection:
        bare = connect(f"https://{host}/v1", "openai")
        client = lambda: httpx2.AsyncClient(transport=httpx2.MockTransport(answer))  # noqa: E731
        return Connection("openai", bare.base_url, bare.key, client, bare.old_client)

    async def main() -> None:
        provider = make(official("api.openai.com"), "chat")
        assert isinstance(provider, OpenAIChatProvider)
        try:
            for one in (request(model="gpt-5.4", effort="off"), request(session=PRIVATE, model="gpt-4o")):
                assert text(await collect(provider, one)) == "All is well."
        finally:
            await provider.close()

    asyncio.run(main())
    thinking, plain = bodies
    assert thinking["max_completion_tokens"] == 1024
    assert thinking["reasoning_effort"] == "none"
    assert thinking["prompt_cache_key"] == "s-1"
    assert thinking["store"] is False
    assert not {"max_tokens", "temperature"} & thinking.keys()
    assert plain["temperature"] == 0.7
    assert "prompt_cache_key" not in plain
    assert isinstance(make(official("api.openai.com")), OpenAIResponsesProvider)
    assert isinstance(make(official("eu.api.openai.com")), OpenAIResponsesProvider)
    assert isinstance(make(official("api.openai.com.example")), OpenAIChatProvider)
    assert isinstance(make(official("elsewhere.example"), "responses"), OpenAIResponsesProvider)


def test_a_conversation_is_told_so_that_strict_templates_take_it() -> None:
    history = (
        UserMessage((Text("One."),)),
        UserMessage((Text("Two."), PICTURE)),
        AssistantMessage(
            "Looking.", (), (ToolCall("c1", "weather", {"place": "Rome"}), ToolCall("c2", "weather", {}))
        ),
        ToolMessage("c2", "weather", (Text("rain"), PICTURE)),
        UserMessage((Text("Quick!"),)),
        ToolMessage("gone", "weather", (Text("late"),)),
        AssistantMessage("", (), (), provider="another"),
    )
    [received], _found = asked(GOOD, requests=(request(*history, system=""),))
    data = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    first, reply, one, two, last = received.body["messages"]
    assert [part.get("text") for part in first["content"]] == ["One.", "Two.", None]
    assert first["content"][2] == data
    assert reply["content"] == "Looking."
    assert [call["function"]["arguments"] for call in reply["tool_calls"]] == ['{"place": "Rome"}', "{}"]
    assert [one["tool_call_id"], two["tool_call_id"]] == [call["id"] for call in reply["tool_calls"]]
    assert (one["content"], two["content"]) == ("[no result was kept]", "rain")
    assert last["role"] == "user"
    assert data in last["content"]
    said = "".join(part.get("text", "") for part in last["content"])
    assert "Quick!" in said
    assert "[result of weather]" in said
    assert "late" in said


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_goes_back_under_the_name_it_came_with(name: str) -> None:
    async def scenario(server: WireServer, provider: Provider) -> JsonObject:
        server.plays(Play((Think("Hm, so."), Say("Yes."))), GOOD)
        reply = Reply("m", lambda _event: None)
        for item in await collect(provider, request()):
            reply.take(item)
        said = AssistantMessage("".join(reply.text), reply.blocks, provider="somewhere")
        await collect(provider, request(HELLO, said, HELLO))
        body: JsonObject = server.requests[-1].body
        return body

    body = served(Wire(name), scenario)
    assert body["messages"][2] == {"role": "assistant", "content": "Yes.", name: "Hm, so."}


def test_reasoning_of_others_and_of_earlier_forms_is_left_out() -> None:
    said = (
        AssistantMessage("A", (Reasoning("x", "signature"), Reasoning("y")), provider="somewhere"),
        HELLO,
        AssistantMessage("B", (Reasoning("z", '{"as": "reasoning"}'),), provider="another"),
        HELLO,
    )
    [received], _found = asked(GOOD, requests=(request(HELLO, *said),))
    replies = [message for message in received.body["messages"] if message["role"] == "assistant"]
    assert replies == [{"role": "assistant", "content": "A"}, {"role": "assistant", "content": "B"}]


@pytest.mark.parametrize(
    ("status", "problem", "gone"),
    [
        (400, "Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
        (422, "extra_forbidden: body.stream_options", "stream_options"),
        (400, "Unknown parameter: 'parallel_tool_calls'", "parallel_tool_calls"),
        (400, "Unsupported parameter: 'max_tokens' ... Use 'max_completion_tokens' instead.", "max_tokens"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice to be set', "tools"),
        (404, "No endpoints found that support tool use.", "tools"),
        (500, "tools param requires --jinja flag", "tools"),
        (400, "registry.ollama.ai/library/gemma:2b does not support tools", "tools"),
        (400, "reasoning_effort is not a known field", "reasoning_effort"),
    ],
)
def test_what_a_model_refuses_is_left_out_at_once_and_from_then_on(
    status: int, problem: str, gone: str
) -> None:
    one = request(tools=(WEATHER,), effort="high")
    received, found = asked(Play(status=status, problem=problem), GOOD, GOOD, requests=(one, one))
    assert [text(items) for items in found] == ["All is well."] * 2
    assert len(received) == 3
    assert gone in received[0].body
    assert all(gone not in later.body for later in received[1:])
    codes = [notice[0] for notice in end(found[-1]).notices]
    assert codes == {"tools": ["tools_left_out"], "reasoning_effort": ["thinking_left_out"]}.get(gone, [])
    if gone == "max_tokens":
        assert "max_completion_tokens" in received[2].body


def test_calls_are_told_in_words_to_a_model_that_cannot_act() -> None:
    history = (
        HELLO,
        AssistantMessage("", (), (ToolCall("c", "weather", {"place": "Rome"}),)),
        ToolMessage("c", "weather", (Text("sunny"),)),
    )
    refusal = Play(status=400, problem="this model does not support tools")
    received, _found = asked(refusal, GOOD, requests=(request(*history, tools=(WEATHER,)),))
    _system, _user, reply, result = received[1].body["messages"]
    assert reply == {"role": "assistant", "content": '[calls weather {"place": "Rome"}]'}
    assert result == {"role": "user", "content": "[result of weather]\nsunny"}


def test_a_model_that_turns_out_not_to_see_is_asked_without_pictures() -> None:
    refusal = Play(status=404, problem="No endpoints found that support image input")
    received, [found] = asked(refusal, GOOD, requests=(request(UserMessage((Text("What?"), PICTURE))),))
    assert received[1].body["messages"][1]["content"] == "What?[a picture that cannot be seen]"
    assert [notice[0] for notice in end(found).notices] == ["content_left_out"]


def test_a_bad_picture_is_no_lesson() -> None:
    refusal = Play(status=400, problem="You uploaded an unsupported image. Use one of these formats: png")
    received, [found] = asked(refusal, requests=(request(UserMessage((Text("What?"), PICTURE))),))
    assert code(found) == "request_rejected"
    assert len(received) == 1


def test_the_window_is_learnt_from_a_refusal_and_from_the_list() -> None:
    async def scenario(server: WireServer, provider: Provider) -> list[int]:
        server.plays(Play(status=400, problem="This model's maximum context length is 8192 tokens."))
        found = [provider.window(MODEL)]
        assert code(await collect(provider, request())) == "context_too_long"
        found.append(provider.window(MODEL))
        await provider.models()
        return [*found, provider.window("far"), provider.window("near"), provider.window("unheard-of")]

    wire = Wire()
    wire.listed += [{"id": "far", "context_length": 128_000}, {"id": "near", "max_model_len": 4_096}]
    assert served(wire, scenario) == [0, 8192, 128_000, 4_096, 0]


def test_the_list_tells_what_models_can_and_leaves_out_those_that_do_not_talk() -> None:
    async def scenario(_server: WireServer, provider: Provider) -> dict[str, tuple[bool, bool]]:
        return {model.name: (model.images, model.tools) for model in await provider.models()}

    wire = Wire()
    seeing = {
        "architecture": {"input_modalities": ["text", "image"]},
        "supported_parameters": ["temperature"],
    }
    wire.listed += [{"id": "nova"} | seeing, {"id": "plain"}, {"object": "model"}, {"id": "whisper-1"}]
    found = served(wire, scenario)
    assert found["nova"] == (True, False)
    assert found["plain"] == (False, True)
    assert not {"whisper-1", "text-embedding-3-small"} & found.keys()
