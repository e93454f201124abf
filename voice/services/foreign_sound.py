"""MP4, M4A, WebM and their kin are read through the program ffmpeg, if it is here, as a bounded child."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING

from voice.errors import VoiceError
from voice.sound import RATE
from voice.tts.program import NO_WINDOW, child_environment

if TYPE_CHECKING:
    from voice.sound import Samples

_BLOCK = RATE * 10
_SAMPLE_BYTES = 4
_PATIENCE = 30.0
"""Seconds in which the child has to bring the next ten seconds of sound."""

_MP4_BOXES = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")


def container(head: bytes) -> str:
    """The ffmpeg reader for a file that begins with `head`, "" for one that is not of these formats.

    Naming the reader keeps a file from being taken for a list of other files to open.
    """
    if head[4:8] in _MP4_BOXES:
        return "mov"
    if head.startswith(b"\x1aE\xdf\xa3"):
        return "matroska"
    if head.startswith(b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"):
        return "asf"
    if head.startswith(b"#!AMR"):
        return "amr"
    adts = len(head) > 1 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0
    return "aac" if adts else ""


class ForeignSound:
    """The first sound track of `file` (Steps): mono float32 in [-1, 1] at 16,000 samples a second.

    Takes over `file`. `close` ends the child and removes its copy of the file. Raises VoiceError where
    ffmpeg is missing or finds no sound, for a damaged file, and for one longer than `most` seconds.
    """

    def __init__(self, file: IO[bytes], kind: str, most: float) -> None:
        program = shutil.which("ffmpeg")
        if program is None:
            raise VoiceError("sound_foreign")
        self._most = most
        self._read = 0
        self._file = file
        self._folder = tempfile.TemporaryDirectory(prefix="orion-sound-")
        copy = Path(self._folder.name) / "sound"
        with copy.open("wb") as written:
            shutil.copyfileobj(file, written)
        try:
            self._child = subprocess.Popen(
                _command(program, kind, copy, most),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._folder.name,
                env=child_environment() | {"ORION_VOICE_TOKEN": ""},
                creationflags=NO_WINDOW,
            )
        except OSError:
            self._folder.cleanup()
            raise VoiceError("sound_foreign") from None
        assert self._child.stdout is not None
        self._out = self._child.stdout

    def __next__(self) -> Samples:
        import numpy as np

        block = self._block()
        if not block:
            self._judge()
            raise StopIteration
        samples = np.frombuffer(block, "<f4", len(block) // _SAMPLE_BYTES)
        self._read += len(samples)
        if self._read > self._most * RATE:
            raise VoiceError("sound_too_long", minutes=round(self._most / 60))
        sound: Samples = np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0).clip(-1.0, 1.0)
        return sound

    def close(self) -> None:
        """End the child; may be called twice."""
        self._child.kill()
        self._child.wait()
        self._out.close()
        self._file.close()
        self._folder.cleanup()

    def _block(self) -> bytes:
        """The next bytes, none at the end; a child that brings nothing in time is ended."""
        watch = threading.Timer(_PATIENCE, self._child.kill)
        watch.name = "voice-ffmpeg-watch"
        watch.start()
        try:
            return self._out.read(_BLOCK * _SAMPLE_BYTES)
        finally:
            watch.cancel()
            watch.join()

    def _judge(self) -> None:
        """Raise VoiceError unless the child ended well."""
        if self._child.wait(_PATIENCE) == 0:
            return
        if self._read:
            raise VoiceError("sound_damaged", seconds=self._read // RATE)
        raise VoiceError("sound_trackless")


def _command(program: str, kind: str, copy: Path, most: float) -> list[str]:
    """The command line: one reader, one file, no network, one thread, a bounded piece of memory at a time."""
    bounds = ["-nostdin", "-v", "quiet", "-threads", "1", "-max_alloc", str(256 * 2**20)]
    read = ["-protocol_whitelist", "file", "-f", kind, "-i", f"file:{copy}"]
    chosen = ["-map", "0:a:0", "-vn", "-sn", "-dn", "-t", f"{most + 1:.0f}"]
    return [program, *bounds, *read, *chosen, "-ac", "1", "-ar", str(RATE), "-f", "f32le", "pipe:1"]
