"""What was measured is found again, and not for another program or another subject."""

from __future__ import annotations

from pathlib import Path

from tests.bench.kept import Kept


def test_findings_last_until_the_program_or_the_subject_changes(tmp_path: Path) -> None:
    source, path = tmp_path / "engine.py", tmp_path / "kept" / "found.jsonl"
    source.write_text("one", encoding="utf-8")
    Kept(path, "a model", [source]).put("question 1", [{"look": {"at": "ü"}}])
    path.write_text(path.read_text("utf-8") + '\n["torn', encoding="utf-8")
    again = Kept(path, "a model", [source])
    assert "question 1" in again
    assert again["question 1"] == [{"look": {"at": "ü"}}]
    assert "question 1" not in Kept(path, "another model", [source])
    again.put("question 2", [])
    assert "question 2" in Kept(path, "a model", [source])
    source.write_text("two", encoding="utf-8")
    assert "question 1" not in Kept(path, "a model", [source])
