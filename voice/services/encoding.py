"""Speech becomes a file of a common format while it is still being made."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voice.sound import Samples


RATE = 24_000
"""Samples a second of everything that is sent."""

MEDIA_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}
"""The formats of OpenAI's interface."""

_UNKNOWN = 0xFFFFFFFF
"""Stands for the size of a WAV file that is not finished, as in OpenAI's own."""

_WRITTEN: dict[str, dict[str, Any]] = {
    # 80 kbit/s, the same for every frame, so that players know the length from the size.
    "mp3": {
        "format": "MP3",
        "subtype": "MPEG_LAYER_III",
        "compression_level": 0.5,
        "bitrate_mode": "CONSTANT",
    },
    "opus": {"format": "OGG", "subtype": "OPUS", "compression_level": 0.8},
    "flac": {"format": "FLAC", "subtype": "PCM_16"},
}


class Encoder:
    """Turns mono float32 samples at RATE into the bytes of one file; belongs to one thread at a time.

    `close` must be called, also when nothing was added; it gives the last bytes.
    """

    def __init__(self, name: str) -> None:
        self._sink = _Sink()
        self._file: Any = None
        self._head = _wav_head() if name == "wav" else b""
        if written := _WRITTEN.get(name):
            import soundfile

            self._file = soundfile.SoundFile(self._sink, "w", RATE, 1, **written)

    def add(self, samples: Samples) -> bytes:
        """The bytes that are complete with `samples`."""
        head, self._head = self._head, b""
        if self._file is None:
            return head + _pcm(samples)
        self._file.write(samples)
        return self._sink.take()

    def close(self) -> bytes:
        """What is left; may be called twice."""
        head, self._head = self._head, b""
        if self._file is not None:
            self._file.close()
        return head + self._sink.take()


class _Sink:
    """A file of which only the end is kept: what libsndfile corrects in its beginning was sent already."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._sent = 0
        self._at = 0

    def write(self, data: Any) -> int:
        piece = bytes(data)
        if (start := self._at - self._sent) >= 0:
            self._kept[start : start + len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._sent + len(self._kept))[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def take(self) -> bytes:
        piece = bytes(self._kept)
        self._sent += len(piece)
        self._kept.clear()
        return piece


def _wav_head() -> bytes:
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, RATE, RATE * 2, 2, 16)
    return struct.pack("<4sI4s", b"RIFF", _UNKNOWN, b"WAVE") + form + struct.pack("<4sI", b"data", _UNKNOWN)


def _pcm(samples: Samples) -> bytes:
    scaled = (samples.clip(-1.0, 1.0) * 32767.0).round()
    return scaled.astype("<i2").tobytes()
