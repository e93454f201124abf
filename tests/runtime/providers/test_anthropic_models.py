"""What is known of Anthropic's models by their names."""

from __future__ import annotations

import pytest

from runtime.providers.anthropic_models import native_tools
from tests.wire.anthropic import MODEL
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
