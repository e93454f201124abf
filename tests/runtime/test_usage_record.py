"""The record of model calls survives being killed, is shared by processes, and says what is wrong with it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from runtime.errors import OrionError
from runtime.messages import Usage
from runtime.usage_record import Call, Sum, UsageRecord

WRITER = """
import sys
from pathlib import Path
from runtime.messages import Usage
from runtime.usage_record import Call, UsageRecord

record = UsageRecord(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    record.add(Call(1.0, sys.argv[3], "t", "paid", "m", False, Usage(10, 2), 0.001, 0.1))
    print(number + 1, flush=True)
"""


def call(**changes: object) -> Call:
    values: dict[str, object] = {
        "time": 1000.0,
        "session": "s1",
        "turn": "t1",
        "provider": "paid",
        "model": "m",
        "local": False,
        "usage": Usage(100, 20, cached=60, reasoning=5, cache_written=10),
        "cost": 0.5,
        "seconds": 1.5,
    }
    return Call(**(values | changes))  # type: ignore[arg-type]


def add_many(record: UsageRecord, count: int) -> None:
    for _ in range(count):
        record.add(call())


def writer(path: Path, count: int, session: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(count), session]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


def test_what_was_added_is_summed(tmp_path: Path) -> None:
    record = UsageRecord(tmp_path / "usage.db")
    for made in (call(), call(turn="t2", cost=None), call(session="s2", time=2000.0, estimated=True)):
        record.add(made)
    assert record.total("s1") == Sum(2, 200, 120, 20, 40, 10, 0.5, 1)
    assert record.total("s1", "t1") == Sum(1, 100, 60, 10, 20, 5, 0.5)
    assert record.total("s2").estimated == 1
    assert record.total("nobody") == Sum()
    assert record.first() == 1000.0
    record.close()
    again = UsageRecord(tmp_path / "usage.db")
    assert again.total("s1").calls == 2
    again.close()


def test_what_was_spent_follows_every_writer(tmp_path: Path) -> None:
    here, there = UsageRecord(tmp_path / "usage.db"), UsageRecord(tmp_path / "usage.db")
    assert here.spent(0.0) == 0.0
    here.add(call())
    there.add(call(cost=None))
    there.add(call(time=2000.0, cost=0.25))
    assert [here.spent(since) for since in (0.0, 1500.0, 3000.0)] == [0.75, 0.25, 0.0]
    there.add(call(time=500.0, cost=1.0))
    assert [here.spent(since) for since in (0.0, 1500.0, 3000.0)] == [1.75, 0.25, 0.0]
    assert [here.spent(float(since)) for since in range(10)] == [1.75] * 10
    here.close()
    there.close()


def test_asking_makes_no_file(tmp_path: Path) -> None:
    record = UsageRecord(tmp_path / "usage.db")
    assert (record.total("s"), record.spent(0.0), record.groups(0.0, "day")) == (Sum(), 0.0, [])
    assert record.first() == 0.0
    record.close()
    assert not list(tmp_path.iterdir())


def test_nothing_of_a_conversation_has_a_place_in_it(tmp_path: Path) -> None:
    record = UsageRecord(tmp_path / "usage.db")
    record.add(call())
    record.close()
    database = apsw.Connection(str(tmp_path / "usage.db"), flags=apsw.SQLITE_OPEN_READONLY)
    columns = [row[1] for row in database.execute("PRAGMA table_info(calls)")]
    database.close()
    assert set(columns) == {
        *("time", "session", "turn", "provider", "model", "local", "prompt", "cached", "cache_written"),
        *("completion", "reasoning", "cost", "seconds", "estimated"),
    }


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "usage.db"
    children = [writer(path, 150, name) for name in ("a", "b", "c")]
    assert [child.communicate()[0].split()[-1] for child in children] == ["150"] * 3
    record = UsageRecord(path)
    assert {name: record.total(name).calls for name in "abc"} == {"a": 150, "b": 150, "c": 150}
    assert record.spent(0.0) == pytest.approx(0.45)
    record.close()


@pytest.mark.parametrize("after", [1, 7, 40])
def test_a_killed_writer_loses_no_call_it_had_written(tmp_path: Path, after: int) -> None:
    path = tmp_path / "usage.db"
    child = writer(path, 100_000, "s")
    assert child.stdout is not None
    said = [child.stdout.readline() for _ in range(after)]
    child.send_signal(signal.SIGKILL)
    said += child.communicate()[0].splitlines(keepends=True)
    told = int(next(line for line in reversed(said) if line.endswith("\n")))
    record = UsageRecord(path)
    assert record.total("s").calls in (told, told + 1)
    record.add(call())
    record.close()


def test_a_record_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "usage.db"
    database = apsw.Connection(str(path))
    database.execute("CREATE TABLE other(x); PRAGMA user_version = 9")
    database.close()
    before = path.read_bytes()
    record = UsageRecord(path)
    for question in (lambda: record.total("s"), record.first, lambda: record.add(call())):
        with pytest.raises(OrionError) as caught:
            question()
        assert caught.value.code == "format_newer"
    assert path.read_bytes() == before


def test_a_damaged_record_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "usage.db"
    path.write_bytes(b"no database, but somebody may mend it" * 100)
    with pytest.raises(OrionError) as caught:
        UsageRecord(path).add(call())
    assert (caught.value.code, caught.value.fields["path"]) == ("usage_unusable", str(path))
    assert path.read_bytes().startswith(b"no database")


def test_a_full_disk_is_said(small_disk: Path) -> None:
    record = UsageRecord(small_disk / "usage.db")
    record.add(call())
    (small_disk / "ballast").write_bytes(b"x" * 900_000)
    with pytest.raises(OrionError) as caught:
        add_many(record, 5000)
    assert caught.value.code == "disk_full"
    (small_disk / "ballast").unlink()
    record.add(call())
    record.close()


def test_a_place_that_cannot_be_written_is_said(read_only: Path) -> None:
    record = UsageRecord(read_only / "usage.db")
    with pytest.raises(OrionError) as caught:
        record.add(call())
    assert caught.value.code == "usage_unusable"
    assert record.total("s1") == Sum()
