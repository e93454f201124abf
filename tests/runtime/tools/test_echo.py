"""echo returns what it was given."""

from __future__ import annotations

from pathlib import Path

from runtime.tools.echo import Echo
from tests.runtime.tools.call import call, context, preview, text


def test_it_returns_its_text_unchanged(tmp_path: Path) -> None:
    said = "línea\0 \ud83d \u202e " + "x" * 1_000_000
    assert text(call(Echo(), context(tmp_path), text=said)) == said
    assert preview(Echo(), context(tmp_path), text=said) == ""
