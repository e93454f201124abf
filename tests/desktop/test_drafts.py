"""Drafts are on the disk soon after typing, whole, and private ones never."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from desktop.drafts import Drafts


def test_a_draft_is_written_without_being_asked(qtbot: QtBot, tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "drafts")
    drafts.put("s1", "half a thought")
    qtbot.waitUntil(lambda: (tmp_path / "drafts" / "s1.txt").exists())
    assert Drafts(tmp_path / "drafts").get("s1") == "half a thought"


def test_odd_characters_come_back_unchanged(qtbot: QtBot, tmp_path: Path) -> None:
    del qtbot
    text = "nul \0 lone \ud800 right \u202eto left \r\n tab\t"
    drafts = Drafts(tmp_path)
    drafts.put("s1", text)
    assert drafts.get("s1") == text
    drafts.flush()
    assert Drafts(tmp_path).get("s1") == text


def test_sending_deletes_the_draft(qtbot: QtBot, tmp_path: Path) -> None:
    del qtbot
    drafts = Drafts(tmp_path)
    drafts.put("s1", "x")
    drafts.flush()
    drafts.put("s1", "")
    drafts.flush()
    assert drafts.get("s1") == ""
    assert list(tmp_path.iterdir()) == []


def test_a_private_draft_stays_in_memory(qtbot: QtBot, tmp_path: Path) -> None:
    del qtbot
    drafts = Drafts(tmp_path)
    drafts.keep_in_memory("private")
    drafts.put("private", "secret")
    drafts.flush()
    assert drafts.get("private") == "secret"
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_refuses_keeps_the_draft_in_memory(qtbot: QtBot, tmp_path: Path) -> None:
    del qtbot
    (tmp_path / "drafts").write_text("a file where the folder should be")
    drafts = Drafts(tmp_path / "drafts")
    drafts.put("s1", "kept")
    drafts.flush()
    assert drafts.get("s1") == "kept"


def test_a_name_cannot_leave_the_folder(qtbot: QtBot, tmp_path: Path) -> None:
    del qtbot
    drafts = Drafts(tmp_path / "drafts")
    drafts.put("../../outside", "x")
    drafts.flush()
    assert [path.parent.name for path in tmp_path.rglob("*.txt")] == ["drafts"]
