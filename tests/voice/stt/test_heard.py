"""What was heard is joined from parts, with words as a person would write them."""

from __future__ import annotations

import pytest

from voice.stt.heard import Part, joined
from voice.stt.reading import Reading, Timed


def part(*pieces: str, start: float = 0.0) -> Part:
    words = tuple(Timed(piece, at / 2, at / 2 + 0.4, 0.9, (at,)) for at, piece in enumerate(pieces))
    tokens = tuple(range(len(pieces)))
    return Part(Reading("".join(pieces).strip(), "en", tokens, words=words), start, start, start + 60.0)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ((" a", " well", "-", "known", " word"), ["a", "well-known", "word"]),
        ((" a", " well", "-known", " word"), ["a", "well-known", "word"]),
        ((" one", " -", " two", " ..."), ["one -", "two ..."]),
        ((" -", " Yes", "?!"), ["- Yes?!"]),
        ((" and", "/or", " 5", "%"), ["and/or", "5%"]),
        (("今日", "は", "。"), ["今日", "は。"]),
        ((" ...",), ["..."]),
    ],
)
def test_signs_are_no_words_of_their_own(pieces: tuple[str, ...], words: list[str]) -> None:
    assert [word.text for word in joined([part(*pieces)], words=True).words] == words


def test_a_word_lasts_as_long_as_all_of_it() -> None:
    (yes, no) = joined([part(" Yes", " -", " no", start=10.0)], words=True).words
    assert (yes.start, yes.end, no.start) == (10.0, 10.9, 11.0)


def test_parts_follow_each_other() -> None:
    heard = joined([part(" One."), part(" Two.", start=5.0)], words=True)
    assert heard.text == "One. Two."
    assert [(word.text, word.start) for word in heard.words] == [("One.", 0.0), ("Two.", 5.0)]
    assert joined([]).text == ""
