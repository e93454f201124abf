"""States of conversations on disk, so that a long one opened again is not evaluated again.

A file is MAGIC, a CRC-32, the length of a JSON header, the header, then text, tokens, joints, turns and
the state of the native library. The sum covers all from the header on. It is a cache: whatever does not
fit is removed, and the conversation is evaluated as if it had never been there.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import shutil
import sys
import zlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from models.transcript import Transcript

MAGIC = b"orion state 1\n"
_ENDING = ".state"
_PART = ".part"
_SPARE = 1 << 30
"""Bytes of the disk that a state never takes."""

_SAMPLES = 64
_SAMPLE = 4096


@dataclass(frozen=True, slots=True)
class Stored:
    """A conversation as it was: `state` is what the native library takes back."""

    transcript: Transcript
    state: ctypes.Array[ctypes.c_char]


class StateStore:
    """States in `folder`, at most `limit` bytes of them, the least recently used removed first.

    `fingerprint` names everything that a state depends on; states of another one are never read. Several
    processes may use one folder. Failures of the disk make a state be missing and are never raised.
    """

    def __init__(self, folder: Path, limit: int, fingerprint: str) -> None:
        self._folder = folder
        self._limit = limit
        self._fingerprint = fingerprint

    def save(self, session: str, transcript: Transcript, state: ctypes.Array[ctypes.c_char]) -> bool:
        """Keep what is evaluated of `transcript`; whether that could be done."""
        pieces = _pack(transcript)
        needed = len(state) + sum(map(len, pieces))
        path = self._path(session)
        part = path.with_name(f"{path.stem}-{os.getpid()}{_PART}")
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if needed > self._limit or shutil.disk_usage(self._folder).free < needed + _SPARE:
                return False
            self._sweep(self._limit - needed, path)
            header = self._header(session, pieces, len(state))
            with open(part, "wb", opener=_private) as file:
                _write(file, [header, *pieces, memoryview(state)])
            os.replace(part, path)
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            return False
        return True

    def load(self, session: str) -> Stored | None:
        """What is kept of `session`, now the most recently used; a damaged or foreign file is removed."""
        path = self._path(session)
        try:
            with path.open("rb") as file:
                found = self._read(file, session)
            os.utime(path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, MemoryError):
            found = None
        if found is None:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        return found

    def remove(self, session: str) -> None:
        """Forget what is kept of `session`, whatever model it was for."""
        remove_states(self._folder, session)

    def _path(self, session: str) -> Path:
        return self._folder / f"{_name(session)}-{self._fingerprint[:16]}{_ENDING}"

    def _header(self, session: str, pieces: list[bytes], size: int) -> bytes:
        told = {
            "session": _name(session),
            "fingerprint": self._fingerprint,
            "lengths": [len(piece) for piece in pieces],
            "state": size,
        }
        return json.dumps(told).encode("ascii")

    def _read(self, file: BinaryIO, session: str) -> Stored | None:
        size = os.fstat(file.fileno()).st_size
        if file.read(len(MAGIC)) != MAGIC:
            return None
        checksum, length = _number(file), _number(file)
        header = file.read(min(length, size))
        told = json.loads(header)
        lengths, state_size = [int(length) for length in told["lengths"]], int(told["state"])
        whole = len(MAGIC) + 8 + length + sum(lengths) + state_size
        if told["fingerprint"] != self._fingerprint or told["session"] != _name(session) or whole != size:
            return None
        pieces = [file.read(count) for count in lengths]
        state = ctypes.create_string_buffer(state_size)
        if file.readinto(memoryview(state).cast("B")) != state_size:  # type: ignore[attr-defined]
            return None
        if _checksum([header, *pieces, memoryview(state)]) != checksum:
            return None
        return Stored(_unpack(pieces), state)

    def _sweep(self, room: int, spared: Path) -> None:
        """Remove what was left half-written, and old states until the others take at most `room` bytes."""
        states: list[tuple[int, int, Path]] = []
        for path in self._folder.iterdir():
            with contextlib.suppress(OSError):
                status = path.stat()
                if path.suffix == _ENDING and path != spared:
                    states.append((status.st_mtime_ns, status.st_size, path))
                elif path.suffix == _PART and not _alive(path):
                    path.unlink()
        taken = sum(size for _, size, _ in states)
        for _, size, path in sorted(states):
            if taken <= room:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            taken -= size


def remove_states(folder: Path, session: str) -> None:
    """Remove every state of `session` in `folder`, whatever model it was for."""
    for path in _states_of(folder, session):
        with contextlib.suppress(OSError):
            path.unlink()


def fingerprint(files: Sequence[Path], *facts: object) -> str:
    """Names a model by sizes, beginnings and samples of its `files` (all parts), together with `facts`.

    Reading all of it would take seconds; a file that differs elsewhere only is not made by accident.
    """
    digest = hashlib.sha256(repr((MAGIC, sys.byteorder, facts)).encode())
    for path in files:
        size = path.stat().st_size
        digest.update(str(size).encode())
        with path.open("rb") as file:
            digest.update(file.read(1 << 20))
            for at in range(_SAMPLES):
                file.seek(size * at // _SAMPLES)
                digest.update(file.read(_SAMPLE))
            file.seek(max(0, size - _SAMPLE))
            digest.update(file.read(_SAMPLE))
    return digest.hexdigest()


def _name(session: str) -> str:
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _states_of(folder: Path, session: str) -> Iterator[Path]:
    yield from folder.glob(f"{_name(session)}-*{_ENDING}")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _alive(part: Path) -> bool:
    """Whether the process that writes `part` still runs."""
    import psutil

    number = part.stem.rpartition("-")[2]
    return number.isdigit() and psutil.pid_exists(int(number))


def _number(file: BinaryIO) -> int:
    return int.from_bytes(file.read(4), "little")


def _write(file: BinaryIO, pieces: list[Any]) -> None:
    """`pieces` are the header and what follows it."""
    file.write(MAGIC)
    file.write(_checksum(pieces).to_bytes(4, "little"))
    file.write(len(pieces[0]).to_bytes(4, "little"))
    for piece in pieces:
        file.write(piece)


def _checksum(pieces: list[Any]) -> int:
    found = 0
    for piece in pieces:
        found = zlib.crc32(piece, found)
    return found


def _pack(transcript: Transcript) -> list[bytes]:
    """Tokens, text, joints (text and token places) and turns of the evaluated part."""
    held = transcript.held
    joints = sum(place <= held for place in transcript.token_joints)
    text = transcript.text[: transcript.text_joints[joints - 1]] if joints else b""
    turns = [turn for turn in transcript.turns if turn < joints]
    numbers = (
        transcript.tokens[:held],
        transcript.text_joints[:joints],
        transcript.token_joints[:joints],
        turns,
    )
    return [bytes(text), *(array("q", row).tobytes() for row in numbers)]


def _unpack(pieces: list[bytes]) -> Transcript:
    text, *rows = pieces
    tokens, text_joints, token_joints, turns = ([*_array(row)] for row in rows)
    if len(text_joints) != len(token_joints):
        raise ValueError("joints come in pairs")
    return Transcript(tokens, bytearray(text), len(tokens), text_joints, token_joints, turns)


def _array(row: bytes) -> array[int]:
    numbers = array("q")
    numbers.frombytes(row)
    return numbers
