"""The table of exit codes is complete and stable."""

from __future__ import annotations

import resources
from runtime.cli import exit_codes
from runtime.cli.exit_codes import ExitCode, meanings, of_error, of_failure, table
from runtime.errors import OrionError


def test_every_code_has_a_meaning_and_stands_in_the_table() -> None:
    assert set(meanings()) == set(ExitCode)
    for code in ExitCode:
        assert f"{code.value}  {meanings()[code]}" in table()


def test_the_numbers_scripts_rely_on() -> None:
    assert [code.value for code in ExitCode] == [0, 1, 2, 3, 4, 5, 6, 7, 130, 141]


def test_errors_get_their_code() -> None:
    assert of_error(OrionError("session_locked", pid=1, door="window")) is ExitCode.LOCKED
    assert of_error(OrionError("session_unknown", id="x")) is ExitCode.NOT_FOUND
    assert of_failure("worker_killed", "provider") is ExitCode.MODEL
    assert of_failure("anything", "user") is ExitCode.FAILED


def test_every_listed_code_has_a_sentence() -> None:
    known = resources.yaml("sentences.yaml")
    assert [code for code in exit_codes.listed() if code not in known] == []
