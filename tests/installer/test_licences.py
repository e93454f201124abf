"""Every shipped component is listed with its licence and text, and none binds the house to the GPL."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
LICENCES = ROOT / "installer" / "licences"


@pytest.fixture(scope="module")
def components() -> dict[str, dict[str, Any]]:
    """Listed components by name."""
    listed = YAML(typ="safe", pure=True).load((LICENCES / "components.yaml").read_text(encoding="utf-8"))
    return {component["name"]: component for component in listed["components"]}


def test_every_shipped_component_is_listed(components: dict[str, dict[str, Any]]) -> None:
    lock = (ROOT / "installer" / "locks" / "run.lock").read_text(encoding="utf-8")
    weights = json.loads((ROOT / "resources" / "weights.lock").read_text(encoding="utf-8"))["weights"]
    lines = re.findall(r"^([a-z0-9][a-z0-9-]*)==(.*)$", lock, re.MULTILINE)
    # Locked with the others but installed nowhere: packages for programs inside a browser, and those whose
    # marker can never be true.
    nowhere = (
        "sys_platform == 'emscripten'",
        "sys_platform == 'none'",
        "sys_platform != 'linux' and 'linux' in",
    )
    shipped = {name for name, rest in lines if not any(marker in rest for marker in nowhere)}
    shipped |= {one["name"].partition("/")[0] for one in weights}
    assert shipped - components.keys() == set()


def test_every_component_has_its_text(components: dict[str, dict[str, Any]]) -> None:
    for component in components.values():
        for name in component["texts"]:
            assert len((LICENCES / "texts" / name).read_text(encoding="utf-8")) > 400, component


def test_no_text_is_left_without_its_component(components: dict[str, dict[str, Any]]) -> None:
    wanted = {name for component in components.values() for name in component["texts"]}
    assert {file.name for file in (LICENCES / "texts").iterdir()} == wanted


def test_no_component_binds_the_house_to_the_gpl(components: dict[str, dict[str, Any]]) -> None:
    strict = re.compile(r"(?<!L)GPL")
    bound = [
        one["name"]
        for one in components.values()
        if strict.search(one["licence"]) and "WITH" not in one["licence"]
    ]
    assert bound == []
    for component in components.values():
        assert "LGPL" not in component["licence"] or "replace" in component["note"], component
