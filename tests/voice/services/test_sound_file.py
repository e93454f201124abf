"""Recordings of every common form are read as one channel at 16 kHz; all others are refused by name."""

from __future__ import annotations

import contextlib
import io
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import soundfile

from tests.conftest import missing
from voice.errors import VoiceError
from voice.services.encoding import Encoder
from voice.services.foreign_sound import container
from voice.services.sound_file import BLOCK_SECONDS, open_sound
from voice.sound import RATE

if TYPE_CHECKING:
    from voice.sound import Samples

PITCH = 440.0
MOST = 3600.0


def tone(seconds: float, rate: int = 48_000) -> Samples:
    times = np.arange(int(rate * seconds)) / rate
    return (0.4 * np.sin(2 * np.pi * PITCH * times)).astype(np.float32)


def saved(samples: Samples, rate: int, form: str, subtype: str) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=form, subtype=subtype)
    return file.getvalue()


def read(data: bytes, most: float = MOST) -> list[Samples]:
    sound = open_sound(io.BytesIO(data), most)
    blocks = []
    try:
        while True:
            blocks.append(sound.__next__())
    except StopIteration:
        return blocks
    finally:
        sound.close()


def fault(data: bytes, most: float = MOST) -> VoiceError:
    with pytest.raises(VoiceError) as caught:
        read(data, most)
    return caught.value


def is_the_tone(blocks: list[Samples], seconds: float) -> bool:
    samples = np.concatenate(blocks)
    assert samples.dtype == np.float32
    strongest = float(np.abs(np.fft.rfft(samples)).argmax()) * RATE / len(samples)
    return abs(strongest - PITCH) < 2 and abs(len(samples) / RATE - seconds) < 0.1


@pytest.mark.parametrize("rate", [8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000, 192_000])
def test_every_rate(rate: int) -> None:
    assert is_the_tone(read(saved(tone(2, rate), rate, "WAV", "PCM_16")), 2)


@pytest.mark.parametrize(
    ("form", "subtype"),
    [
        ("WAV", "PCM_U8"),
        ("WAV", "PCM_16"),
        ("WAV", "PCM_24"),
        ("WAV", "PCM_32"),
        ("WAV", "FLOAT"),
        ("WAV", "DOUBLE"),
        ("WAV", "ULAW"),
        ("FLAC", "PCM_16"),
        ("FLAC", "PCM_24"),
        ("OGG", "VORBIS"),
        ("OGG", "OPUS"),
        ("MP3", "MPEG_LAYER_III"),
        ("AIFF", "PCM_16"),
        ("CAF", "PCM_16"),
        ("RF64", "PCM_16"),
    ],
)
def test_every_form(form: str, subtype: str) -> None:
    assert is_the_tone(read(saved(tone(2), 48_000, form, subtype)), 2)


@pytest.mark.parametrize("channels", [1, 2, 6])
def test_channels_become_one(channels: int) -> None:
    wide = np.zeros((96_000, channels), np.float32)
    wide[:, -1] = tone(2)
    blocks = read(saved(wide, 48_000, "WAV", "PCM_16"))
    assert is_the_tone(blocks, 2)
    assert np.abs(np.concatenate(blocks)).max() == pytest.approx(0.4 / channels, abs=0.01)


@pytest.mark.parametrize("name", ["wav", "flac", "mp3", "opus"])
def test_what_the_speech_service_sends_can_be_read_though_its_length_is_not_known(name: str) -> None:
    encoder = Encoder(name)
    assert is_the_tone(read(encoder.add(tone(2, 24_000)) + encoder.close()), 2)


def test_values_that_are_no_numbers_or_too_large_stay_in_bounds() -> None:
    samples = tone(1, RATE)
    samples[:4] = [np.nan, np.inf, -np.inf, 1e30]
    block = np.concatenate(read(saved(samples, RATE, "WAV", "FLOAT")))
    assert block[:4].tolist() == [0.0, 1.0, -1.0, 1.0]


def test_a_long_file_comes_in_blocks() -> None:
    blocks = read(saved(tone(65, 8_000), 8_000, "WAV", "PCM_16"))
    assert len(blocks) >= 6
    assert max(len(block) for block in blocks) <= (BLOCK_SECONDS + 1) * RATE
    assert is_the_tone(blocks, 65)


def test_an_empty_file() -> None:
    assert fault(b"").code == "sound_empty"


@pytest.mark.parametrize("data", [b"x", b"hello, I am a letter " * 50, b"\0" * 5000, b"RIFF", b"\xff" * 5000])
def test_what_is_no_sound(data: bytes) -> None:
    assert fault(data).code == "sound_unreadable"


def test_a_recording_that_is_too_long_is_refused_before_it_is_read() -> None:
    assert fault(saved(tone(12, 8_000), 8_000, "FLAC", "PCM_16"), most=10).fields == {"minutes": 0}
    with pytest.raises(VoiceError) as caught:
        open_sound(io.BytesIO(saved(tone(12, 8_000), 8_000, "WAV", "PCM_16")), 10)
    assert caught.value.code == "sound_too_long"


def test_a_recording_of_unknown_length_is_refused_once_it_is_too_long() -> None:
    encoder = Encoder("flac")
    data = encoder.add(tone(25, 24_000)) + encoder.close()
    assert fault(data, most=15).code == "sound_too_long"
    assert is_the_tone(read(data, most=26), 25)


def test_a_header_that_claims_four_gigabytes() -> None:
    data = bytearray(saved(tone(1), 48_000, "WAV", "PCM_16"))
    data[4:8] = data[40:44] = struct.pack("<I", 0xFFFFFFF0)
    assert is_the_tone(read(bytes(data)), 1)


def test_a_flac_header_that_claims_days() -> None:
    data = bytearray(saved(tone(1), 48_000, "FLAC", "PCM_16"))
    data[21:26] = bytes([data[21] | 0x0F, 0xFF, 0xFF, 0xFF, 0xFF])
    assert fault(bytes(data)).code == "sound_too_long"


@pytest.mark.parametrize("rate", [0, 1, 4_000_000_000])
def test_a_rate_that_cannot_be(rate: int) -> None:
    data = bytearray(saved(tone(1), 48_000, "WAV", "PCM_16"))
    data[24:28] = struct.pack("<I", rate)
    assert fault(bytes(data)).code in ("sound_rate", "sound_unreadable")


def test_a_thousand_channels() -> None:
    data = bytearray(saved(tone(1), 48_000, "WAV", "PCM_16"))
    data[22:24] = struct.pack("<H", 1000)
    data[32:34] = struct.pack("<H", 2000)
    assert fault(bytes(data)).code in ("sound_rate", "sound_unreadable")


@pytest.mark.parametrize(
    ("form", "subtype"),
    [("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("MP3", "MPEG_LAYER_III"), ("WAV", "PCM_16")],
)
def test_a_file_that_is_cut_or_overwritten_ends_or_is_refused(form: str, subtype: str) -> None:
    whole = saved(tone(5), 48_000, form, subtype)
    middle = len(whole) // 2
    for data in (whole[:middle], whole[:middle] + bytes(2000) + whole[middle + 2000 :], whole[:60]):
        assert seconds_or_code(data) in ("to its end", "sound_damaged", "sound_unreadable")


def seconds_or_code(data: bytes) -> str:
    try:
        blocks = read(data)
    except VoiceError as error:
        return error.code
    return "to its end" if sum(map(len, blocks)) <= 5.2 * RATE else "beyond its end"


@pytest.mark.parametrize("data", [b"", b"no sound", saved(tone(1), 48_000, "WAV", "PCM_16")])
def test_the_file_is_closed_whatever_happens(data: bytes) -> None:
    file = io.BytesIO(data)
    with contextlib.suppress(VoiceError):
        open_sound(file, MOST).close()
    assert file.closed


# --- through ffmpeg -----------------------------------------------------------------------------------


@pytest.fixture
def ffmpeg() -> str:
    program = shutil.which("ffmpeg")
    if program is None:
        missing("ffmpeg")
    assert program is not None
    return program


def converted(ffmpeg: str, folder: Path, name: str, *options: str, seconds: float = 2) -> bytes:
    source, made = folder / "source.wav", folder / name
    source.write_bytes(saved(tone(seconds), 48_000, "WAV", "PCM_16"))
    subprocess.run([ffmpeg, "-v", "error", "-y", "-i", source, *options, made], check=True)
    return made.read_bytes()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.m4a", ()),
        ("a.mp4", ("-movflags", "+faststart")),
        ("a.webm", ()),
        ("a.mka", ("-c:a", "flac")),
        ("a.aac", ()),
        ("a.wma", ()),
    ],
)
def test_forms_that_ffmpeg_reads(ffmpeg: str, tmp_path: Path, name: str, options: tuple[str, ...]) -> None:
    assert is_the_tone(read(converted(ffmpeg, tmp_path, name, *options)), 2)


def test_they_are_bounded_too(ffmpeg: str, tmp_path: Path) -> None:
    data = converted(ffmpeg, tmp_path, "a.m4a", seconds=25)
    assert fault(data, most=15).code == "sound_too_long"
    assert is_the_tone(read(data, most=26), 25)


def test_a_video_without_sound(ffmpeg: str, tmp_path: Path) -> None:
    silent = tmp_path / "silent.mp4"
    picture = ["-f", "lavfi", "-i", "color=red:s=16x16:d=1"]
    subprocess.run([ffmpeg, "-v", "error", "-y", *picture, silent], check=True)
    assert fault(silent.read_bytes()).code == "sound_trackless"


@pytest.mark.usefixtures("ffmpeg")
@pytest.mark.parametrize("head", [b"\0\0\0\x18ftypmp42", b"\x1aE\xdf\xa3", b"\xff\xf1"])
def test_what_only_begins_like_such_a_file(head: bytes) -> None:
    assert fault(head + b"and then nothing of the kind " * 100).code == "sound_trackless"


def test_ending_early_ends_the_child_and_removes_the_copy(
    ffmpeg: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = converted(ffmpeg, tmp_path, "a.m4a", seconds=120)
    place = tmp_path / "copies"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    sound = open_sound(io.BytesIO(data), MOST)
    sound.__next__()
    assert len(list(place.iterdir())) == 1
    sound.close()
    sound.close()
    assert list(place.iterdir()) == []


def test_a_list_of_files_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "secret.wav"
    other.write_bytes(saved(tone(1), 48_000, "WAV", "PCM_16"))
    listed = f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://{other}\n#EXT-X-ENDLIST\n".encode()
    for data in (listed, f"ffconcat version 1.0\nfile '{other}'\n".encode()):
        assert fault(data).code == "sound_unreadable"


def test_without_ffmpeg_the_sentence_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert fault(b"\0\0\0\x18ftypmp42" + bytes(100)).code == "sound_foreign"


@pytest.mark.parametrize("head", [b"RIFF\0\0\0\0WAVE", b"ID3\x04", b"\xff\xfb\x90", b"", b"OggS", b"fLaC"])
def test_files_that_need_no_ffmpeg(head: bytes) -> None:
    assert container(head) == ""
