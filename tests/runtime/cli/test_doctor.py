"""`orion doctor`, the help and the version."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from runtime.cli.exit_codes import table
from tests.runtime.cli.commands import Here, command


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(monkeypatch)


def test_the_doctor_finds_this_house_well(here: Here) -> None:
    ran = here.run("doctor", "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["ok"]) == (0, True), [c for c in found["checks"] if c["status"] == "fail"]
    assert {"python", "engine", "home", "bundled model"} <= {check["name"] for check in found["checks"]}


def test_a_failed_check_is_said_with_its_mending(here: Here, fresh_home: Path) -> None:
    fresh_home.mkdir(parents=True)
    (fresh_home / "settings.yaml").write_text("version: [\n")
    ran = here.run("doctor")
    assert ran.code == 1
    assert "Correct that line" in ran.out
    assert "1 of" in ran.out


def test_diagnostics_can_be_printed(here: Here) -> None:
    ran = here.run("diagnostics")
    assert ran.code == 0
    assert ran.out.startswith("== Orion Desktop\nversion ")


def test_help_tells_the_exit_codes(here: Here) -> None:
    ran = here.run("--help")
    assert ran.code == 0
    for line in table().splitlines():
        assert line.strip() in ran.out


def test_version(here: Here) -> None:
    assert here.run("--version").out.startswith("orion ")


def test_a_mistake_of_the_program_is_one_sentence_and_a_log_line(fresh_home: Path) -> None:
    broken = "import sys, runtime.cli.app as app\napp.run = lambda argv: 1 / 0\nimport runtime.cli\n"
    ran = subprocess.run(
        [command()[0], "-c", broken + "sys.exit(runtime.cli.main([]))"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (1, "", 1)
    assert "ZeroDivisionError" in ran.stderr
    assert not (fresh_home / "logs").exists()


def test_the_log_of_a_mistake_has_the_traceback(fresh_home: Path) -> None:
    (fresh_home / "logs").mkdir(parents=True)
    broken = "import sys, runtime.cli.app as app\napp.run = lambda argv: 1 / 0\nimport runtime.cli\n"
    subprocess.run([command()[0], "-c", broken + "runtime.cli.main([])"], capture_output=True, check=False)
    assert "ZeroDivisionError" in (fresh_home / "logs" / "orion.jsonl").read_text()


def test_the_help_loads_nothing_heavy() -> None:
    asked = (
        "import sys, runtime.cli\nruntime.cli.main(['--help'])\n"
        "heavy = {'PySide6', 'llama_cpp', 'numpy', 'pydantic', 'asyncio'} & set(sys.modules)\n"
        "sys.exit(str(sorted(heavy)) if heavy else 0)"
    )
    ran = subprocess.run([command()[0], "-c", asked], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
