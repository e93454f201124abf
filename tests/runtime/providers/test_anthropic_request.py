"""How a conversation becomes a request to Anthropic's Messages API."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resources.sentences import sentence
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
    UserMessage,
)
from runtime.providers.anthropic import AnthropicProvider
from runtime.providers.anthropic_request import BINDING, seal
from runtime.providers.provider import Effort, Finished, NativeTool, StreamItem
from tests.wire.anthropic import MODEL, NAME, OLDER, Wire
from tests.wire.anthropic_score import (
    ASKED,
    CLOCK,
    DONE,
    PIXEL,
    asking,
    begin,
    block,
    collect,
    finish,
    heard,
    made,
    replied,
    served,
    text,
    thoughts,
    unmarked,
)
from tests.wire.server import WireServer


def test_only_the_model_that_thought_is_sent_its_thoughts_and_only_while_it_thinks() -> None:
    score = [
        begin(),
        *block(0, {"type": "thinking", "thinking": "Hm."}, {"type": "signature_delta", "signature": "s"}),
    ]
    reply = replied(heard(*score, *text(1, "Yes."), *finish("end_turn", output_tokens=1)))
    assert len(thoughts(made(asking(ASKED, reply, ASKED)).body)) == 1
    assert not thoughts(made(asking(ASKED, reply, ASKED, effort="off")).body)
    assert not thoughts(made(asking(ASKED, reply, ASKED, model="claude-opus-5-5")).body)
    assert not thoughts(made(asking(ASKED, replace(reply, provider="another"), ASKED)).body)
    strange = replace(reply, reasoning=(Reasoning("Hm.", "not ours"), Reasoning("Hm.", '{"at": 3}')))
    assert not thoughts(made(asking(ASKED, strange, ASKED)).body)


def test_results_of_one_reply_come_together_and_before_everything_else() -> None:
    calls = (
        ToolCall("a", "weather", {"place": "Oslo"}),
        ToolCall("b", "clock", {}),
        ToolCall("c", "clock", {}),
    )
    body = made(
        asking(
            ASKED,
            AssistantMessage("", (), calls, NAME),
            UserMessage((Text("Hurry."),)),
            ToolMessage("b", "clock", (Image("image/png", PIXEL),), ok=False),
            ToolMessage("a", "weather", (Text("rain"), Image("image/png", PIXEL))),
        )
    ).body
    results = unmarked(body["messages"][2]["content"])
    assert [found.get("tool_use_id", "-") for found in results] == ["b", "a", "c", "-", "-"]
    assert [found.get("is_error", False) for found in results] == [True, False, True, False, False]
    assert [part["type"] for part in results[0]["content"]] == ["text"]
    assert results[4]["type"] == "image"
    assert results[1]["content"] == [
        {"type": "text", "text": "rain"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
    ]
    assert results[3] == {"type": "text", "text": "Hurry."}


def test_a_history_of_another_provider_is_made_fit() -> None:
    same = ToolCall("call/ä:1", "weather", {})
    body = made(
        asking(
            AssistantMessage("Good day.", provider="local"),
            AssistantMessage("", (Reasoning("Hm."),), (same, same), "local"),
            ToolMessage("call/ä:1", "weather", (Text("rain"),)),
            ToolMessage("call/ä:1", "weather", (Text(" "),)),
            ToolMessage("nobody", "clock", (Text("noon"),)),
            AssistantMessage("", (), (same,), "local"),
            AssistantMessage("  ", provider="local"),
            AssistantMessage("So.", provider="local"),
        )
    ).body
    said = body["messages"]
    assert [message["role"] for message in said] == [*["user", "assistant"] * 3, "user"]
    asked = [part["id"] for message in said for part in message["content"] if part["type"] == "tool_use"]
    assert asked == ["call___1", "call___1_2", "call___1_3"]
    assert "content" not in said[2]["content"][1]
    assert "clock" in said[2]["content"][2]["text"]
    assert said[4]["content"][0]["is_error"]
    assert said[-1]["content"][0]["text"]


def test_a_picture_in_a_form_the_service_does_not_read_is_left_out_with_a_notice() -> None:
    async def scenario(server: WireServer, provider: AnthropicProvider) -> tuple[StreamItem, JsonObject]:
        said = UserMessage((Image("image/bmp", PIXEL), Text("What is it?")))
        return (await collect(provider, asking(said)))[-1], server.requests[-1].body

    end, body = served(Wire(), scenario, DONE)
    assert isinstance(end, Finished)
    ((code, fields),) = end.notices
    assert MODEL in sentence(code, **fields)
    assert [part["type"] for part in body["messages"][0]["content"]] == ["text", "text"]


def test_no_more_than_four_places_are_marked_for_the_cache() -> None:
    history: list[Message] = [ASKED]
    for number in range(4):
        history += [AssistantMessage(f"Answer {number}", provider=NAME), ASKED]
    body = made(asking(*history)).body
    assert "cache_control" in body["system"][-1]
    assert ["cache_control" in tool for tool in body["tools"]] == [False, True]
    marked = [place for place, said in enumerate(body["messages"]) if "cache_control" in said["content"][-1]]
    assert marked == [6, 8]
    bare = made(asking(system=" ", tools=())).body
    assert "system" not in bare
    assert "tools" not in bare


@pytest.mark.parametrize(
    ("model", "effort", "thinking", "level", "room"),
    [
        (OLDER, "", None, None, 0),
        (OLDER, "off", None, None, 0),
        (OLDER, "low", {"type": "enabled", "budget_tokens": 2048}, None, 2048),
        (OLDER, "high", {"type": "enabled", "budget_tokens": 16_384}, None, 16_384),
        ("claude-opus-4-8", "", None, None, 0),
        ("claude-opus-4-8", "medium", {"type": "adaptive", "display": "summarized"}, "medium", 8192),
        ("claude-sonnet-5", "", {"type": "adaptive", "display": "summarized"}, None, 8192),
        ("claude-sonnet-5", "off", {"type": "disabled"}, None, 0),
        (MODEL, "off", {"type": "between_tools"}, None, 0),
        ("claude-3-haiku-20240307", "high", None, None, 0),
        ("qwen3:8b", "low", {"type": "enabled", "budget_tokens": 2048}, None, 2048),
    ],
)
def test_effort_becomes_what_the_model_understands(
    model: str, effort: Effort, thinking: JsonObject | None, level: str | None, room: int
) -> None:
    body = made(asking(model=model, effort=effort, max_tokens=1000)).body
    assert body.get("thinking") == thinking
    assert body.get("output_config", {}).get("effort") == level
    assert body["max_tokens"] == 1000 + room
    assert ("temperature" in body) == ("claude" not in model)


def test_a_model_that_binds_its_thoughts_is_told_to_drop_what_no_longer_fits() -> None:
    for effort, level in (("", None), ("off", "low"), ("high", "high")):
        prepared = made(asking(model="claude-opus-5-5", effort=effort))
        assert prepared.body["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
        assert prepared.body.get("output_config", {}).get("effort") == level
        assert prepared.betas == (BINDING,)
    assert not made(asking(model=OLDER, effort="low")).betas


def test_a_budget_stays_below_what_the_model_can_write() -> None:
    body = made(asking(model=OLDER, effort="high", max_tokens=60_000)).body
    assert body["max_tokens"] == 64_000
    assert 1024 <= body["thinking"]["budget_tokens"] < body["max_tokens"]
    assert made(asking(model="claude-3-5-haiku-latest", max_tokens=60_000)).body["max_tokens"] == 8192


def test_a_budget_is_not_asked_for_in_the_middle_of_anothers_turn() -> None:
    reply = AssistantMessage("", (), (ToolCall("a", "clock", {}),), "local")
    history = (ASKED, reply, ToolMessage("a", "clock", (Text("noon"),)))
    assert "thinking" not in made(asking(*history, model=OLDER, effort="high")).body
    assert "thinking" in made(asking(*history, ASKED, model=OLDER, effort="high")).body
    thinker = (Reasoning("Hm.", seal(OLDER, 0, 0, signature="s")),)
    own = (ASKED, replace(reply, reasoning=thinker, provider=NAME), history[2])
    silent = (replace(reply, calls=(ToolCall("b", "clock", {}),)), ToolMessage("b", "clock", (Text("one"),)))
    body = made(asking(*own, *silent, model=OLDER, effort="high")).body
    assert len(thoughts(body)) == 1
    assert "thinking" in body


def test_words_alone_can_be_asked_for_while_the_tools_stay() -> None:
    body = made(asking(answer=True)).body
    assert body["tool_choice"] == {"type": "none"}
    assert len(body["tools"]) == 2


@pytest.mark.parametrize(
    ("type", "header"),
    [
        ("computer_20241022", "computer-use-2024-10-22"),
        ("computer_20250124", "computer-use-2025-01-24"),
        ("computer_20251124", "computer-use-2025-11-24"),
        ("bash_20241022", "computer-use-2024-10-22"),
        ("text_editor_20241022", "computer-use-2024-10-22"),
    ],
)
def test_tools_of_the_service_travel_as_they_are_with_their_header(type: str, header: str) -> None:
    native = NativeTool("computer", type, {"display_width_px": 1280, "display_height_px": 800})
    ours = ToolSpec("computer", "Ours.")
    prepared = made(asking(model=OLDER, native=(native,), tools=(ours, CLOCK)))
    assert prepared.betas == (header,)
    assert unmarked(prepared.body["tools"])[0] == {"type": type, "name": "computer"} | native.params
    assert [tool["name"] for tool in prepared.body["tools"]] == ["computer", "clock"]


def test_headers_are_named_once_and_tools_of_other_services_are_left_out() -> None:
    native = (
        NativeTool("computer", "computer_20250124", {}),
        NativeTool("bash", "bash_20250124", {}),
        NativeTool("editor", "text_editor_20250728", {"max_characters": 9}, beta="computer-use-2025-01-24"),
        NativeTool("search", "web_search_preview", {}),
    )
    prepared = made(asking(model=OLDER, native=native, tools=()))
    assert prepared.betas == ("computer-use-2025-01-24",)
    assert [tool["name"] for tool in prepared.body["tools"]] == ["computer", "bash", "editor"]


def test_calls_of_tools_that_are_gone_can_still_be_told() -> None:
    reply = AssistantMessage("", (), (ToolCall("a", "clock", {}), ToolCall("b", "clock", {})), NAME)
    body = made(asking(ASKED, reply, ASKED, tools=())).body
    assert [tool["name"] for tool in body["tools"]] == ["clock"]
    assert body["tool_choice"] == {"type": "none"}


def test_a_schema_has_no_alternatives_at_its_top() -> None:
    either = ToolSpec(
        "find", "Finds.", {"anyOf": [{"required": ["x"]}], "properties": {"x": {"anyOf": [{}]}}}
    )
    (tool,) = unmarked(made(asking(tools=(either,))).body["tools"])
    assert tool["input_schema"] == {"type": "object", "properties": {"x": {"anyOf": [{}]}}}
