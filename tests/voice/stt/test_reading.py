"""A reading sees as much sound as it needs, and a model of many languages the one that is spoken."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.voice.stt.sayings import say
from voice.stt import reading
from voice.stt.reading import Reader, Wish
from voice.stt.recogniser import Recogniser


class Engine:
    """Says the texts of a script and notes what it was asked."""

    is_multilingual = True

    def __init__(self, tokenizer: Any, texts: list[str]) -> None:
        self._tokenizer = tokenizer
        self._texts = texts
        self.widths: list[int] = []
        self.asked: list[str] = []

    def encode(self, features: Any) -> int:
        self.widths.append(features.shape[1])
        return self.widths[-1]

    def detect_language(self, encoded: int) -> list[list[tuple[str, float]]]:
        return [[("<|de|>", 0.9), ("<|en|>", 0.1)]]

    def generate(self, encoded: int, prompts: list[list[int]], **options: Any) -> list[Any]:
        text = self._texts.pop(0)
        tokens = self._tokenizer.encode(text, add_special_tokens=False).ids
        self.asked.append(self._tokenizer.decode(prompts[0], skip_special_tokens=False))
        return [SimpleNamespace(sequences_ids=[tokens], scores=[-0.1], no_speech_prob=0.1)]


@pytest.fixture
def tokenizer() -> Any:
    from tokenizers import Tokenizer

    import resources

    return Tokenizer.from_file(str(resources.recogniser_dir() / "tokenizer.json"))


def scripted(recogniser: Recogniser, tokenizer: Any, *texts: str) -> tuple[Reader, Engine]:
    """A reader whose engine knows many languages and says `texts`."""
    from faster_whisper.feature_extractor import FeatureExtractor

    recogniser.load()
    engine = Engine(tokenizer, list(texts))
    model = SimpleNamespace(
        model=engine,
        encode=engine.encode,
        hf_tokenizer=tokenizer,
        feature_extractor=FeatureExtractor(),
        supported_languages=["en", "de", "fr"],
        max_length=448,
    )
    return Reader(model), engine


def read(reader: Reader, seconds: float, wish: Wish) -> reading.Reading:
    """A reading of so much silence."""
    found = reader.read(np.zeros(round(seconds * 16000), np.float32), wish, lambda: False)
    assert found is not None
    return found


@pytest.mark.parametrize(("seconds", "width"), [(1, 1000), (5, 1000), (9, 1201), (26, 2901), (29, 3000)])
def test_the_window_is_as_narrow_as_the_sound_allows(
    recogniser: Recogniser, tokenizer: Any, seconds: float, width: int
) -> None:
    reader, engine = scripted(recogniser, tokenizer, " Good.")
    assert read(reader, seconds, Wish()).text == "Good."
    assert engine.widths == [pytest.approx(width, abs=2)]


@pytest.mark.parametrize(
    "doubtful", [" so so so so so", " Bye. Bye.", " and then we went" * 12, " suppose," * 60]
)
def test_a_doubtful_text_is_read_again_on_the_whole_window(
    recogniser: Recogniser, tokenizer: Any, doubtful: str
) -> None:
    reader, engine = scripted(recogniser, tokenizer, doubtful, " Good.")
    assert read(reader, 5, Wish()).text == "Good."
    assert engine.widths == [1000, 3000]


def test_a_quick_reading_is_never_read_again(recogniser: Recogniser, tokenizer: Any) -> None:
    reader, engine = scripted(recogniser, tokenizer, " Bye. Bye.")
    assert read(reader, 5, Wish(quick=True)).text == "Bye. Bye."
    assert engine.widths == [1000]


@pytest.mark.parametrize(
    ("wanted", "spoken"), [("", "de"), ("fr", "fr"), ("FR-ca", "fr"), ("en_GB", "en"), ("tlh", "de")]
)
def test_a_model_of_many_languages_reads_the_wanted_or_the_spoken_one(
    recogniser: Recogniser, tokenizer: Any, wanted: str, spoken: str
) -> None:
    reader, engine = scripted(recogniser, tokenizer, " Gut.")
    assert read(reader, 3, Wish(wanted)).language == spoken
    assert f"<|{spoken}|>" in engine.asked[0]


def test_what_stands_before_is_told_first(recogniser: Recogniser, tokenizer: Any) -> None:
    reader, engine = scripted(recogniser, tokenizer, " Gut.")
    read(reader, 3, Wish("de", before=reader.encode(" Orion.")))
    assert engine.asked[0].startswith("<|startofprev|> Orion.<|startoftranscript|>")


def test_narrow_and_whole_windows_say_the_same(
    recogniser: Recogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = say("My sister lives in a small town near the mountains, about two hours by train from here.")
    narrow = recogniser.transcribe(samples)
    monkeypatch.setattr(reading, "_NARROWEST", 3000)
    whole = recogniser.transcribe(samples)
    assert narrow.text == whole.text
