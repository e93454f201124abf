"""Languages are named by code, with or without a region, or in English."""

from __future__ import annotations

import pytest

from voice.services.languages import NAMES, code_of


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("en", "en"),
        ("EN", "en"),
        ("en-GB", "en"),
        ("pt_BR", "pt"),
        ("english", "en"),
        (" German ", "de"),
        ("yue", "yue"),
        ("haitian creole", "ht"),
        ("", ""),
        ("xx", ""),
        ("klingon", ""),
        ("e", ""),
        ("<|en|>", ""),
    ],
)
def test_codes(given: str, code: str) -> None:
    assert code_of(given) == code


def test_there_are_a_hundred_of_them() -> None:
    assert len(NAMES) == 100
    assert all(code.isalpha() and name.replace(" ", "").isalpha() for code, name in NAMES.items())
