"""OpenAI's own client asks the running service what is said in recordings, good and bad ones."""

from __future__ import annotations

import io
import re
import struct
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import openai
import pytest
import soundfile
import soxr
from openai.types.audio import Transcription, TranscriptionVerbose

from tests.voice.services.running import Running, running

TEXT = "Good morning everyone. The meeting begins at the old library, and we will talk about the garden."
WORDS = ("morning", "meeting", "library", "garden")
RATE = 24_000
BODY = 25 * 2**20


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("home")) as made:
        yield made


@pytest.fixture(scope="module")
def spoken(service: Running) -> bytes:
    """TEXT as the speech service says it, in FLAC of unknown length."""
    with openai.OpenAI(base_url=service.speech, api_key="none") as client:
        return client.audio.speech.create(
            input=TEXT, model="tts-1", voice="alloy", response_format="flac"
        ).content


@pytest.fixture(scope="module")
def samples(service: Running) -> Any:
    """The same as bare samples at RATE."""
    with openai.OpenAI(base_url=service.speech, api_key="none") as client:
        made = client.audio.speech.create(input=TEXT, model="tts-1", voice="alloy", response_format="pcm")
    return np.frombuffer(made.content, "<i2").astype(np.float32) / 32768


@pytest.fixture
def client(service: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=service.transcription, api_key="none", max_retries=0, timeout=100) as made:
        yield made


def heard(client: openai.OpenAI, data: bytes, name: str = "speech.flac", **fields: Any) -> Any:
    given: dict[str, Any] = {"model": "whisper-1"} | fields
    return client.audio.transcriptions.create(file=(name, data), **given)


def refusal(client: openai.OpenAI, data: bytes, **fields: Any) -> tuple[int, str | None, str | None]:
    with pytest.raises(openai.APIStatusError) as caught:
        heard(client, data, **fields)
    body = caught.value.body
    assert isinstance(body, dict)
    assert set(body) == {"message", "type", "param", "code"}
    assert str(body["message"]).endswith(".")
    return caught.value.status_code, caught.value.code, caught.value.param


def wav(samples: Any, rate: int = 16_000, subtype: str = "PCM_16") -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format="WAV", subtype=subtype)
    return file.getvalue()


def has_the_words(text: str) -> bool:
    return all(word in text.lower() for word in WORDS)


def test_json(client: openai.OpenAI, spoken: bytes) -> None:
    found = heard(client, spoken)
    assert isinstance(found, Transcription)
    assert has_the_words(found.text)
    assert found.usage is not None
    assert found.usage.type == "duration"
    assert 4 < found.usage.seconds < 12


def test_text(client: openai.OpenAI, spoken: bytes) -> None:
    found = heard(client, spoken, response_format="text")
    assert isinstance(found, str)
    assert found.endswith("\n")
    assert has_the_words(found)


def test_verbose_json(client: openai.OpenAI, spoken: bytes) -> None:
    found = heard(client, spoken, response_format="verbose_json")
    assert isinstance(found, TranscriptionVerbose)
    assert found.language == "english"
    assert has_the_words(found.text)
    assert found.words is None
    assert found.segments
    assert " ".join(segment.text.strip() for segment in found.segments) == found.text
    assert all(0 <= segment.start < segment.end <= found.duration for segment in found.segments)
    assert all(segment.tokens and segment.avg_logprob > -1 for segment in found.segments)


def test_times_of_words(client: openai.OpenAI, spoken: bytes) -> None:
    fields: dict[str, Any] = {"response_format": "verbose_json", "timestamp_granularities": ["word"]}
    found = heard(client, spoken, **fields)
    assert found.segments is None
    assert [re.sub(r"\W", "", word.word) for word in found.words] == re.findall(r"\w+", found.text)
    starts = [word.start for word in found.words]
    assert starts == sorted(starts)
    fields["timestamp_granularities"] = ["word", "segment"]
    both = heard(client, spoken, **fields)
    assert both.segments
    assert len(both.words) == len(found.words)


def test_captions(client: openai.OpenAI, spoken: bytes) -> None:
    clock = r"\d\d:00:\d\d{}\d{{3}} --> \d\d:00:\d\d{}\d{{3}}"
    srt = heard(client, spoken, response_format="srt")
    assert re.match(r"1\n" + clock.format(",", ",") + r"\nGood morning", srt)
    vtt = heard(client, spoken, response_format="vtt")
    assert re.match(r"WEBVTT\n\n" + clock.format(r"\.", r"\.") + r"\nGood morning", vtt)
    assert has_the_words(srt.replace("\n", " "))


def test_streamed(client: openai.OpenAI, spoken: bytes) -> None:
    events = list(heard(client, spoken, stream=True))
    assert [event.type for event in events] == ["transcript.text.delta", "transcript.text.done"]
    assert has_the_words(events[-1].text)
    assert "".join(event.delta for event in events[:-1]) == events[-1].text


def test_a_long_recording_is_streamed_passage_by_passage(client: openai.OpenAI, samples: Any) -> None:
    long = wav(np.concatenate([np.pad(samples, (0, RATE))] * 6), RATE)
    events = list(heard(client, long, stream=True))
    assert len(events) >= 3
    assert events[-1].text.lower().count("morning") == 6
    assert "".join(event.delta for event in events[:-1]) == events[-1].text
    verbose = heard(client, long, response_format="verbose_json")
    assert verbose.duration == pytest.approx(6 * (len(samples) / RATE + 1), abs=0.1)
    assert verbose.duration - 3 < verbose.segments[-1].end < verbose.duration


@pytest.mark.parametrize("fields", [{"language": "en"}, {"language": "English"}, {"temperature": 0.4}])
def test_fields_that_change_little(client: openai.OpenAI, spoken: bytes, fields: dict[str, Any]) -> None:
    assert has_the_words(heard(client, spoken, **fields).text)


def test_names_are_understood_when_they_are_given(client: openai.OpenAI, service: Running) -> None:
    with openai.OpenAI(base_url=service.speech, api_key="none") as speaker:
        said = speaker.audio.speech.create(
            input="Please ask Xanthea about it.", model="tts-1", voice="alloy", response_format="wav"
        )
    assert "Xanthea" in heard(client, said.content, prompt="Xanthea").text


@pytest.mark.parametrize("samples", [np.zeros(16_000 * 5), np.random.default_rng(1).normal(0, 0.05, 80_000)])
def test_silence_and_noise_give_no_text(client: openai.OpenAI, samples: Any) -> None:
    data = wav(samples)
    assert heard(client, data).text == ""
    assert heard(client, data, response_format="text").strip() == ""
    assert heard(client, data, response_format="srt") == ""
    assert heard(client, data, response_format="verbose_json").segments == []
    (done,) = heard(client, data, stream=True)
    assert (done.type, done.text) == ("transcript.text.done", "")


@pytest.mark.parametrize(("rate", "subtype"), [(8_000, "PCM_U8"), (44_100, "PCM_24"), (96_000, "FLOAT")])
def test_any_rate_and_depth(client: openai.OpenAI, samples: Any, rate: int, subtype: str) -> None:
    stereo = np.stack([soxr.resample(samples, RATE, rate)] * 2, axis=1)
    assert "library" in heard(client, wav(stereo, rate, subtype)).text.lower()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "sound_empty"),
        (wav(np.zeros(0)), "sound_empty"),
        (b"This is a letter and no sound. " * 100, "sound_unreadable"),
        (b"\x89PNG\r\n\x1a\n" + bytes(500), "sound_unreadable"),
        (b"PK\x03\x04" + bytes(500), "sound_unreadable"),
        (b"fLaC" + bytes(500), "sound_unreadable"),
        (b"\0\0\0\x18ftypmp42" + bytes(500), "sound_trackless"),
    ],
)
def test_files_that_are_no_recording(client: openai.OpenAI, data: bytes, code: str) -> None:
    assert refusal(client, data) == (400, code, "file")
    assert refusal(client, data, stream=True) == (400, code, "file")


def test_three_hours(client: openai.OpenAI) -> None:
    hours = io.BytesIO()
    soundfile.write(hours, np.zeros(3 * 3600 * 8000, np.int16), 8000, format="FLAC")
    assert refusal(client, hours.getvalue()) == (400, "sound_too_long", "file")


def test_a_header_that_claims_four_gigabytes(client: openai.OpenAI) -> None:
    data = bytearray(wav(np.zeros(16_000)))
    data[4:8] = data[40:44] = struct.pack("<I", 0xFFFFFFF0)
    assert heard(client, bytes(data)).text == ""


def test_a_body_that_is_too_large(client: openai.OpenAI) -> None:
    assert refusal(client, bytes(BODY + 1)) == (413, "service_body_too_large", None)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"language": "tlh"}, (400, "transcription_language_unknown", "language")),
        ({"language": "de"}, (400, "transcription_language_other", "language")),
        ({"model": "tts-1"}, (404, "service_model_unknown", "model")),
        ({"temperature": 2.0}, (400, "service_field_wrong", "temperature")),
        ({"response_format": "diarized_json"}, (400, "service_field_wrong", "response_format")),
        (
            {"timestamp_granularities": ["word"]},
            (400, "transcription_times_nowhere", "timestamp_granularities"),
        ),
        ({"response_format": "srt", "stream": True}, (400, "transcription_stream_form", "stream")),
    ],
)
def test_bad_fields(
    client: openai.OpenAI, spoken: bytes, fields: dict[str, Any], expected: tuple[int, str, str]
) -> None:
    assert refusal(client, spoken, **fields) == expected


def test_forms_that_are_none(service: Running) -> None:
    address = f"{service.transcription}/audio/transcriptions"
    answers = [
        httpx.post(address, data={"model": "whisper-1"}),
        httpx.post(address, json={"file": "x"}),
        httpx.post(address, content=b"junk", headers={"content-type": "multipart/form-data"}),
        httpx.post(address, content=b"junk", headers={"content-type": "multipart/form-data; boundary=x"}),
        httpx.post(address, files=[("file", b"a"), ("file", b"b")]),
        httpx.post(address, data={"file": "not a file"}),
        httpx.post(address, data={"prompt": "x" * 100_000}, files={"file": b"a"}),
    ]
    assert [answer.status_code for answer in answers] == [400] * len(answers)
    assert {answer.json()["error"]["code"] for answer in answers} == {
        "transcription_file_missing",
        "service_not_form",
    }


def test_translations_are_refused(client: openai.OpenAI, spoken: bytes) -> None:
    deprecated = pytest.warns(DeprecationWarning, match="deprecated")
    with pytest.raises(openai.BadRequestError) as caught, deprecated:
        client.audio.translations.create(file=("a.flac", spoken), model="whisper-1")
    assert caught.value.code == "transcription_no_translation"


def test_two_clients_at_once(client: openai.OpenAI, spoken: bytes) -> None:
    texts: list[str] = []
    threads = [threading.Thread(target=lambda: texts.append(heard(client, spoken).text)) for _number in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 2
    assert texts[0] == texts[1]


def test_clients_that_go_away_free_the_recogniser(client: openai.OpenAI, samples: Any, spoken: bytes) -> None:
    hour = wav(np.concatenate([samples] * 60), RATE)
    for _number in range(10):
        with pytest.raises(openai.APITimeoutError):
            heard(client.with_options(timeout=0.3), hour)
    assert has_the_words(heard(client.with_options(timeout=20, max_retries=3), spoken).text)
