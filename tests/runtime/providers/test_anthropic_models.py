"""What is known of Anthropic's models by their names."""

from __future__ import annotations

from typing import get_args

import pytest

import resources
from runtime.profiles import Profiles
from runtime.providers.anthropic_models import kind, learn, native_tools
from tests.wire.anthropic import MODEL, OLDER
from tests.wire.anthropic_score import asking, made


@pytest.mark.parametrize(
    ("model", "types"),
    [
        ("claude-3-5-sonnet-20241022", ["computer_20241022", "bash_20241022", "text_editor_20241022"]),
        ("claude-3-7-sonnet-20250219", ["computer_20250124", "bash_20250124", "text_editor_20250124"]),
        ("claude-sonnet-4-20250514", ["computer_20250124", "bash_20250124", "text_editor_20250728"]),
        ("claude-opus-4-6", ["computer_20251124", "bash_20250124", "text_editor_20250728"]),
        (MODEL, ["computer_toolset_20260801", "bash_20250124", "text_editor_20250728"]),
        ("claude-3-haiku-20240307", []),
        ("qwen3", []),
    ],
)
def test_a_model_gets_the_versions_of_the_tools_it_was_trained_on(model: str, types: list[str]) -> None:
    found = native_tools(model, 1280, 800)
    assert [tool.type for tool in found] == types
    if types and types[0] != "computer_toolset_20260801":
        assert found[0].beta == made(asking(model=model, native=found)).betas[0]


def test_every_model_the_official_client_names_is_known() -> None:
    from anthropic.types.model import Model

    literal, _others = get_args(Model)
    named = get_args(literal)
    assert len(named) > 10
    unknown = kind("claude-nobody-9")
    assert not [name for name in named if kind(name) == unknown]
    for profile in ("orion-claude", "orion-computer"):
        assert Profiles(resources.path("profiles")).get(profile).model in named


def test_makers_and_regions_before_the_name_do_not_matter() -> None:
    for name in (
        "anthropic/claude-opus-4-5",
        "us.anthropic.claude-opus-4-5-20251101-v1:0",
        "claude-opus-4-5@20251101",
    ):
        assert kind(name) == kind("claude-opus-4-5")


def test_what_the_service_says_goes_before_what_is_known() -> None:
    said = {"id": OLDER, "max_input_tokens": 500_000, "max_tokens": 99_000}
    found = kind(OLDER, learn(said))
    assert (found.window, found.output, found.thinking) == (500_000, 99_000, "budget")
    assert kind(OLDER, learn({"id": OLDER, "capabilities": None})) == kind(OLDER)


def test_a_model_of_another_maker_is_what_its_service_says() -> None:
    assert not kind("qwen3:8b").images
    assert kind("qwen3:8b").sampling
    abilities = {"image_input": {"supported": True}, "thinking": {"types": {"enabled": {"supported": False}}}}
    found = kind("qwen3:8b", learn({"id": "qwen3:8b", "capabilities": abilities}))
    assert found.images
    assert found.sampling
    assert found.thinking == "none"


def test_a_newer_model_is_asked_as_its_service_says() -> None:
    types = {"adaptive": {"supported": True}, "between_tools": {"supported": True}}
    found = kind(
        "claude-nobody-9", learn({"id": "claude-nobody-9", "capabilities": {"thinking": {"types": types}}})
    )
    assert (found.thinking, found.off, found.bound, found.sampling) == (
        "adaptive",
        "between_tools",
        True,
        False,
    )
