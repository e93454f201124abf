"""Names are told to the recogniser as far as there is room, and an echo of them is noticed."""

from __future__ import annotations

import pytest

from tests.voice.stt.sayings import say, silence
from voice.stt import hints
from voice.stt.recogniser import Recogniser


def encode(text: str) -> list[int]:
    """A token for every four letters."""
    return [len(text)] * (len(text) // 4 + 1)


def test_no_hints_are_no_prompt() -> None:
    assert hints.prompt((), encode) == []
    assert hints.prompt(("", "  ", "--", "x" * 100), encode) == []


def test_a_prompt_has_a_bound() -> None:
    tokens = hints.prompt([f"Name{number}" for number in range(1000)], encode)
    assert 20 < len(tokens) <= hints.MOST_TOKENS


def test_spaces_and_repetitions_do_not_count() -> None:
    once = hints.prompt(["Quill feather"], encode)
    assert hints.prompt([" Quill  feather ", "Quill\nfeather"], encode) == once


def test_words_of_hints_alone_may_be_their_echo() -> None:
    known = ("Quillfeather", "budget plan")
    assert hints.repeats("Quillfeather, plan.", known)
    assert not hints.repeats("Open Quillfeather.", known)
    assert not hints.repeats(" . . ", known)


def test_a_rare_name_is_understood_when_it_is_known(recogniser: Recogniser) -> None:
    samples = say("Please send the report to Kowalczyk and Zbigniew.")
    plain = recogniser.transcribe(samples).text
    told = recogniser.transcribe(samples, hints=("Kowalczyk", "Zbigniew", "Annual report")).text
    assert "Kowalczyk" not in plain
    assert "Kowalczyk" in told
    assert told.startswith("Please send the report to")


@pytest.mark.parametrize("text", ["Kowalczyk", "Stop.", "Thank you."])
def test_a_name_or_another_word_alone_is_understood(recogniser: Recogniser, text: str) -> None:
    heard = recogniser.transcribe(say(text), hints=("Kowalczyk", "Quillfeather", "budget plan")).text
    assert heard.strip(".!") == text.strip(".")


def test_names_are_not_heard_where_nobody_speaks(recogniser: Recogniser) -> None:
    assert recogniser.transcribe(silence(10), hints=("Kowalczyk", "Zbigniew")).text == ""


def test_other_speech_is_left_as_it_is(recogniser: Recogniser) -> None:
    samples = say("The committee decided to postpone the vote.")
    assert recogniser.transcribe(samples, hints=("Kowalczyk", "Zbigniew", "Orion")).text == (
        "The committee decided to postpone the vote."
    )
