"""Fifty kills of the whole program lose nothing, and the inspection that says so can tell."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.soak.inspection import inspect
from tests.soak.mortal import live
from tests.soak.program_kills import campaign
from tests.soak.script_house import counted_file, write_script

KILLS = 50
SEED = 20_260


def test_fifty_kills_lose_nothing() -> None:
    tally = campaign(KILLS, SEED)
    assert not tally.problems, "\n".join(tally.problems)
    assert tally.kills == KILLS
    assert tally.messages > KILLS
    assert tally.effects
    assert tally.interrupted


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    """A home in which a life was lived to its ordinary end."""
    write_script(tmp_path, "soak0", 5)
    asyncio.run(live(tmp_path, "soak0", None, 0, 11, mortal=False))
    return tmp_path


def _problems(home: Path) -> str:
    return "\n".join(asyncio.run(inspect(home, finish=True)).problems)


def _lines(home: Path) -> tuple[Path, list[str]]:
    (journal,) = (home / "sessions").glob("*.jsonl")
    return journal, journal.read_text("ascii").splitlines(keepends=True)


def test_a_life_without_a_kill_leaves_no_problem(lived: Path) -> None:
    assert _problems(lived) == ""


def test_a_lost_message_is_found(lived: Path) -> None:
    journal, lines = _lines(lived)
    kinds = [json.loads(line)["type"] for line in lines]
    del lines[kinds.index("user", kinds.index("user") + 1)]
    journal.write_text("".join(lines), "ascii")
    assert "is not in the journal" in _problems(lived)


def test_a_doubled_effect_is_found(lived: Path) -> None:
    counted = lived / "workspace" / counted_file("soak0")
    content = counted.read_text("utf-8")
    counted.write_text(content + content, "utf-8")
    assert "took effect 2 times" in _problems(lived)


def test_a_lost_result_is_found(lived: Path) -> None:
    journal, lines = _lines(lived)
    kept = [line for line in lines if json.loads(line)["type"] != "tool_result"]
    journal.write_text("".join(kept), "ascii")
    assert "result of call" in _problems(lived)


def test_a_vanished_session_is_found(lived: Path) -> None:
    journal, _ = _lines(lived)
    journal.unlink()
    assert "is gone" in _problems(lived)
