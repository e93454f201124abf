"""A sound file of any common format is read a piece at a time, as one channel at 16,000 samples a second."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from voice.errors import VoiceError
from voice.resample import Resampler
from voice.services.foreign_sound import ForeignSound, container
from voice.sound import RATE

if TYPE_CHECKING:
    import soundfile

    from voice.sound import Samples

BLOCK_SECONDS = 10
_SLOWEST, _FASTEST = 1_000, 768_000
"""Samples a second of files that hold sound; beyond them a header is wrong."""

_CHANNELS = 32
_MOST_FRAMES = 2**40
"""What libsndfile gives beyond this means that the length is not known before the end."""


class SoundFile:
    """Reads what libsndfile reads: WAV, FLAC, Ogg with Vorbis or Opus, MP3, AIFF and more (Steps).

    Items are mono float32 in [-1, 1] at RATE, about BLOCK_SECONDS long, until the sound ends. Takes over
    `file`, which `close` closes. Raises VoiceError for a file that is no sound, damaged, or longer than
    `most` seconds.
    """

    def __init__(self, file: IO[bytes], most: float) -> None:
        import soundfile

        self._file = file
        self._most = most
        self._read = 0
        self._ended = False
        try:
            self._sound = _straight(file)
        except soundfile.LibsndfileError as error:
            raise VoiceError("sound_unreadable", reason=error.error_string.strip(" .")) from None
        rate, channels, frames = self._sound.samplerate, self._sound.channels, self._sound.frames
        try:
            self._check(rate, channels, frames)
        except VoiceError:
            self._sound.close()
            raise
        self._resampler = Resampler(rate, RATE)

    def __next__(self) -> Samples:
        if self._ended:
            raise StopIteration
        block = self._block()
        self._ended = len(block) == 0
        return self._resampler.feed(block, last=self._ended)

    def close(self) -> None:
        """Close the file."""
        self._ended = True
        self._sound.close()
        self._file.close()

    def _check(self, rate: int, channels: int, frames: int) -> None:
        if not (_SLOWEST <= rate <= _FASTEST and 1 <= channels <= _CHANNELS):
            raise VoiceError("sound_rate", rate=rate, channels=channels)
        if frames < _MOST_FRAMES:
            self._bound(frames / rate)

    def _bound(self, seconds: float) -> None:
        if seconds > self._most:
            raise VoiceError("sound_too_long", minutes=round(self._most / 60))

    def _block(self) -> Samples:
        """The next samples as one channel, none at the end; what is no number counts as silence."""
        import numpy as np
        import soundfile

        rate = self._sound.samplerate
        try:
            channels = self._sound.read(rate * BLOCK_SECONDS, dtype="float32", always_2d=True)
        except soundfile.LibsndfileError:
            raise VoiceError("sound_damaged", seconds=round(self._read / rate)) from None
        self._read += len(channels)
        self._bound(self._read / rate)
        mono = channels[:, 0] if channels.shape[1] == 1 else channels.mean(axis=1)
        sound: Samples = np.nan_to_num(mono, nan=0.0, posinf=1.0, neginf=-1.0).clip(-1.0, 1.0)
        return sound


def _straight(file: IO[bytes]) -> soundfile.SoundFile:
    """`file`, read from its beginning to its end without seeking: FLAC of unknown length bears none."""
    import soundfile

    class Straight(soundfile.SoundFile):  # type: ignore[misc]
        def seekable(self) -> bool:
            return False

    return Straight(_Steady(file))


class _Steady:
    """`file` as libsndfile sees it: a broken header that sends it before the beginning moves nothing."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        try:
            return self._file.seek(offset, whence)
        except (ValueError, OSError):
            return self._file.tell()

    def tell(self) -> int:
        return self._file.tell()


def open_sound(file: IO[bytes], most: float) -> SoundFile | ForeignSound:
    """The reader of `file`, which takes it over; raises VoiceError, and then `file` is closed."""
    try:
        head = file.read(64)
        if not head:
            raise VoiceError("sound_empty")
        file.seek(0)
        if kind := container(head):
            return ForeignSound(file, kind, most)
        return SoundFile(file, most)
    except VoiceError:
        file.close()
        raise
