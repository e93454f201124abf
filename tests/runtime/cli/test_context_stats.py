"""The shares of the context add up, and nothing is stored by asking for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runtime.cli.commands import Here
from tests.runtime.scripted_house import write_profile


def test_the_split_is_printed_and_stores_nothing(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_profile(fresh_home, [{"say": "Hello."}])
    ran = Here(monkeypatch).run("context-stats", "one two three", "--profile", "test", "--json")
    stats = json.loads(ran.out)
    assert ran.code == 0
    assert (stats["message"], stats["history"]) == (3, 0)
    assert stats["tools"] > 0
    assert not list((fresh_home / "sessions").glob("*.jsonl"))


def test_the_bundled_model_counts_with_its_own_tokeniser(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = Here(monkeypatch).run("context-stats", "What is the capital of France?", "--json")
    stats = json.loads(ran.out)
    assert (stats["window"], stats["message"]) == (8192, 7)
    parts = ("system", "directives", "memory", "documents", "tools", "history", "message", "answer", "free")
    assert sum(stats[part] for part in parts) == stats["window"]


def test_an_unknown_profile_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = Here(monkeypatch).run("context-stats", "hi", "--profile", "nobody")
    assert ran.code != 0
    assert "nobody" in ran.err
    assert "Traceback" not in ran.err
