"""The window's memory survives damage and never takes a bad value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from desktop import window_state
from desktop.window_state import WindowState


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    state = WindowState(geometry="AAA", sidebar=False, session="s1", theme="dark", text_scale=1.25)
    assert window_state.save(tmp_path / "window.json", state)
    assert window_state.load(tmp_path / "window.json") == state
    assert [path.name for path in tmp_path.iterdir()] == ["window.json"]


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"v": 99, "session": "s"}', "\0"])
def test_damage_means_the_defaults(tmp_path: Path, content: str) -> None:
    (tmp_path / "window.json").write_text(content)
    assert window_state.load(tmp_path / "window.json") == WindowState()


def test_values_of_a_wrong_type_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "window.json").write_text(
        json.dumps({"v": 1, "sidebar": "yes", "text_scale": 90.0, "session": "s"})
    )
    found = window_state.load(tmp_path / "window.json")
    assert (found.sidebar, found.text_scale, found.session) == (True, 2.5, "s")


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    assert not window_state.save(tmp_path / "missing" / "window.json", WindowState())
