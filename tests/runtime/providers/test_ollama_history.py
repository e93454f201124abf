"""What Ollama is sent, over HTTP against a local server that speaks its wire format."""

from __future__ import annotations

import asyncio

import pytest

from runtime.messages import (
    AssistantMessage,
    Image,
    JsonObject,
    Reasoning,
    Text,
    ToolCall,
    ToolMessage,
)
from runtime.providers.ollama import WINDOW, OllamaProvider
from tests.runtime.providers.ollama_house import (
    CALL,
    HELLO,
    NESTED,
    TOOL,
    asked,
    body,
    collect,
    end,
    exchange,
)
from tests.wire.links import connect
from tests.wire.ollama import MODEL, Wire
from tests.wire.server import Play, Say, WireServer


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
