"""The log of actions: whatever is changed, cut or left out in it is found; what a crash tore is tolerated."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.audit import MENDED, AuditLog, Verified, verify

WRITER = """
import sys
from pathlib import Path
from sandbox.audit import AuditLog
log = AuditLog(Path(sys.argv[1]))
for number in range(15):
    log.append({"who": "agent", "action": "key", "arguments": {"text": f"{sys.argv[2]} {number} é"}})
"""


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    found = AuditLog(tmp_path / "audit" / "computer_use_log.jsonl")
    for number in range(3):
        found.append({"action": "type", "arguments": {"text": f"line {number} ü😀"}, "verdict": "confirmed"})
    return found


def test_records_are_chained_and_verified(log: AuditLog) -> None:
    assert verify(log.path) == Verified(True, 3)
    lines = [json.loads(line) for line in log.path.read_text("ascii").splitlines()]
    assert [line["n"] for line in lines] == [1, 2, 3]
    assert lines[2]["arguments"]["text"] == "line 2 ü😀"
    assert len({line["hash"] for line in lines}) == 3


def test_an_absent_log_is_empty_and_good(tmp_path: Path) -> None:
    assert verify(tmp_path / "computer_use_log.jsonl") == Verified(True, 0)


def test_every_flipped_byte_is_found(log: AuditLog) -> None:
    for file in (log.path, log.head):
        good = file.read_bytes()
        for at in range(len(good)):
            flipped = bytes([good[at] ^ 1 << at % 8])
            file.write_bytes(good[:at] + flipped + good[at + 1 :])
            assert not verify(log.path).ok, f"byte {at} of {file.name} as {flipped!r}"
        file.write_bytes(good)
    assert verify(log.path).ok


def test_the_first_broken_line_is_named_with_the_reason(log: AuditLog) -> None:
    lines = log.path.read_bytes().splitlines(keepends=True)
    log.path.write_bytes(lines[0] + lines[1].replace(b"line 1", b"line 9") + lines[2])
    assert verify(log.path) == Verified(
        False, 1, 2, "its hash does not follow from the line before and what it says"
    )
    log.path.write_bytes(lines[0] + lines[2])
    assert verify(log.path) == Verified(False, 1, 2, "it is record 3, where 2 should be")
    log.path.write_bytes(lines[1] + lines[2])
    assert verify(log.path).broken_line == 1
    log.path.write_bytes(lines[0] + b" " + lines[1] + lines[2])
    assert verify(log.path).reason == "it is not written as the log writes"


@pytest.mark.parametrize("cut", [1, 7, 400])
def test_a_cut_tail_is_found_by_the_head(log: AuditLog, cut: int) -> None:
    log.path.write_bytes(log.path.read_bytes()[:-cut])
    found = verify(log.path)
    assert not found.ok
    assert found.reason.endswith("and had 3")


def test_a_log_that_is_gone_is_noticed(log: AuditLog) -> None:
    log.path.unlink()
    assert verify(log.path).reason == "the log is gone"


def test_a_head_that_counts_what_cannot_be_is_noticed(log: AuditLog) -> None:
    log.head.write_bytes(b'{"hash":"' + b"0" * 64 + b'","records":-1,"v":1}')
    assert "does not fit" in verify(log.path).reason


def test_a_head_that_is_gone_is_noticed(log: AuditLog) -> None:
    log.head.unlink()
    assert "head" in verify(log.path).reason


def test_a_line_torn_by_a_crash_is_told_and_mended(log: AuditLog) -> None:
    with log.path.open("ab") as file:
        file.write(b'{"action":"left_cl')
    found = verify(log.path)
    assert found.ok
    assert found.torn
    log.append({"action": "key"})
    assert verify(log.path) == Verified(True, 5)
    lines = [json.loads(line) for line in log.path.read_text("ascii").splitlines()]
    assert lines[3]["action"] == MENDED
    assert lines[3]["arguments"]["torn"] == '{"action":"left_cl'


def test_a_log_torn_in_its_first_line_goes_on(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "computer_use_log.jsonl")
    log.path.write_bytes(b'{"acti')
    log.append({"action": "key"})
    assert verify(log.path) == Verified(True, 2)


def test_a_crash_before_the_head_was_kept_is_no_fault(log: AuditLog) -> None:
    head = log.head.read_bytes()
    log.append({"action": "key"})
    log.head.write_bytes(head)
    assert verify(log.path).ok
    log.append({"action": "key"})
    assert verify(log.path) == Verified(True, 5)


def test_a_damaged_log_is_not_written_on(log: AuditLog) -> None:
    with log.path.open("ab") as file:
        file.write(b"nonsense\n")
    with pytest.raises(ValueError, match="Expecting value"):
        log.append({"action": "key"})


def test_a_record_longer_than_what_is_read_back_at_once(log: AuditLog) -> None:
    log.append({"action": "type", "arguments": {"text": "x" * 300_000}})
    log.append({"action": "key"})
    assert verify(log.path) == Verified(True, 5)


def test_several_processes_write_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "computer_use_log.jsonl"
    root = str(Path(__file__).resolve().parents[2])
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], cwd=root) for name in ("one", "two")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert verify(path) == Verified(True, 30)
