"""The log is JSON lines, bounded, without secrets and without what was said."""

from __future__ import annotations

import json
import logging
import threading
from multiprocessing import get_context
from pathlib import Path

from runtime import events, logs
from runtime.events import Event

SECRET = "sk-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1"


def _lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in logs.last_lines(folder, 10_000)]


def test_a_record_is_one_line_of_json(tmp_path: Path) -> None:
    with logs.logging_to(tmp_path, door="terminal") as logger:
        logger.info("started %s", "well", extra={"size": 3})
    (line,) = _lines(tmp_path)
    assert line["message"] == "started well"
    assert line["door"] == "terminal"
    assert line["level"] == "info"
    assert line["size"] == 3
    assert (tmp_path / logs.FILE).stat().st_mode & 0o777 == 0o600


def test_secrets_and_tracebacks_are_redacted(tmp_path: Path) -> None:
    with logs.logging_to(tmp_path, door="window") as logger:
        try:
            raise RuntimeError(f"refused {SECRET}")
        except RuntimeError:
            logger.exception(
                "call failed with %s", SECRET, extra={"headers": {"Authorization": "Bearer abcdefgh"}}
            )
    text = (tmp_path / logs.FILE).read_text()
    assert SECRET not in text
    assert "abcdefgh" not in text
    assert "RuntimeError" in text


def test_warnings_of_libraries_are_kept_and_their_chatter_is_not(tmp_path: Path) -> None:
    with logs.logging_to(tmp_path, door="window"):
        logging.getLogger("some.library").warning("careful")
        logging.getLogger("some.library").info("GET https://example.org")
    assert [line["message"] for line in _lines(tmp_path)] == ["careful"]


def test_nothing_is_logged_after_the_block(tmp_path: Path) -> None:
    with logs.logging_to(tmp_path, door="window") as logger:
        pass
    logger.warning("later")
    assert _lines(tmp_path) == []


def test_what_was_said_is_not_logged() -> None:
    said = "a very private question"
    bodies: list[events.Body] = [
        events.UserSaid("m1", said, "window"),
        events.ResponseComplete("m2", said, True, "stop"),
        events.ThinkingChunk(said),
        events.ToolStart("c", "write_file", {"text": said}, "medium"),
        events.ToolComplete("c", "write_file", said, {"diff": said}, 0.1),
        events.ToolFailed("c", "write_file", "error", said, 0.1),
        events.ApprovalRequired("c", "write_file", {"text": said}, "d", "medium", said, said, {"once": said}),
        events.ErrorRaised("disk_full", {"path": said}, "user"),
        events.Queued(said),
        events.TaskUpdate([{"title": said}], said),
    ]
    for body in bodies:
        record = logs.record_of(Event(1, "s", "t", 1.0, body))
        assert said not in json.dumps(record)
        assert record["type"] == body.type
    assert logs.record_of(Event(1, "s", "t", 1.0, bodies[0]))["text_length"] == len(said)


def test_the_log_is_bounded(tmp_path: Path) -> None:
    handler = logs.LogFile(tmp_path, door="window", limit=2_000, kept=2)
    for number in range(200):
        handler.emit(logging.LogRecord("orion", logging.INFO, "", 0, f"line {number}", (), None))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "orion.1.jsonl",
        "orion.2.jsonl",
        "orion.jsonl",
    ]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 3 * 2_300
    assert _lines(tmp_path)[-1]["message"] == "line 199"


def _write(folder: Path, name: str) -> None:
    handler = logs.LogFile(folder, door=name, limit=5_000, kept=50)
    for number in range(150):
        handler.emit(logging.LogRecord("orion", logging.INFO, "", 0, f"{name} {number}", (), None))


def test_two_processes_share_the_file_and_lose_nothing(tmp_path: Path) -> None:
    context = get_context("spawn")
    writers = [context.Process(target=_write, args=(tmp_path, name)) for name in ("a", "b")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = [
        json.loads(line)["message"]
        for path in tmp_path.glob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert sorted(found) == sorted(f"{name} {number}" for name in ("a", "b") for number in range(150))


def test_a_marker_left_by_a_killed_process_does_not_stop_rotation(tmp_path: Path) -> None:
    (tmp_path / "orion.rotating").touch()
    handler = logs.LogFile(tmp_path, door="window", limit=1_000, kept=2)
    for number in range(100):
        handler.emit(logging.LogRecord("orion", logging.INFO, "", 0, f"line {number}", (), None))
    assert (tmp_path / "orion.1.jsonl").exists()


def test_a_log_that_cannot_be_written_is_given_up(tmp_path: Path) -> None:
    with logs.logging_to(tmp_path / "missing", door="window") as logger:
        logger.info("lost")
    assert logs.last_lines(tmp_path / "missing") == []


def test_a_fault_that_ends_a_thread_is_logged(tmp_path: Path) -> None:
    before = threading.excepthook
    threading.excepthook = lambda fault: None
    try:
        with logs.logging_to(tmp_path, door="window"):
            thread = threading.Thread(target=lambda: 1 / 0)
            thread.start()
            thread.join()
    finally:
        threading.excepthook = before
    assert "ZeroDivisionError" in str(_lines(tmp_path)[0]["traceback"])
