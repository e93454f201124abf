"""Which language a text is in."""

from __future__ import annotations

import pytest

from voice.language import detect, latin_share


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("This is how it works, and you can do it too.", "en"),
        ("Das ist nicht gut und die Sonne scheint.", "de"),
        ("Je ne sais pas ce que vous voulez dire.", "fr"),
        ("No sé lo que quieres, pero está bien para mí.", "es"),
        ("Non so che cosa sia, ma è una bella giornata.", "it"),
        ("Não sei o que você quer, mas está tudo bem.", "pt"),
        ("Ik weet niet wat je wilt, maar het is goed.", "nl"),
        ("Jag vet inte vad det är, men det är bra.", "sv"),
        ("Nie wiem, co to jest, ale jest dobrze.", "pl"),
        ("Bu çok güzel bir şey ama ne olduğunu bilmiyorum.", "tr"),
        ("Привет, как дела?", "ru"),
        ("Привіт, як твої справи?", "uk"),
        ("你好，世界", "zh"),
        ("これは日本語です", "ja"),
        ("안녕하세요", "ko"),
        ("שלום עולם", "he"),
        ("مرحبا بالعالم", "ar"),
        ("سلام، چطوری؟ پدر", "fa"),
        ("Γειά σου κόσμε", "el"),
        ("नमस्ते", "hi"),
        ("สวัสดี", "th"),
    ],
)
def test_the_language_is_found(text: str, language: str) -> None:
    assert detect(text, "en") == language
    assert detect(text) == language


@pytest.mark.parametrize("text", ["", "123 !?", "Ada Lovelace", "OK", "No.", "Die Hard", "v2.0 in 5 km"])
def test_what_tells_too_little_stays_what_it_was(text: str) -> None:
    assert detect(text, "en") == "en"


def test_one_foreign_word_does_not_change_the_language() -> None:
    assert detect("The word Привет means hello.", "en") == "en"
    assert latin_share("The word Привет means hello.") > 0.5
    assert latin_share("Привет") == 0
    assert latin_share("123") == 1
