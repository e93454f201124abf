"""Twenty kills of the worker at random moments cost at most the answer that was being written."""

from __future__ import annotations

from pathlib import Path

from tests.soak.worker_kills import DETECTION, campaign

KILLS = 20
SEED = 11


def test_twenty_kills_are_survived(weights: Path) -> None:
    tally = campaign(KILLS, SEED, weights)
    assert not tally.problems, "\n".join(tally.problems)
    assert tally.kills == KILLS
    assert tally.slowest <= DETECTION
    assert len(tally.codes) >= 2, tally.line()
