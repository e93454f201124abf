"""Words are counted as a listener would: without case, punctuation and the spelling of numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.bench.word_errors import Recording, distance, number, recordings, word_errors, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Press 1, 2 or 18.", "press one two or eighteen"),
        ("IN EIGHTEEN THIRTEEN", "In 1813."),
        ("Mr. John’s", "mister john's"),
        ("cold-hearted", "Cold hearted"),
        ("2,500", "two five hundred"),
        ("1,000,021 and 340", "one zero twenty-one and three hundred forty"),
    ],
)
def test_the_same_words_in_other_spellings(one: str, other: str) -> None:
    assert words(one) == words(other)


def test_numbers_are_read_out() -> None:
    assert number(2024) == ["two", "thousand", "twenty", "four"]
    assert number(1900) == ["nineteen", "hundred"]
    assert number(3_000_007) == ["three", "million", "seven"]


def test_every_replaced_missing_and_added_word_is_an_error() -> None:
    said = words("ask not what your country can do")
    assert distance(said, said) == 0
    assert distance(said, words("ask what my country can do now")) == 3
    assert distance(said, []) == len(said)
    assert distance([], said) == len(said)


def test_errors_of_all_recordings_are_added_up() -> None:
    silent = np.zeros(16, np.float32)
    spoken = [Recording("a", silent, "go on"), Recording("b", silent, "stop it now")]
    found = word_errors(spoken, lambda samples: "Go on!")
    assert (found.wrong, found.of, found.percent) == (3, 5, 60.0)
    assert found.worst == ("3 b: Go on!",)


def test_recordings_come_as_mono_at_the_right_rate(tmp_path: Path) -> None:
    import soundfile

    soundfile.write(tmp_path / "a.wav", np.zeros((8000, 2)), 8000)
    (tmp_path / "manifest.json").write_text(json.dumps([{"path": "a.wav", "text": "none"}]))
    (found,) = recordings(tmp_path)
    assert (found.name, found.text, found.samples.shape) == ("a.wav", "none", (16000,))
    assert found.samples.dtype == np.float32
