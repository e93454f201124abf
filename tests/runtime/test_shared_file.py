"""SharedFile: read again after a change, changed by one at a time, never overwritten unread."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from runtime import shared_file
from runtime.errors import OrionError
from runtime.locks import Lock
from runtime.shared_file import SharedFile


class Names(BaseModel):
    """What the file holds here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = 1
    names: tuple[str, ...] = ()


def opened(folder: Path) -> SharedFile[Names]:
    return SharedFile(folder / "names.yaml", Names, 1)


def test_without_a_file_the_defaults_hold_and_nothing_is_made(tmp_path: Path) -> None:
    file = opened(tmp_path)
    assert file.read() == Names()
    assert file.signature() is None
    assert file.notices() == []
    assert list(tmp_path.iterdir()) == []


def test_a_change_by_one_is_seen_by_the_other(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    one.change(lambda found: {"names": [*found.names, "a"]})
    before = other.signature()
    assert other.read().names == ("a",)
    assert other.read() is other.read()
    other.change(lambda found: {"names": [*found.names, "b"]})
    assert one.read().names == ("a", "b")
    assert one.signature() != before


def test_a_file_that_stays_locked_is_said_to_be_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_file, "PATIENCE", 0.0)
    held = Lock(tmp_path / ".names.yaml.lock", "another", "file_busy")
    with pytest.raises(OrionError) as busy:
        opened(tmp_path).change(lambda found: {"names": ["a"]})
    assert busy.value.code == "file_busy"
    held.release()
    opened(tmp_path).change(lambda found: {"names": ["a"]})
    assert opened(tmp_path).read().names == ("a",)


@pytest.mark.parametrize(
    ("text", "code"),
    [("version: 2\n", "format_newer"), ("names: {{\n", "yaml_syntax"), ("nmaes: []\n", "yaml_unknown_key")],
)
def test_what_is_not_understood_is_a_notice_and_left_alone(tmp_path: Path, text: str, code: str) -> None:
    file = opened(tmp_path)
    file.path.write_text(text, "utf-8")
    assert [found for found, _fields in file.notices()] == [code]
    with pytest.raises(OrionError):
        file.change(lambda found: {"names": ["a"]})
    assert file.path.read_text("utf-8") == text


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(OrionError) as fault:
        opened(tmp_path / "file").change(lambda found: {})
    assert fault.value.code == "file_unwritable"
