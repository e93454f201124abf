"""A word for the program is one only as a whole utterance."""

from __future__ import annotations

import pytest

from runtime.spoken_words import understood


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("Stop.", "stop"),
        ("stop", "stop"),
        ("STOP!", "stop"),
        ("Stop, stop, stop!", "stop"),
        ("Okay, stop it please.", "stop"),
        ("Please be quiet", "stop"),
        ("That\u2019s enough.", "stop"),
        ("Never mind.", "stop"),
        ("Wait.", "wait"),
        ("Just wait", "wait"),
        ("Hold on a second!", "wait"),
        ("Hang on", "wait"),
        ("One moment, please.", "wait"),
        ("Go on.", "go_on"),
        ("Okay, go on, Orion.", "go_on"),
        ("Continue, please.", "go_on"),
        ("Carry on", "go_on"),
        ("Status?", "status"),
        ("What are you doing right", None),
        ("What are you doing now?", "status"),
        ("What's the status?", "status"),
        ("Are you still there?", "status"),
        ("Stop the music", None),
        ("Don't stop", None),
        ("How do I stop a process?", None),
        ("I can't wait", None),
        ("Wait for the train", None),
        ("Go on holiday", None),
        ("Continue the list with apples", None),
        ("What is the status of my order?", None),
        ("Stop. Go on.", None),
        ("Thank you.", None),
        ("Okay.", None),
        ("please please", None),
        ("", None),
        ("…!?", None),
    ],
)
def test_english(said: str, word: str | None) -> None:
    assert understood(said) == word
    assert understood(said, "en") == word


@pytest.mark.parametrize(
    ("said", "language", "word"),
    [
        ("Stopp!", "de", "stop"),
        ("Warte mal, bitte.", "de", "wait"),
        ("Mach weiter", "de", "go_on"),
        ("Was machst du gerade?", "de", "status"),
        ("Was machst du gerade mit dem Hund?", "de", None),
        ("¡Espera un momento!", "es", "wait"),
        ("Arr\u00eate-toi s'il te pla\u00eet", "fr", "stop"),
        ("Stop", "ja", "stop"),
        ("Weiter", "en", None),
    ],
)
def test_other_languages_and_english_in_all_of_them(said: str, language: str, word: str | None) -> None:
    assert understood(said, language) == word
