"""What the names of models tell."""

from __future__ import annotations

import pytest

from runtime.providers.openai_models import effort, kind, room, talks


@pytest.mark.parametrize(
    ("name", "window", "thinks", "images"),
    [
        ("gpt-6.2-astra", 922_000, True, True),
        ("openai/gpt-5.6-luna", 922_000, True, True),
        ("gpt-5.4-mini-2026-03-17", 272_000, True, True),
        ("gpt-5.4", 922_000, True, True),
        ("gpt-5.2-chat-latest", 128_000, False, True),
        ("gpt-5.1-codex-max", 272_000, True, True),
        ("gpt-5-nano", 272_000, True, True),
        ("gpt-4.1-mini", 1_014_000, False, True),
        ("gpt-4o-2024-11-20", 128_000, False, True),
        ("gpt-4", 8_192, False, False),
        ("o3-mini", 200_000, True, False),
        ("o3", 200_000, True, True),
        ("openai/gpt-oss-120b", 131_072, False, False),
        ("qwen/qwen3-vl-8b", 0, False, True),
        ("anthropic/claude-sonnet-5", 0, False, True),
        ("SmolLM2-135M-Instruct.Q4_1.gguf", 0, False, False),
    ],
)
def test_a_model_is_known_by_its_name(name: str, window: int, thinks: bool, images: bool) -> None:
    found = kind(name)
    assert (found.window, found.thinks, found.images) == (window, thinks, images)


def test_thoughts_get_room_of_their_own_where_there_are_some() -> None:
    assert room(kind("gpt-5.6-sol"), "high") > room(kind("gpt-5.6-sol"), "low") > 0
    assert room(kind("gpt-5.6-sol"), "off") == 0
    assert room(kind("gpt-6-astra"), "off") == room(kind("gpt-6-astra"), "low")
    assert room(kind("gpt-4.1"), "high") == 0
    assert room(kind("deepseek-r9"), "") == 0
    assert room(kind("deepseek-r9"), "high") > 0


def test_the_effort_of_unknown_models_is_sent_as_it_is() -> None:
    assert effort(kind("deepseek-r9"), "off") == "none"
    assert effort(kind("deepseek-r9"), "low") == "low"
    assert effort(kind("deepseek-r9"), "") == ""
    assert effort(kind("gpt-4.1"), "high") == ""


def test_models_that_do_not_talk_are_told_apart() -> None:
    silent = (
        "text-embedding-3-large",
        "whisper-1",
        "gpt-4o-mini-tts",
        "dall-e-3",
        "gpt-image-2",
        "gpt-realtime",
    )
    assert not any(map(talks, silent))
    assert all(map(talks, ("gpt-5.6-sol", "meta/llama-3.3-70b-instruct", "gemini-3-flash")))
