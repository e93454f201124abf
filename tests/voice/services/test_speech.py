"""OpenAI's own client asks the running service to read texts aloud."""

from __future__ import annotations

import base64
import io
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal

import httpx
import numpy as np
import openai
import pytest
import soundfile

from tests.conftest import missing
from tests.voice.services.running import Running, running

if TYPE_CHECKING:
    from voice.sound import Samples

Format = Literal["mp3", "opus", "flac", "wav", "pcm"]
FORMATS: tuple[Format, ...] = ("mp3", "opus", "flac", "wav", "pcm")
TEXT = "Good morning. The quick brown fox jumps over the lazy dog."
LONG = "This is a sentence of a very long text that somebody wants to hear. " * 1400
RATE = 24_000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("home")) as made:
        yield made


@pytest.fixture
def client(service: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=service.speech, api_key="none", max_retries=0, timeout=60) as made:
        yield made


def said(client: openai.OpenAI, text: str = TEXT, **fields: Any) -> Samples:
    """What the client gets as bare samples."""
    given: dict[str, Any] = {"model": "tts-1", "voice": "alloy", "response_format": "pcm"} | fields
    found = np.frombuffer(client.audio.speech.create(input=text, **given).content, "<i2")
    return (found / 32768).astype(np.float32)


def refusal(client: openai.OpenAI, text: str = TEXT, **fields: Any) -> tuple[int, str | None, str | None]:
    """Status, code and field of the error that the client raises."""
    with pytest.raises(openai.APIStatusError) as caught:
        said(client, text, **fields)
    body = caught.value.body
    assert isinstance(body, dict)
    assert set(body) == {"message", "type", "param", "code"}
    assert str(body["message"]).endswith(".")
    return caught.value.status_code, caught.value.code, caught.value.param


@pytest.mark.parametrize("form", FORMATS)
def test_ffprobe_takes_every_format_for_what_it_is(client: openai.OpenAI, form: Format) -> None:
    if shutil.which("ffmpeg") is None:
        missing("ffmpeg")
    answer = client.audio.speech.create(input=TEXT, model="tts-1", voice="alloy", response_format=form)
    read = ["-f", "s16le", "-ar", str(RATE), "-ac", "1"] if form == "pcm" else []
    decoded = ["-f", "s16le", "-ar", str(RATE), "-"]
    command = ["ffmpeg", "-v", "fatal", *read, "-i", "-", *decoded]
    done = subprocess.run(command, input=answer.content, capture_output=True, check=True)
    assert len(done.stdout) / 2 / RATE == pytest.approx(len(said(client)) / RATE, abs=0.3)


def test_the_types_of_the_answers(client: openai.OpenAI) -> None:
    expected = {"mp3": "mpeg", "opus": "ogg", "flac": "flac", "wav": "wav", "pcm": "pcm"}
    for form in FORMATS:
        raw = client.audio.speech.with_raw_response.create(
            input="Hello.", model="tts-1", voice="alloy", response_format=form
        )
        assert raw.headers["content-type"] == f"audio/{expected[form]}"


def test_mp3_is_what_comes_without_a_wish(client: openai.OpenAI) -> None:
    answer = client.audio.speech.create(input="Hello there.", model="tts-1", voice="alloy")
    with soundfile.SoundFile(io.BytesIO(answer.content)) as file:
        assert (file.format, file.samplerate, file.channels) == ("MP3", RATE, 1)


def test_the_sound_begins_before_the_text_is_read_to_its_end(client: openai.OpenAI) -> None:
    request = client.audio.speech.with_streaming_response.create
    with request(input=LONG, model="tts-1", voice="alloy", response_format="pcm") as answer:
        pieces = answer.iter_bytes(4096)
        assert len(next(pieces)) > 0
        assert answer.http_response.num_bytes_downloaded < 10 * RATE * 2
    assert 0.5 < len(said(client)) / RATE < 10


def test_a_hundred_thousand_characters_end_with_the_last_word(client: openai.OpenAI) -> None:
    text = LONG + "x" * (100_000 - len(LONG))
    assert refusal(client, text + "y")[:2] == (400, "speech_too_long")
    request = client.audio.speech.with_streaming_response.create
    with request(input=text, model="tts-1", voice="alloy", response_format="opus") as answer:
        seen = sum(len(piece) for _number, piece in zip(range(50), answer.iter_bytes(4096), strict=False))
    assert seen == 50 * 4096


def test_speed(client: openai.OpenAI) -> None:
    usual = len(said(client))
    for speed in (0.25, 0.5, 2.0, 4.0):
        assert len(said(client, speed=speed)) == pytest.approx(usual / speed, rel=0.15), speed


@pytest.mark.parametrize("voice", ["alloy", "verse", "cedar", "heart", {"id": "nova"}])
def test_voices_of_openai_and_of_this_machine(client: openai.OpenAI, voice: Any) -> None:
    assert np.abs(said(client, "Hello.", voice=voice)).max() > 0.05


def test_events_carry_the_sound(client: openai.OpenAI) -> None:
    request = client.audio.speech.with_streaming_response.create
    with request(
        input=TEXT, model="gpt-4o-mini-tts", voice="coral", response_format="pcm", stream_format="sse"
    ) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: ")]
    kinds = [event["type"] for event in events]
    assert kinds == ["speech.audio.delta"] * (len(events) - 1) + ["speech.audio.done"]
    assert len(kinds) > 2
    sound = b"".join(base64.b64decode(event["audio"]) for event in events[:-1])
    assert len(sound) / 2 == pytest.approx(len(said(client)), rel=0.1)
    assert set(events[-1]["usage"]) == {"input_tokens", "output_tokens", "total_tokens"}


def test_markup_of_speech_is_not_obeyed(client: openai.OpenAI) -> None:
    plain = len(said(client, "Hello you."))
    injected = "<speak>Hello <break time='60s'/><audio src='file:///etc/passwd'/>you.</speak>"
    assert len(said(client, injected)) == pytest.approx(plain, rel=0.3)


def test_code_is_read_word_for_word(client: openai.OpenAI) -> None:
    fenced = "```python\nhello there my friend\n```\n\n    and this is the indented second line of it\n"
    assert len(said(client, fenced)) > 2 * len(said(client, "hello there my friend"))


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        ("", {}, (400, "speech_empty", "input")),
        (" \n\t ", {}, (400, "speech_empty", "input")),
        ("*** --- !!! ___", {}, (400, "speech_nothing_to_say", "input")),
        ("^ ` ^", {}, (400, "speech_nothing_to_say", "input")),
        ("?!* " * 25_000, {}, (400, "speech_nothing_to_say", "input")),
        (TEXT, {"voice": "nobody"}, (400, "speech_voice_unknown", "voice")),
        (TEXT, {"voice": 5}, (400, "service_field_wrong", "voice")),
        (TEXT, {"model": "whisper-1"}, (404, "service_model_unknown", "model")),
        (TEXT, {"response_format": "aac"}, (400, "speech_format_unavailable", "response_format")),
        (TEXT, {"response_format": "ogg"}, (400, "service_field_wrong", "response_format")),
        (TEXT, {"speed": 0.1}, (400, "service_field_wrong", "speed")),
        (TEXT, {"speed": 4.1}, (400, "service_field_wrong", "speed")),
        (TEXT, {"stream_format": "morse"}, (400, "service_field_wrong", "stream_format")),
    ],
)
def test_bad_requests(
    client: openai.OpenAI, text: str, fields: dict[str, Any], expected: tuple[int, str, str]
) -> None:
    assert refusal(client, text, **fields) == expected


def test_a_language_that_no_voice_speaks_is_said(client: openai.OpenAI) -> None:
    status, _code, param = refusal(client, "ⵣⴰⵣⴰ ⵜⴰⵎⴰⵣⵉⵖⵜ ⵏ ⵍⵎⵖⵔⵉⴱ")
    assert (status, param) == (400, "input")


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        (b"{}", "application/json", 400, "service_field_wrong"),
        (b'{"input": null}', "application/json", 400, "service_field_wrong"),
        (b'["input"]', "application/json", 400, "service_not_json"),
        (b"{", "application/json", 400, "service_not_json"),
        (b"\xff\xfe", "application/json", 400, "service_not_json"),
        (b'{"input": "\xff"}', "application/json", 400, "service_not_json"),
        (b'{"input": "Hello.", "speed": NaN}', "application/json", 400, "service_field_wrong"),
        (b'{"input": "Hello."}', "text/plain", 415, "service_not_json"),
        (b'{"input": "Hello."}', "", 415, "service_not_json"),
    ],
)
def test_bodies_that_are_no_request(service: Running, body: bytes, kind: str, status: int, code: str) -> None:
    answer = httpx.post(f"{service.speech}/audio/speech", content=body, headers={"content-type": kind})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_only_input_is_needed_and_null_counts_as_left_out(service: Running) -> None:
    fields = {"input": "Hello.", "voice": None, "speed": None, "model": None, "instructions": "sing"}
    answer = httpx.post(f"{service.speech}/audio/speech", json=fields, timeout=60)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "audio/mpeg")


def test_what_else_is_there(client: openai.OpenAI, service: Running) -> None:
    names = [model.id for model in client.models.list()]
    assert names[:2] == ["orion-voice", "tts-1"]
    assert client.models.retrieve("tts-1").owned_by == "orion"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-5")
    assert httpx.get(f"{service.speech}/audio/voices").json()["voices"][0]["id"] == "heart"
    assert httpx.get(service.speech.replace("/v1", "/health")).json() == {"status": "ok"}


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/audio/speech", 405, "service_method_wrong"),
        ("POST", "/audio/transcriptions", 404, "service_path_unknown"),
        ("GET", "/docs", 404, "service_path_unknown"),
        ("GET", "/../../etc/passwd", 404, "service_path_unknown"),
    ],
)
def test_paths_that_are_not_there(service: Running, method: str, path: str, status: int, code: str) -> None:
    answer = httpx.request(method, service.speech + path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_two_clients_at_once_are_both_served(client: openai.OpenAI) -> None:
    lengths: list[int] = []
    threads = [
        threading.Thread(target=lambda: lengths.append(len(said(client, TEXT * 5)))) for _number in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lengths) == 2
    assert lengths[0] == pytest.approx(lengths[1], rel=0.1)


def test_clients_that_go_away_free_their_places(client: openai.OpenAI) -> None:
    request = client.audio.speech.with_streaming_response.create
    for _number in range(12):
        with request(input=LONG, model="tts-1", voice="alloy", response_format="wav") as answer:
            next(answer.iter_bytes(1024))
    assert len(said(client)) > RATE


def test_a_full_line_is_said_and_tried_again_by_the_client(client: openai.OpenAI) -> None:
    request = client.audio.speech.with_streaming_response.create
    with ExitStack() as stack:
        for _number in range(8):
            held = request(input=LONG, model="tts-1", voice="alloy", response_format="wav")
            pieces = stack.enter_context(held).iter_bytes(1024)
            stack.callback(pieces.close)  # type: ignore[attr-defined]
            next(pieces)
        assert refusal(client) == (429, "service_line_full", None)
    assert len(said(client.with_options(max_retries=5))) > RATE
