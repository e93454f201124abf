"""Every format is a whole file once its pieces are joined, and each piece of sound is sent as it comes."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
import soundfile

from tests.conftest import missing
from voice.services.encoding import MEDIA_TYPES, RATE, Encoder

if TYPE_CHECKING:
    from voice.sound import Samples

FORMATS = tuple(name for name in MEDIA_TYPES if name != "aac")
SECONDS = 3.0
PITCH = 440.0


def tone() -> Samples:
    times = np.arange(int(RATE * SECONDS)) / RATE
    return (0.4 * np.sin(2 * np.pi * PITCH * times)).astype(np.float32)


def encoded(name: str) -> list[bytes]:
    encoder = Encoder(name)
    return [*(encoder.add(piece) for piece in np.array_split(tone(), 3)), encoder.close()]


def is_the_tone(samples: Samples, rate: int) -> bool:
    strongest = float(np.abs(np.fft.rfft(samples)).argmax()) * rate / len(samples)
    return abs(strongest - PITCH) < 2 and abs(len(samples) / rate - SECONDS) < 0.1


@pytest.mark.parametrize("name", FORMATS)
def test_something_is_sent_of_every_piece(name: str) -> None:
    *pieces, _rest = encoded(name)
    assert all(len(piece) > 500 for piece in pieces)


@pytest.mark.parametrize("name", ["mp3", "opus"])
def test_libsndfile_reads_it_back(name: str) -> None:
    with soundfile.SoundFile(io.BytesIO(b"".join(encoded(name)))) as file:
        blocks = []
        while len(block := file.read(RATE, dtype="float32")):
            blocks.append(block)
        assert is_the_tone(np.concatenate(blocks), file.samplerate)


@pytest.mark.parametrize("name", FORMATS)
def test_ffprobe_finds_the_format_the_rate_and_the_length(name: str) -> None:
    if shutil.which("ffprobe") is None:
        missing("ffprobe")
    read = ["-f", "s16le", "-ar", str(RATE), "-ac", "1"] if name == "pcm" else []
    shown = "stream=codec_name,channels:format=format_name,duration"
    counted = ["-count_packets"] if name == "flac" else []
    command = ["ffprobe", "-v", "error", *read, *counted, "-show_entries", shown, "-of", "json", "-"]
    done = subprocess.run(command, input=b"".join(encoded(name)), capture_output=True, check=True)
    found = json.loads(done.stdout)
    codec = {"wav": "pcm_s16le", "pcm": "pcm_s16le"}.get(name, name)
    container = {"opus": "ogg", "pcm": "s16le"}.get(name, name)
    assert (found["streams"][0]["codec_name"], found["format"]["format_name"]) == (codec, container)
    assert found["streams"][0]["channels"] == 1


def test_the_sizes_in_a_wav_header_say_that_the_end_is_not_known() -> None:
    data = b"".join(encoded("wav"))
    assert data[:4] + data[8:12] == b"RIFFWAVE"
    assert data[4:8] == data[40:44] == b"\xff\xff\xff\xff"
    assert is_the_tone(np.frombuffer(data[44:], "<i2").astype(np.float32), RATE)


def test_pcm_is_bare_and_clipped() -> None:
    encoder = Encoder("pcm")
    data = encoder.add(np.array([0.0, 1.0, -1.0, 7.0, -7.0, 0.5], np.float32)) + encoder.close()
    assert np.frombuffer(data, "<i2").tolist() == [0, 32767, -32767, 32767, -32767, 16384]


@pytest.mark.parametrize("name", FORMATS)
def test_closing_without_sound_and_closing_twice(name: str) -> None:
    encoder = Encoder(name)
    encoder.close()
    assert encoder.close() == b""
