"""States on disk: what comes back, what is refused and removed, and how much is kept."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from models.state_store import StateStore, fingerprint, remove_states
from models.transcript import Transcript

STATE = b"the state of a native library" * 100


def transcript() -> Transcript:
    """Four tokens planned, three of them evaluated."""
    return Transcript([1, 2, 3, 4], bytearray(b"abcdefgh"), 3, [2, 6, 8], [1, 3, 4], [0, 2])


def state(data: bytes = STATE) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(data, len(data))


def store(folder: Path, limit: int = 1 << 20, name: str = "f" * 64) -> StateStore:
    return StateStore(folder, limit, name)


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_what_is_evaluated_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "states"
    assert store(folder).load("a") is None
    assert store(folder).save("a", transcript(), state())
    found = store(folder).load("a")
    assert found is not None
    assert found.state.raw == STATE
    assert found.transcript == Transcript([1, 2, 3], bytearray(b"abcdef"), 3, [2, 6], [1, 3], [0])
    assert store(folder).load("b") is None
    if os.name == "posix":
        assert files(folder)[0].stat().st_mode & 0o077 == 0


def test_a_state_of_another_model_is_not_read(tmp_path: Path) -> None:
    store(tmp_path).save("a", transcript(), state())
    assert store(tmp_path, name="e" * 64).load("a") is None
    assert store(tmp_path).load("a") is not None
    assert store(tmp_path, name="f" * 63 + "e").load("a") is None
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"something else entirely",
        lambda data: data[:-1],
        lambda data: data + b"more",
        lambda data: data[:-500] + bytes([data[-500] ^ 1]) + data[-499:],
        lambda data: data[:18] + b"\xff\xff\xff\xff" + data[22:],
        lambda data: data.replace(b'"lengths": [', b'"lengths": [-', 1),
    ],
)
def test_a_damaged_or_foreign_file_is_removed(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    store(tmp_path).save("a", transcript(), state())
    (file,) = files(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    assert store(tmp_path).load("a") is None
    assert files(tmp_path) == []


def test_the_least_recently_used_state_makes_room(tmp_path: Path) -> None:
    kept = store(tmp_path, limit=4 * len(STATE))
    for age, name in enumerate("abc"):
        assert kept.save(name, transcript(), state())
        for file in files(tmp_path):
            os.utime(file, ns=(age, file.stat().st_mtime_ns if age else 0))
    for at, name in enumerate("abc"):
        (path,) = tmp_path.glob(f"{kept._path(name).name}")
        os.utime(path, (at, at))
    assert kept.load("a") is not None
    assert kept.save("d", transcript(), state())
    assert [name for name in "abcd" if kept.load(name)] == ["a", "c", "d"]
    assert not kept.save("e", transcript(), state(STATE * 5))
    assert [name for name in "abcd" if kept.load(name)] == ["a", "c", "d"]


def test_what_a_dead_writer_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "0123-999999999.part"
    mine = tmp_path / f"0123-{os.getpid()}.part"
    for path in (left, mine):
        path.write_bytes(b"half")
    assert store(tmp_path).save("a", transcript(), state())
    assert not left.exists()
    assert mine.exists()


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    kept = store(tmp_path / "file")
    assert not kept.save("a", transcript(), state())
    assert kept.load("a") is None


def test_a_session_is_forgotten_for_every_model(tmp_path: Path) -> None:
    for name in ("e" * 64, "f" * 64):
        store(tmp_path, name=name).save("a", transcript(), state())
        store(tmp_path, name=name).save("b", transcript(), state())
    remove_states(tmp_path, "a")
    assert len(files(tmp_path)) == 2
    assert store(tmp_path).load("a") is None
    assert store(tmp_path).load("b") is not None
    remove_states(tmp_path / "nowhere", "a")


def test_a_fingerprint_tells_models_and_settings_apart(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(os.urandom(1 << 20))
    first = fingerprint([model], "build 1")
    assert first == fingerprint([model], "build 1") != fingerprint([model], "build 2")
    data = bytearray(model.read_bytes())
    data[-1] ^= 1
    model.write_bytes(data)
    assert fingerprint([model], "build 1") != first
