"""runtime_info tells the facts of the session, the place and the time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from runtime.tools.runtime_info import RuntimeInfo
from tests.runtime.tools.call import call, context, text


def test_it_reports_facts_place_and_time(tmp_path: Path) -> None:
    given = context(tmp_path, profile="orion-local", model="m", tools=["echo"], max_iterations=25)
    result = call(RuntimeInfo(clock=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)), given)
    facts = json.loads(text(result))
    assert facts == result.details["facts"]
    assert facts["time"] == "2026-01-02T03:04:05+00:00"
    assert (facts["zone"], facts["weekday"]) == ("UTC", "Friday")
    assert (facts["profile"], facts["tools"], facts["max_iterations"]) == ("orion-local", ["echo"], 25)
    assert (facts["session"], facts["workspace"]) == ("session", str(given.workspace.root))
    assert facts["version"]
    assert facts["platform"]


def test_its_clock_is_the_users_own(tmp_path: Path) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    shown = json.loads(text(call(RuntimeInfo(), context(tmp_path))))["time"]
    assert before <= datetime.fromisoformat(shown) <= datetime.now(UTC)
