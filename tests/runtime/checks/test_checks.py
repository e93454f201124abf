"""Each check says what it found, and names what is broken."""

from __future__ import annotations

import hashlib
import json
import socket
from pathlib import Path

import pytest

from runtime.checks import extras, graphics, machine, model, program
from runtime.checks.check import Check
from runtime.paths import Home, find_home


@pytest.fixture
def home(fresh_home: Path) -> Home:
    place = find_home(fresh_home)
    place.create()
    return place


def test_a_good_house_is_good(home: Home) -> None:
    checks = [
        machine.python(),
        machine.processor(),
        machine.memory(),
        machine.qt(),
        program.home(home),
        program.disk(home),
        program.workspace(home),
        program.settings(home),
        *program.profiles(home),
        *program.sessions(home),
    ]
    assert [check for check in checks if check.status != "ok"] == []
    assert all(check.what for check in checks)


def test_a_home_that_cannot_be_written_fails(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    check = program.home(Home(tmp_path / "file" / "home", tmp_path))
    assert check.status == "fail"
    assert str(tmp_path / "file") in check.what
    assert "ORION_HOME" in check.mend


def test_a_bad_setting_is_named_with_file_and_line(home: Home) -> None:
    home.settings_file.write_text("version: 1\nagent:\n  profil: orion-local\n")
    check = program.settings(home)
    assert check.status == "fail"
    assert f"{home.settings_file}, line 3" in check.what
    assert "profile" in check.what


def test_a_bad_profile_is_named_and_the_others_stay(home: Home) -> None:
    (home.profiles / "mine.yaml").write_text("name: mine\nprovider: local\nmodel: x\ntemperatur: 1\n")
    good, bad = program.profiles(home)
    assert "orion-local" in good.what
    assert (good.status, bad.status) == ("ok", "warn")
    assert "mine.yaml, line 4" in bad.what


def test_a_bad_journal_is_named_and_left_alone(home: Home) -> None:
    record = {"v": 1, "id": "a", "parent": None, "time": 1.0, "type": "session", "title": "x"}
    lines = json.dumps(record) + "\nnot json\n"
    (home.sessions / "good.jsonl").write_text(json.dumps(record) + "\n")
    (home.sessions / "bad.jsonl").write_text(lines)
    (home.sessions / "newer.jsonl").write_text(json.dumps(record | {"v": 99}) + "\n")
    good, bad, newer = program.sessions(home)
    assert good.what == "1 can be read"
    assert "bad.jsonl has bad records in line 2" in bad.what
    assert "newer version" in newer.what
    assert (home.sessions / "bad.jsonl").read_text() == lines
    assert not list(home.sessions.glob("*.bad"))


def _weights(folder: Path, content: bytes, size: int | None = None) -> list[Check]:
    entry = {
        "name": "tiny.gguf",
        "size": size or len(b"weights"),
        "sha256": hashlib.sha256(b"weights").hexdigest(),
    }
    (folder / "weights.lock").write_text(json.dumps({"version": 1, "weights": [entry]}))
    (folder / "tiny.gguf").write_bytes(content)
    return model.bundled(folder / "weights.lock", folder)


def test_weights_are_checked_by_size_and_digest(tmp_path: Path) -> None:
    assert [check.status for check in _weights(tmp_path, b"weights")] == ["ok"]
    (short,) = _weights(tmp_path, b"weight")
    assert (short.status, "6 bytes instead of 7" in short.what) == ("fail", True)
    (changed,) = _weights(tmp_path, b"WEIGHTS")
    assert (changed.status, "SHA-256" in changed.what) == ("fail", True)
    (tmp_path / "tiny.gguf").unlink()
    (gone,) = model.bundled(tmp_path / "weights.lock", tmp_path)
    assert (gone.status, "tiny.gguf" in gone.what) == ("fail", True)


def test_files_of_one_folder_are_one_check(tmp_path: Path) -> None:
    (tmp_path / "whisper-tiny.en").mkdir()
    entries = []
    for name in ("config.json", "model.bin"):
        (tmp_path / "whisper-tiny.en" / name).write_bytes(b"x" * 1_000_000)
        digest = hashlib.sha256(b"x" * 1_000_000).hexdigest()
        entries.append({"name": f"whisper-tiny.en/{name}", "size": 1_000_000, "sha256": digest})
    (tmp_path / "weights.lock").write_text(json.dumps({"version": 1, "weights": entries}))
    (whole,) = model.bundled(tmp_path / "weights.lock", tmp_path)
    assert whole.what == "the recogniser (tiny.en), 2 MB, SHA-256 as listed"
    (tmp_path / "whisper-tiny.en" / "model.bin").write_bytes(b"")
    (damaged,) = model.bundled(tmp_path / "weights.lock", tmp_path)
    assert (damaged.status, "model.bin" in damaged.what) == ("fail", True)


def test_the_bundled_model_answers() -> None:
    check = model.engine()
    assert check.status == "ok", check.what


def test_a_file_that_is_no_model_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"this is no model")
    check = model.engine(file)
    assert check.status == "fail"
    assert "broken.gguf" in check.what


def test_a_display_is_looked_for_where_it_would_be(tmp_path: Path) -> None:
    assert machine.display({}).status == "warn"
    assert machine.display({"DISPLAY": ":4711"}).status == "warn"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "wayland-9"))
        server.listen()
        found = machine.display({"WAYLAND_DISPLAY": "wayland-9", "XDG_RUNTIME_DIR": str(tmp_path)})
    assert (found.status, found.what) == ("ok", "Wayland wayland-9")


def test_parts_to_come_are_looked_for_and_missed_politely(tmp_path: Path) -> None:
    nothing = {"XDG_RUNTIME_DIR": str(tmp_path)}
    for check in (extras.keyring({}), extras.audio(nothing, tmp_path / "cards")):
        assert check.status == "warn"
        assert "not set up yet" in check.what
        assert check.mend.startswith("Only needed for")


def test_sound_is_found(tmp_path: Path) -> None:
    (tmp_path / "cards").write_text(
        " 0 [PCH            ]: HDA-Intel - HDA Intel PCH\n   HDA Intel PCH at 0xa1\n"
    )
    assert extras.audio({}, tmp_path / "cards").what == "HDA-Intel - HDA Intel PCH"
    (tmp_path / "pulse").mkdir()
    (tmp_path / "pulse" / "native").touch()
    assert extras.audio({"XDG_RUNTIME_DIR": str(tmp_path)}).status == "ok"


def test_a_machine_without_a_usable_card_is_told_so() -> None:
    check = graphics.graphics()
    if check.status == "ok":
        assert "tokens/s" in check.what
    else:
        assert check.status == "warn"
        assert "graphics card" in check.what
        assert check.mend
