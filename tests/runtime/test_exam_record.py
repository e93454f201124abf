"""Results of exams belong to the content of a file, survive crashes and other processes, and are kept."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from models.library import ModelFile
from runtime.errors import OrionError
from runtime.exam.exam import VERSION, Exam, Score
from runtime.exam_record import FORMAT, ExamRecord


def model(folder: Path, name: str = "model", content: bytes = b"GGUF weights", **more: object) -> ModelFile:
    path = folder / f"{name}.gguf"
    path.write_bytes(content)
    return replace(ModelFile(name, path, len(content), parts=(path,)), **more)  # type: ignore[arg-type]


def exam(record: ExamRecord, file: ModelFile, **states: str) -> Exam:
    scores = {name: Score(8, 10, 1.5, state) for name, state in states.items()}  # type: ignore[arg-type]
    return Exam(record.key(file), "0.3", 1000.0, 60.0, False, scores, 20.0, 100.0)  # type: ignore[arg-type]


def test_a_stored_exam_is_found_again_by_another_process(tmp_path: Path) -> None:
    file, record = model(tmp_path), ExamRecord(tmp_path / "exams.json")
    assert record.of(file) is None
    made = record.put(exam(record, file, instructions="passed", tools="failed"))
    assert record.of(file) == made
    assert ExamRecord(tmp_path / "exams.json").of(file) == made


def test_it_is_the_content_that_was_examined_not_the_name(tmp_path: Path) -> None:
    file, record = model(tmp_path), ExamRecord(tmp_path / "exams.json")
    record.put(exam(record, file, tools="passed"))
    moved = replace(file, name="another", path=file.path.rename(tmp_path / "other.gguf"))
    moved = replace(moved, parts=(moved.path,))
    assert record.of(moved) is not None
    changed = model(tmp_path, content=b"GGUF weighty")
    assert record.of(changed) is None


@pytest.mark.parametrize("place", [0, 1 << 20, (3 << 20) - 1])
def test_a_change_at_either_end_is_seen(tmp_path: Path, place: int) -> None:
    content = bytearray(3 << 20)
    file, record = model(tmp_path, content=bytes(content)), ExamRecord(tmp_path / "exams.json")
    before = record.key(file)
    content[place] = 1
    file.path.write_bytes(bytes(content))
    os.utime(file.path, ns=(1, 1))
    assert (record.key(file) != before) == (place != 1 << 20)


def test_parts_and_projector_belong_to_the_model(tmp_path: Path) -> None:
    file, record = model(tmp_path), ExamRecord(tmp_path / "exams.json")
    eyes = tmp_path / "mmproj.gguf"
    eyes.write_bytes(b"GGUF eyes")
    assert record.key(replace(file, projector=eyes)) != record.key(file)
    assert record.key(replace(file, parts=(file.path, eyes))) != record.key(file)


def test_results_of_other_questions_do_not_count(tmp_path: Path) -> None:
    file, record = model(tmp_path), ExamRecord(tmp_path / "exams.json")
    record.put(replace(exam(record, file, tools="passed"), version=VERSION + 1))
    assert record.of(file) is None


def test_an_exam_that_ended_early_takes_nothing_away(tmp_path: Path) -> None:
    file, record = model(tmp_path), ExamRecord(tmp_path / "exams.json")
    record.put(exam(record, file, instructions="passed", tools="passed", json="failed"))
    cut = replace(
        exam(record, file, instructions="failed", tools="not_taken", json="not_taken"), prefill_per_second=0.0
    )
    now = record.put(cut)
    assert {name: score.state for name, score in now.scores.items()} == {
        "instructions": "failed",
        "tools": "passed",
        "json": "failed",
    }
    assert now.prefill_per_second == 100.0
    assert record.of(file) == now


def test_a_damaged_file_counts_as_empty_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "exams.json"
    file, record = model(tmp_path), ExamRecord(path)
    for damage in ("{", "[]", '{"v": 1}', '{"v": 1, "exams": [{"scores": 3}]}', "\ufffd"):
        path.write_text(damage, "utf-8")
        assert record.of(file) is None
        assert [code for code, _ in record.notices()] == ["exams_unreadable"]
    record.put(exam(record, file, tools="passed"))
    assert record.notices() == []
    assert record.of(file) is not None


def test_a_newer_file_is_left_untouched(tmp_path: Path) -> None:
    path = tmp_path / "exams.json"
    path.write_text(json.dumps({"v": FORMAT + 1, "exams": "otherwise"}), "utf-8")
    before = path.read_bytes()
    file, record = model(tmp_path), ExamRecord(path)
    assert record.of(file) is None
    with pytest.raises(OrionError, match="format_newer"):
        record.put(exam(record, file, tools="passed"))
    assert path.read_bytes() == before


def test_two_processes_keep_what_the_other_wrote(tmp_path: Path) -> None:
    one, two = ExamRecord(tmp_path / "exams.json"), ExamRecord(tmp_path / "exams.json")
    first, second = model(tmp_path, "first", b"GGUF 1"), model(tmp_path, "second", b"GGUF 2")
    one.put(exam(one, first, tools="passed"))
    two.put(exam(two, second, tools="failed"))
    assert one.of(first) is not None
    assert one.of(second) is not None


def test_a_missing_model_and_an_unwritable_place_are_errors(tmp_path: Path) -> None:
    record = ExamRecord(tmp_path / "exams.json")
    file = model(tmp_path)
    made = exam(record, file, tools="passed")
    with pytest.raises(OrionError, match="model_file_missing"):
        record.key(replace(file, parts=(tmp_path / "gone.gguf",)))
    (tmp_path / "plain").write_text("")
    with pytest.raises(OrionError, match="file_unwritable"):
        ExamRecord(tmp_path / "plain" / "exams.json").put(made)


def test_the_row_for_doors_is_plain(tmp_path: Path) -> None:
    record = ExamRecord(tmp_path / "exams.json")
    made = exam(record, model(tmp_path), instructions="passed", tools="passed", elements="failed")
    row = json.loads(json.dumps(made.as_row()))
    assert row["badges"] == ["instructions", "tools"]
    assert row["roles"] == ["chat", "tools"]
    assert row["scores"]["elements"] == {
        "points": 8,
        "of": 10,
        "seconds": 1.5,
        "state": "failed",
        "code": "",
        "fields": {},
    }
