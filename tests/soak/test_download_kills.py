"""Kills of a program that downloads leave nothing wrong in place, and the campaign that says so can tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.download_kills import ONE, Household, Tally, campaign
from tests.soak.program_kills import Nursery

KILLS = 8
SEED = 20_261


def test_kills_leave_no_wrong_file_in_place() -> None:
    tally = campaign(KILLS, SEED)
    assert not tally.problems, "\n".join(tally.problems)
    assert tally.kills == KILLS
    assert tally.looks
    assert tally.done
    assert tally.partly


@pytest.mark.parametrize("harm", ["short", "other", "gone"])
def test_the_campaign_sees_a_file_that_is_wrong(harm: str, tmp_path: Path) -> None:
    tally, nursery = Tally(), Nursery()
    try:
        household = Household(nursery, tmp_path / "home", 1, tally)
        household.run(0)
    finally:
        nursery.close()
    assert not tally.problems
    path = tmp_path / "home" / "weights" / ONE / "One-Q4_K_M.gguf"
    data = path.read_bytes()
    path.unlink()
    if harm != "gone":
        path.write_bytes(data[:-1] if harm == "short" else b"?" + data[1:])
    household._look(0)
    assert len(tally.problems) == 1
