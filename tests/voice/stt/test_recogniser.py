"""The recogniser understands sound of any kind and says in a sentence why a folder is no model."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import resources
from resources.sentences import sentence
from tests.voice.stt.sayings import say, silence
from voice.errors import VoiceError
from voice.stt.reading import Reading, Wish
from voice.stt.recogniser import Recogniser

TEXT = "Please open the report and tell me what changed since last week."


def test_a_sentence_is_understood_with_its_place(recogniser: Recogniser) -> None:
    heard = recogniser.transcribe(np.concatenate((silence(5), say(TEXT))))
    assert (heard.text, heard.language, heard.words) == (TEXT, "en", ())
    (segment,) = heard.segments
    assert segment.text == TEXT
    assert 5.0 <= segment.start <= 5.5
    assert 8.0 <= segment.end <= 9.5
    assert heard.no_speech < 0.3
    assert -0.5 < heard.logprob < 0.0


def test_words_have_places_in_order(recogniser: Recogniser) -> None:
    samples = np.concatenate((say("Stop the music."), silence(3), say("Read the next message aloud.")))
    heard = recogniser.transcribe(samples, words=True)
    assert " ".join(word.text for word in heard.words) == heard.text
    assert heard.text == "Stop the music. Read the next message aloud."
    starts = [word.start for word in heard.words]
    assert starts == sorted(starts)
    assert all(word.start <= word.end <= len(samples) / 16000 for word in heard.words)
    read = next(word for word in heard.words if word.text == "Read")
    assert read.start > 3.5
    assert [segment.text for segment in heard.segments] == ["Stop the music.", "Read the next message aloud."]
    assert [token for segment in heard.segments for token in segment.tokens]


def test_a_long_recording_is_understood_to_its_end(recogniser: Recogniser) -> None:
    said = [TEXT, "Rename every picture in the folder.", "Read the next message aloud."] * 4
    heard = recogniser.transcribe(np.concatenate([say(text) for text in said]))
    assert heard.text.split().count("report") == 4
    assert heard.text.endswith("Read the next message aloud.")
    ends = [segment.end for segment in heard.segments]
    assert ends == sorted(ends)
    assert len(heard.segments) >= 10


@pytest.mark.parametrize(
    "change",
    [
        lambda samples: samples.astype(np.float64),
        lambda samples: (samples * 32767).astype(np.int16),
        lambda samples: samples + 0.4,
        lambda samples: samples * 0.02,
        lambda samples: np.clip(samples * 20, -1, 1),
        lambda samples: np.where(np.arange(len(samples)) % 4001 == 0, np.nan, samples),
    ],
    ids=["float64", "int16", "constant", "quiet", "clipped", "holes"],
)
def test_sound_of_any_kind_is_understood(recogniser: Recogniser, change: Any) -> None:
    heard = recogniser.transcribe(change(say("Please open the report and tell me what changed.")))
    assert heard.text.lower().strip(".?!") == "please open the report and tell me what changed"


@pytest.mark.parametrize("count", [0, 1, 100, 511, 512, 16_000])
def test_too_little_sound_holds_nothing(recogniser: Recogniser, count: int) -> None:
    assert recogniser.transcribe(np.full(count, np.nan, np.float32)).text == ""


def test_minutes_of_silence_hold_nothing(recogniser: Recogniser) -> None:
    assert recogniser.transcribe(silence(300)).text == ""


def test_a_language_that_the_model_does_not_know_changes_nothing(recogniser: Recogniser) -> None:
    assert recogniser.languages == ("en",)
    heard = recogniser.transcribe(say("Stop the music."), language="de-AT")
    assert (heard.text, heard.language) == ("Stop the music.", "en")


def test_a_reading_that_is_not_wanted_any_more_ends(recogniser: Recogniser) -> None:
    assert recogniser.read(say(TEXT), Wish(), (), 3.0, lambda: True) is None
    quick = recogniser.read(say(TEXT), Wish(quick=True), (), 3.0)
    assert isinstance(quick, Reading)
    assert quick.text.startswith("Please open the report")


def test_the_hub_is_never_asked(recogniser: Recogniser) -> None:
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert os.environ["HF_HUB_DISABLE_TELEMETRY"] == "1"
    assert recogniser.cost > 0.0


def test_a_closed_recogniser_loads_again() -> None:
    recogniser = Recogniser(resources.recogniser_dir(), threads=1)
    assert recogniser.transcribe(say("Stop the music.")).text == "Stop the music."
    recogniser.close()
    recogniser.close()
    assert recogniser.transcribe(say("Stop the music.")).text == "Stop the music."
    recogniser.close()


# --- folders that hold no model -------------------------------------------------------------------------


def copied(folder: Path) -> Path:
    """A copy of the bundled model in which every file may be changed."""
    made = folder / "model"
    made.mkdir()
    for file in resources.recogniser_dir().iterdir():
        if file.name == "model.bin":
            (made / file.name).symlink_to(file)
        else:
            shutil.copyfile(file, made / file.name)
    return made


def refusal(folder: Path) -> str:
    """The sentence with which `folder` is refused."""
    with pytest.raises(VoiceError, match="recogniser_unusable") as caught:
        Recogniser(folder).load()
    said = sentence(caught.value.code, **caught.value.fields)
    assert str(folder) in said
    return said


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no such folder" in refusal(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    assert "there is no such folder" in refusal(tmp_path / "file")


@pytest.mark.parametrize("name", ["config.json", "model.bin", "tokenizer.json", "vocabulary.txt"])
def test_a_file_is_missing(tmp_path: Path, name: str) -> None:
    folder = copied(tmp_path)
    (folder / name).unlink()
    assert f"{name} is not there" in refusal(folder)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b'{"version": "1.0"}'])
def test_the_tokenizer_is_damaged(tmp_path: Path, content: bytes) -> None:
    folder = copied(tmp_path)
    (folder / "tokenizer.json").write_bytes(content)
    assert "tokenizer.json" in refusal(folder)


def test_the_tokenizer_is_of_another_kind(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": {"type": "None"}}))
    assert "tokenizer.json" in refusal(folder)


@pytest.mark.parametrize("keep", [0, 100, 1_000_000, 70_000_000])
def test_the_weights_are_cut_short(tmp_path: Path, keep: int) -> None:
    folder = copied(tmp_path)
    whole = (folder / "model.bin").read_bytes()
    (folder / "model.bin").unlink()
    (folder / "model.bin").write_bytes(whole[:keep])
    assert refusal(folder)


def test_the_weights_are_something_else(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "model.bin").unlink()
    (folder / "model.bin").write_bytes(b"GGUF" + bytes(range(256)) * 1000)
    assert refusal(folder)
