"""Sentences are filled, and an unknown code still says something true."""

from __future__ import annotations

import pytest

import resources
from resources.sentences import known, sentence


def test_an_unknown_code_is_named_with_its_details() -> None:
    assert sentence("no_such_code", file="a.yaml", line=3) == (
        "Something failed that has no description yet: no_such_code (file: a.yaml, line: 3)."
    )


def test_a_field_that_was_not_given_stays_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.sentences.known", lambda: {"x": "The file {path} has {count} faults."})
    assert sentence("x", path="{odd}") == "The file {odd} has {count} faults."


def test_every_sentence_is_one_finished_sentence() -> None:
    for code, text in known().items():
        assert text[:1].isupper() or text.startswith("{"), code
        assert text.endswith((".", "?")), code
        assert "\n" not in text, code


def test_data_is_found_beside_the_package() -> None:
    assert resources.path("sentences.yaml").is_file()
    assert resources.yaml("sentences.yaml") is resources.yaml("sentences.yaml")
