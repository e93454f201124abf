"""Which tools a model is offered: ours, or those that its service defines itself."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from runtime.assemble import assemble
from runtime.providers.provider import Request

ALLOWED = ["bash", "browser", "computer", "computer_elements", "str_replace_based_edit_tool"]


def _request(home: Path, **changes: Any) -> Request:
    folder = home / "profiles"
    folder.mkdir(parents=True)
    profile = {"name": "p", "provider": "anthropic", "model": "claude-opus-4-6", "computer_use": True}
    profile |= {"base_url": "https://api.anthropic.com", "allowed_tools": ALLOWED}
    YAML(typ="safe").dump(profile | changes, folder / "p.yaml")

    async def build() -> Request:
        async with assemble(home, door="test") as runtime:
            session = await runtime.open(profile="p")
            link = session._link()
            return session._bench.fitting(link, link.profile)._build(0)

    return asyncio.run(build())


def _names(request: Request) -> tuple[list[str], list[str]]:
    return [tool.name for tool in request.native], [spec.name for spec in request.tools]


def test_anthropics_own_tools_stand_in_the_size_of_the_screen(fresh_home: Path) -> None:
    request = _request(fresh_home)
    assert _names(request) == (
        ["computer", "bash", "str_replace_based_edit_tool"],
        ["bash", "browser", "computer", "str_replace_based_edit_tool"],
    )
    assert request.native[0].params == {"display_width_px": 1280, "display_height_px": 800}


def test_an_older_model_knows_the_editor_by_another_name(fresh_home: Path) -> None:
    native, ours = _names(_request(fresh_home, model="claude-3-5-sonnet-20241022"))
    assert native == ["computer", "bash", "str_replace_editor"]
    assert "str_replace_based_edit_tool" not in ours


@pytest.mark.parametrize("changes", [{"computer_use": False}, {"provider": "ollama"}])
def test_other_profiles_get_ours_alone(fresh_home: Path, changes: dict[str, Any]) -> None:
    native, ours = _names(_request(fresh_home, **changes))
    assert native == []
    assert "bash" in ours


def test_what_the_profile_does_not_allow_is_not_offered(fresh_home: Path) -> None:
    native, ours = _names(_request(fresh_home, allowed_tools=["computer"]))
    assert (native, ours) == (["computer"], ["computer"])
