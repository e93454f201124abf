"""What is Anthropic's own, over HTTP against a local server that speaks its wire format."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from typing import Any

import pytest

from runtime.messages import (
    AssistantMessage,
    Image,
    JsonObject,
    Message,
    Text,
    ToolMessage,
    UserMessage,
)
from runtime.providers.anthropic import AnthropicProvider
from runtime.providers.anthropic_models import BUDGETS
from runtime.providers.anthropic_request import BINDING, GAP
from runtime.providers.provider import (
    Failed,
    Finished,
    NativeTool,
    Request,
    StreamItem,
    TextDelta,
)
from tests.wire.anthropic import MODELS, NAME, OLDER, Wire
from tests.wire.anthropic_score import (
    ASKED,
    DONE,
    asking,
    begin,
    block,
    collect,
    finish,
    heard,
    replied,
    served,
    text,
    unmarked,
)
from tests.wire.links import KEY, connect
from tests.wire.server import Call, Play, Received, Say, Think, WireServer


def sent(request: Request) -> Received:
    """`request` as it reaches the service."""

    async def scenario(server: WireServer, provider: AnthropicProvider) -> Received:
        found = await collect(provider, request)
        assert isinstance(found[-1], Finished), found
        return server.requests[-1]

    received: Received = served(Wire(), scenario, DONE)
    return received


def test_a_loop_of_calls_keeps_thinking_and_its_signature_over_turns() -> None:
    first = Play(
        (Think("I need the weather."), Say("I look."), Call("toolu_1", "weather", {"place": "Oslo"}))
    )
    second = Play((Think("And the time."), Call("toolu_2", "clock", {})))

    async def scenario(server: WireServer, provider: AnthropicProvider) -> list[JsonObject]:
        history: list[Message] = [ASKED]
        for result in ("rain", "noon", ""):
            reply = replied(await collect(provider, asking(*history)))
            history.append(reply)
            history += [ToolMessage(made.id, made.name, (Text(result),)) for made in reply.calls]
        history.append(UserMessage((Text("Thanks. And Rome?"),)))
        await collect(provider, asking(*history))
        return [received.body for received in server.requests]

    bodies = served(Wire(), scenario, first, second, DONE, DONE)
    said = unmarked(bodies[-1]["messages"])
    assert said[:5] == [
        {"role": "user", "content": [{"type": "text", "text": "How is it in Oslo?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I need the weather.", "signature": "signature-of-0=="},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"place": "Oslo"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [{"type": "text", "text": "rain"}],
                }
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "And the time.", "signature": "signature-of-0=="},
                {"type": "tool_use", "id": "toolu_2", "name": "clock", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "content": [{"type": "text", "text": "noon"}],
                }
            ],
        },
    ]
    for earlier, later in itertools.pairwise(bodies):
        before, after = unmarked(earlier), unmarked(later)
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert {name: after[name] for name in after if name != "messages"} == {
            name: before[name] for name in before if name != "messages"
        }


def test_blocks_go_back_in_the_order_they_came_in() -> None:
    play = Play(
        (
            Think("One."),
            Say("First."),
            Think("Two."),
            Say("Second."),
            Call("toolu_1", "weather", {}),
            Think("Three."),
            Call("toolu_2", "clock", {}),
        )
    )

    async def scenario(
        server: WireServer, provider: AnthropicProvider
    ) -> tuple[AssistantMessage, JsonObject]:
        reply = replied(await collect(provider, asking()))
        results = [ToolMessage(made.id, made.name, (Text("so"),)) for made in reply.calls]
        await collect(provider, asking(ASKED, reply, *results))
        return reply, server.requests[-1].body

    reply, body = served(Wire(), scenario, play, DONE)
    assert reply.text == f"First.{GAP}Second."
    shown = [
        part.get("thinking") or part.get("text") or part.get("name")
        for part in body["messages"][1]["content"]
    ]
    assert shown == ["One.", "First.", "Two.", "Second.", "weather", "Three.", "clock"]


def test_thinking_that_was_hidden_goes_back_as_it_came() -> None:
    hidden = block(0, {"type": "redacted_thinking", "data": "c2VjcmV0"})
    signed = block(1, {"type": "thinking", "thinking": ""}, {"type": "signature_delta", "signature": "sig=="})
    score = [begin(input_tokens=3), *hidden, *signed, *text(2, "Yes."), *finish("end_turn", output_tokens=4)]
    reply = replied(heard(*score))
    assert reply.text == "Yes."
    body = sent(asking(ASKED, reply, ASKED)).body
    assert body["messages"][1]["content"] == [
        {"type": "redacted_thinking", "data": "c2VjcmV0"},
        {"type": "thinking", "thinking": "", "signature": "sig=="},
        {"type": "text", "text": "Yes."},
    ]


@pytest.mark.parametrize(
    ("kind", "problem", "code"),
    [
        ("overloaded_error", "Overloaded", "provider_unavailable"),
        ("api_error", "Internal server error", "provider_unavailable"),
        ("timeout_error", "Timed out", "provider_unavailable"),
        ("rate_limit_error", "Too fast", "rate_limited"),
        ("authentication_error", "invalid x-api-key", "key_rejected"),
        ("billing_error", "Pay first", "quota_spent"),
        ("not_found_error", "model: no-such", "model_not_offered"),
        ("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", "context_too_long"),
        ("invalid_request_error", "messages.1: wrong", "request_rejected"),
        ("invalid_request_error", "Your credit balance is too low", "quota_spent"),
        ("an_error_of_tomorrow", "Odd", "provider_unavailable"),
    ],
)
def test_an_error_inside_the_stream_is_told_for_what_it_is(kind: str, problem: str, code: str) -> None:
    error = {"type": "error", "error": {"type": kind, "message": problem}}
    items = heard(begin(), *text(0, "Well,"), error)
    assert [item.text for item in items if isinstance(item, TextDelta)] == ["Well,"]
    last = items[-1]
    assert isinstance(last, Failed)
    assert last.error.code == code
    assert last.error.fields["problem"] == problem


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [(529, "", "provider_unavailable"), (413, "", "context_too_long"), (403, "", "key_rejected")],
)
def test_a_refusal_before_the_stream_is_told_for_what_it_is(status: int, kind: str, code: str) -> None:
    async def scenario(_server: WireServer, provider: AnthropicProvider) -> StreamItem:
        return (await collect(provider, asking()))[-1]

    last = served(Wire(), scenario, Play(status=status, problem="no", kind=kind))
    assert isinstance(last, Failed)
    assert last.error.code == code


def test_events_of_tomorrow_are_passed_over_and_broken_ones_are_not() -> None:
    odd: list[JsonObject] = [{"type": "content_block_glow", "index": 0}, {"type": "ping"}]
    server_tool = block(0, {"type": "server_tool_use", "id": "x", "name": "y", "input": {}})
    items = heard(begin(), *odd, *server_tool, *text(1, "Yes."), *finish("end_turn"))
    assert isinstance(items[-1], Finished)
    stray: JsonObject = {
        "type": "content_block_delta",
        "index": 5,
        "delta": {"type": "text_delta", "text": "x"},
    }
    for broken in (stray, {"type": "content_block_delta", "index": 0}, {"type": "message_start"}):
        last = heard(begin(), broken)[-1]
        assert isinstance(last, Failed)
        assert last.error.code == "reply_malformed"


def test_an_answer_of_another_kind_is_not_read() -> None:
    class Page(Wire):
        content_type = "text/html"

    async def scenario(_server: WireServer, provider: AnthropicProvider) -> StreamItem:
        return (await collect(provider, asking()))[-1]

    last = served(Page(), scenario, DONE)
    assert isinstance(last, Failed)
    assert last.error.code == "reply_malformed"


def test_the_list_of_models_is_read_to_its_end_and_what_it_says_is_kept() -> None:
    async def scenario(server: WireServer, provider: AnthropicProvider) -> Any:
        before = provider.window("claude-novel-7")
        found = await provider.models()
        await collect(provider, asking(model="claude-novel-7", effort="off"))
        return before, found, provider.window("claude-novel-7"), server.requests

    before, found, window, requests = served(Wire(), scenario, DONE)
    assert [model.name for model in found] == [entry["id"] for entry in MODELS]
    assert [model.title for model in found] == [entry["display_name"] for entry in MODELS]
    assert all(model.images for model in found)
    assert (before, window, found[1].window) == (200_000, 2_000_000, 2_000_000)
    assert [received.path.partition("?")[0] for received in requests[:2]] == ["/v1/models", "/v1/models"]
    assert "after_id=claude-novel-7" in requests[1].path
    assert requests[2].body["thinking"] == {"type": "disabled"}


def test_the_headers_that_tools_and_thinking_need_are_sent_as_one() -> None:
    native = (NativeTool("computer", "computer_20251124", {}),)
    assert sent(asking(native=native)).headers["anthropic-beta"] == f"{BINDING},computer-use-2025-11-24"
    assert "anthropic-beta" not in sent(asking(model=OLDER)).headers


def test_the_key_goes_into_a_header_and_its_change_holds_at_once() -> None:
    keys = ["sk-first", "sk-second", ""]

    async def main() -> list[Received]:
        async with WireServer(Wire()) as server:
            server.plays(DONE, DONE, DONE)
            plain = connect(server.url, NAME)
            provider = AnthropicProvider(replace(plain, key=lambda: keys.pop(0)))
            try:
                for _key in range(3):
                    assert isinstance((await collect(provider, asking()))[-1], Finished)
            finally:
                await provider.close()
            return server.requests

    requests = asyncio.run(main())
    assert [received.headers.get("authorization") for received in requests] == [
        "Bearer sk-first",
        "Bearer sk-second",
        None,
    ]
    assert all(KEY not in str(received) for received in requests)


def test_a_key_that_cannot_be_one_is_not_sent() -> None:
    async def main() -> StreamItem:
        async with WireServer(Wire()) as server:
            provider = AnthropicProvider(connect(server.url, NAME, key="sk-ключ"))
            found = await collect(provider, asking())
            await provider.close()
            assert not server.requests
            return found[-1]

    last = asyncio.run(main())
    assert isinstance(last, Failed)
    assert last.error.code == "key_unfit"
    assert "ключ" not in str(last.error)


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/", "/gateway"])
def test_the_address_may_have_a_path(suffix: str) -> None:
    async def main() -> str:
        async with WireServer(Wire()) as server:
            server.plays(DONE)
            provider = AnthropicProvider(connect(server.url + suffix, NAME))
            await collect(provider, asking())
            await provider.close()
            return server.requests[0].path

    expected = "/gateway/v1/messages" if suffix == "/gateway" else "/v1/messages"
    assert asyncio.run(main()) == expected


def test_calls_at_once_share_a_client_which_can_be_closed_and_used_again() -> None:
    async def scenario(server: WireServer, provider: AnthropicProvider) -> list[StreamItem]:
        ends = [found[-1] for found in await asyncio.gather(*(collect(provider, asking()) for _ in range(3)))]
        await provider.close()
        await provider.close()
        return [*ends, (await collect(provider, asking()))[-1]]

    assert all(isinstance(end, Finished) for end in served(Wire(), scenario, DONE, DONE, DONE, DONE))


def test_the_environment_does_not_lend_a_key_or_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-the-environment")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://192.0.2.1")
    received = sent(asking())
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert "x-api-key" not in received.headers
    assert "of-the-environment" not in str(received.headers)


def test_a_guess_of_the_prompt_counts_pictures_by_their_size_in_tokens() -> None:
    provider = AnthropicProvider(connect("https://service.example", NAME))
    plain = asyncio.run(provider.count(asking()))
    picture = UserMessage((Text("How is it in Oslo?"), Image("image/png", "A" * 400_000)))
    seen = asyncio.run(provider.count(asking(picture)))
    assert plain + 1_000 < seen < plain + 2_000
    assert BUDGETS["low"] < BUDGETS["high"]
