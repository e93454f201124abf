"""What every client of a service must do, over HTTP against local servers that speak the wire formats."""

from __future__ import annotations

import asyncio
import json
import time
from types import ModuleType
from typing import Any

import pytest

from runtime.errors import OrionError
from runtime.messages import (
    AssistantMessage,
    Image,
    Reasoning,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from runtime.providers.connection import Connection, HostRefused
from runtime.providers.patience import Patient
from runtime.providers.provider import (
    CallReady,
    Finished,
    Provider,
    ReasoningDelta,
    Retrying,
    StreamItem,
    TextDelta,
)
from tests.wire import anthropic, ollama, openai_chat, openai_responses
from tests.wire.calls import ANSWER, GOOD, PIXEL, SILENCE, collect, fault, items, played, request, text
from tests.wire.links import KEY, connect
from tests.wire.server import Call, Misdeed, Play, Say, Think, WireServer

SERVICES = pytest.mark.parametrize(
    "wire",
    [pytest.param(module, id=module.NAME) for module in (openai_chat, openai_responses, anthropic, ollama)],
)


@SERVICES
def test_an_answer_streams_and_ends_with_its_usage(wire: ModuleType) -> None:
    found = items(wire, Play((Say(ANSWER),), prompt=21, completion=7, cached=4))
    assert text(found) == ANSWER
    assert sum(isinstance(item, TextDelta) for item in found) > 1
    end = found[-1]
    assert isinstance(end, Finished)
    assert end.stop_reason == "stop"
    assert (end.usage.prompt, end.usage.completion) == (21, 7)
    assert end.usage.cached in (4, 0 if wire is ollama else 4)


@SERVICES
def test_several_calls_of_one_reply_come_whole_and_in_order(wire: ModuleType) -> None:
    calls = (Call("call_1", "weather", {"place": "Łódź"}), Call("call_2", "weather", {"place": "Oslo"}))
    found = items(wire, Play((Say("I look."), *calls)))
    ready = [item.call for item in found if isinstance(item, CallReady)]
    assert [(call.name, call.arguments, call.error) for call in ready] == [
        (call.name, call.arguments, "") for call in calls
    ]
    assert len({call.id for call in ready}) == 2
    assert text(found) == "I look."
    assert isinstance(found[-1], Finished)
    assert found[-1].stop_reason == "tool_calls"


@SERVICES
def test_thinking_comes_apart_from_the_answer(wire: ModuleType) -> None:
    found = items(wire, Play((Think("Let me see."), Say(ANSWER))), effort="medium", max_tokens=9000)
    thought = "".join(item.text for item in found if isinstance(item, ReasoningDelta))
    assert thought == "Let me see."
    assert text(found) == ANSWER


@SERVICES
def test_a_whole_exchange_with_tools_and_pictures_is_sent_back(wire: ModuleType) -> None:
    """A history that another provider made, with calls, results, reasoning and pictures."""
    history = (
        UserMessage((Image("image/png", PIXEL), Text("Where is this?"))),
        AssistantMessage(
            "I look.",
            (Reasoning("secret thoughts", "signature-of-another"),),
            (ToolCall("other:1/ä", "weather", {"place": "Rome"}), ToolCall("other:2", "weather", {})),
            provider="another",
        ),
        ToolMessage("other:1/ä", "weather", (Text("sunny"), Image("image/png", PIXEL))),
        ToolMessage("other:2", "weather", (Text("place is missing"),), ok=False),
        AssistantMessage("", (), (), provider="another"),
        UserMessage((Text("And now?"),)),
    )

    async def scenario(server: WireServer, provider: Provider) -> tuple[list[StreamItem], str]:
        found = await collect(provider, request(*history, model=wire.MODEL))
        return found, json.dumps(server.requests[-1].body)

    found, sent = played(wire, scenario, GOOD)
    assert text(found) == ANSWER
    assert "sunny" in sent
    assert "place is missing" in sent
    assert sent.count(PIXEL) == 2 or any(code == "content_left_out" for code, _fields in found[-1].notices)
    assert "signature-of-another" not in sent
    assert "And now?" in sent


@SERVICES
def test_the_same_history_is_the_same_prompt(wire: ModuleType) -> None:
    """Byte for byte but for marks of the cache, so that a service's prompt cache holds."""
    first = (UserMessage((Text("One"),)),)
    later = (*first, AssistantMessage("Two", provider=wire.NAME), UserMessage((Text("Three"),)))

    async def scenario(server: WireServer, provider: Provider) -> list[Any]:
        for history in (first, first, later):
            await collect(provider, request(*history, model=wire.MODEL))
        return [_unmarked(received.body) for received in server.requests if received.method == "POST"]

    one, again, longer = (body for body in played(wire, scenario, GOOD, GOOD, GOOD) if "tools" in body)
    assert json.dumps(one) == json.dumps(again)
    turns = "input" if "input" in one else "messages"
    assert longer[turns][: len(one[turns])] == one[turns]
    assert {key: longer[key] for key in longer if key != turns} == {
        key: one[key] for key in one if key != turns
    }


def _unmarked(body: Any) -> Any:
    """`body` without the marks that tell a service how far to cache."""
    if isinstance(body, list):
        return [_unmarked(part) for part in body]
    if isinstance(body, dict):
        return {key: _unmarked(part) for key, part in body.items() if key != "cache_control"}
    return body


@SERVICES
def test_words_alone_can_be_asked_for(wire: ModuleType) -> None:
    found = items(wire, GOOD, answer=True)
    assert text(found) == ANSWER


@SERVICES
@pytest.mark.parametrize("misdeed", ["ping", "split", "drip"])
def test_odd_but_lawful_streams_give_the_same(wire: ModuleType, misdeed: Misdeed) -> None:
    plain = Play((Think("Hm, ß."), Say(ANSWER), Call("call_1", "weather", {"place": "Łódź"})))
    odd = Play(plain.items, misdeed=misdeed)
    assert _gathered(items(wire, odd)) == _gathered(items(wire, plain))


def _gathered(found: list[StreamItem]) -> tuple[str, str, list[Any], Any]:
    thought = "".join(item.text for item in found if isinstance(item, ReasoningDelta))
    calls = [(item.call.name, item.call.arguments) for item in found if isinstance(item, CallReady)]
    end = found[-1]
    assert isinstance(end, Finished), end
    return thought, text(found), calls, (end.stop_reason, end.usage)


@SERVICES
@pytest.mark.parametrize("misdeed", ["truncate", "cut"])
def test_a_stream_that_breaks_off_keeps_its_text_and_says_so(wire: ModuleType, misdeed: Misdeed) -> None:
    found = items(wire, Play((Say(ANSWER * 3),), misdeed=misdeed))
    assert fault(found).code in ("reply_cut_short", "provider_unreachable")
    assert (ANSWER * 3).startswith(text(found))
    assert text(found)


@SERVICES
def test_what_cannot_be_read_is_said_to_be_so(wire: ModuleType) -> None:
    assert fault(items(wire, Play((Say(ANSWER * 3),), misdeed="malformed"))).code == "reply_malformed"


@SERVICES
def test_a_connection_that_ends_before_the_answer_is_a_fault(wire: ModuleType) -> None:
    assert fault(items(wire, Play(misdeed="hangup"))).code in ("provider_unreachable", "reply_cut_short")


@SERVICES
@pytest.mark.parametrize("misdeed", ["mute", "silent"])
def test_a_service_that_keeps_silent_is_given_up(wire: ModuleType, misdeed: Misdeed) -> None:
    found = items(wire, Play((Say(ANSWER),), misdeed=misdeed), silence=SILENCE)
    assert fault(found).code == "provider_timeout"


@SERVICES
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "request_rejected"),
        (401, "key_rejected"),
        (402, "quota_spent"),
        (404, "model_not_offered"),
        (429, "rate_limited"),
        (500, "provider_unavailable"),
        (503, "provider_unavailable"),
    ],
)
def test_a_refusal_has_its_own_sentence(wire: ModuleType, status: int, code: str) -> None:
    play = Play(status=status, problem=f"it did not work for {KEY}", headers={"Retry-After": "7"})
    error = fault(items(wire, play))
    assert error.code == code
    assert KEY not in str(error)
    assert "did not work" in str(error.fields["problem"])
    if status in (429, 503):
        assert error.fields["retry_after"] == 7.0


@SERVICES
def test_a_conversation_too_long_for_the_model_is_told_apart(wire: ModuleType) -> None:
    play = Play(status=400, problem="prompt is too long: 300000 tokens > 200000 maximum context length")
    assert fault(items(wire, play)).code == "context_too_long"


@SERVICES
def test_an_overloaded_service_is_asked_again_after_the_time_it_names(wire: ModuleType) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def scenario(server: WireServer, provider: Provider) -> tuple[list[StreamItem], int]:
        found = await collect(Patient(provider, sleep), request(model=wire.MODEL))
        return found, len(server.requests)

    busy = Play(status=429, problem="slow down", headers={"Retry-After": "3"})
    found, asked = played(wire, scenario, busy, Play(misdeed="hangup"), GOOD)
    assert text(found) == ANSWER
    assert [item.attempt for item in found if isinstance(item, Retrying)] == [1, 2]
    assert waits[0] >= 3
    assert asked == 3


@SERVICES
def test_cancelling_in_the_middle_hangs_up_at_once(wire: ModuleType) -> None:
    async def scenario(server: WireServer, provider: Provider) -> float:
        stream = provider.stream(request(model=wire.MODEL))
        async for item in stream:
            if isinstance(item, TextDelta):
                break
        started = time.monotonic()
        await stream.aclose()
        taken = time.monotonic() - started
        async with asyncio.timeout(5):
            await server.closed_early.wait()
        return taken

    assert played(wire, scenario, Play((Say(ANSWER * 3),), misdeed="silent")) < 0.2


@SERVICES
def test_a_task_that_is_cancelled_leaves_no_connection_behind(wire: ModuleType) -> None:
    async def scenario(server: WireServer, provider: Provider) -> None:
        task = asyncio.create_task(collect(provider, request(model=wire.MODEL)))
        async with asyncio.timeout(10):
            await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(5):
            await server.closed_early.wait()

    played(wire, scenario, Play(misdeed="mute"))


@SERVICES
def test_a_host_that_is_not_there_is_named(wire: ModuleType) -> None:
    async def main() -> list[StreamItem]:
        async with WireServer(wire.Wire()) as server:
            url = server.url
        provider: Provider = wire.make(connect(url + wire.SUFFIX, wire.NAME))
        try:
            return await collect(provider, request(model=wire.MODEL))
        finally:
            await provider.close()

    error = fault(asyncio.run(main()))
    assert error.code == "provider_unreachable"
    assert "127.0.0.1" in str(error.fields["host"])


@SERVICES
def test_nothing_is_sent_without_a_key_or_to_a_host_that_was_not_allowed(wire: ModuleType) -> None:
    import httpx
    import httpx2

    def no_key() -> str:
        raise OrionError("key_missing", provider=wire.NAME, variable="SOME_KEY")

    class Refusing(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            raise HostRefused(request.url.host)

    class OldRefusing(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            raise HostRefused(request.url.host)

    async def main() -> list[str]:
        codes: list[str] = []
        async with WireServer(wire.Wire()) as server:
            plain = connect(server.url + wire.SUFFIX, wire.NAME)
            keyless = Connection(wire.NAME, plain.base_url, no_key, plain.client, plain.old_client)
            refusing = Connection(
                wire.NAME,
                plain.base_url,
                plain.key,
                lambda: httpx2.AsyncClient(transport=Refusing()),
                lambda: httpx.AsyncClient(transport=OldRefusing()),
            )
            for connection in (keyless, refusing):
                provider: Provider = wire.make(connection)
                try:
                    codes.append(fault(await collect(provider, request(model=wire.MODEL))).code)
                finally:
                    await provider.close()
            assert not server.requests
        return codes

    assert asyncio.run(main()) == ["key_missing", "host_not_allowed"]


@SERVICES
def test_the_service_lists_its_models(wire: ModuleType) -> None:
    async def scenario(_server: WireServer, provider: Provider) -> list[str]:
        return [model.name for model in await provider.models()]

    assert wire.MODEL in played(wire, scenario)


@SERVICES
def test_it_says_where_it_is_and_what_it_can(wire: ModuleType) -> None:
    provider: Provider = wire.make(connect("https://service.example" + wire.SUFFIX, wire.NAME))
    traits = provider.traits(wire.MODEL)
    assert traits.name == wire.NAME
    assert not traits.local
    assert traits.host == "service.example"
    assert traits.tools
    assert traits.images
    local: Provider = wire.make(connect("http://127.0.0.1:9" + wire.SUFFIX, wire.NAME))
    assert local.traits(wire.MODEL).local
    assert not provider.tools_on_demand(wire.MODEL)
    short, long = request(model=wire.MODEL), request(UserMessage((Text("word " * 4000),)), model=wire.MODEL)
    assert asyncio.run(provider.count(long)) > asyncio.run(provider.count(short)) + 2000
