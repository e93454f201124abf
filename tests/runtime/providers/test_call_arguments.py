"""Call arguments: an object is read, everything else is said to the model."""

from __future__ import annotations

import pytest

from runtime.messages import JsonObject
from runtime.providers.call_arguments import read_arguments


@pytest.mark.parametrize(
    ("text", "found", "fault"),
    [
        ("", {}, ""),
        ('{"n": 1}', {"n": 1}, ""),
        ('{"n": ', {}, "they are no JSON"),
        ("[" * 100_000, {}, "they are no JSON"),
        ("[1]", {}, "they are no JSON object"),
        ('{"n": NaN}', {}, "a number is not finite"),
        ('{"n": -Infinity}', {}, "a number is not finite"),
    ],
    ids=["none", "an object", "torn", "deep", "a list", "no number", "endless"],
)
def test_only_an_object_that_can_be_sent_back_is_taken(text: str, found: JsonObject, fault: str) -> None:
    assert read_arguments(text) == (found, fault)


def test_a_call_that_was_broken_off_is_not_believed() -> None:
    assert read_arguments('{"n": 1}', whole=False) == ({}, "the reply ended before the call was complete")
