"""The report tells versions and checks, and no secret."""

from __future__ import annotations

from pathlib import Path

from runtime import diagnostics, logs
from runtime.checks.check import Check
from runtime.paths import find_home

SECRET = "sk-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1"


def test_the_report_has_all_parts(fresh_home: Path) -> None:
    home = find_home(fresh_home)
    home.create()
    with logs.logging_to(home.logs, door="window") as logger:
        logger.warning("the engine died with %s", SECRET)
    with (home.logs / logs.FILE).open("a") as log:
        log.write(f'{{"message":"written elsewhere","key":"{SECRET}"}}\n')
    text = diagnostics.report(home, [Check("disk", "warn", f"full at {Path.home()}/x", "Make room.")])
    assert f"version {diagnostics.version()}" in text
    assert "warn  disk: full at ~/x" in text
    assert '"profile": "orion-local"' in text
    assert "the engine died" in text
    assert "written elsewhere" in text
    assert SECRET not in text
    assert str(Path.home()) + "/" not in text


def test_broken_settings_and_a_missing_home_are_no_reason_to_fail(tmp_path: Path) -> None:
    home = find_home(tmp_path / "home")
    assert "(nothing)" in diagnostics.report(home)
    home.create()
    home.settings_file.write_text("version: [")
    assert "unreadable: yaml_syntax" in diagnostics.report(home)
