"""bash runs commands in one shell a session, streams what they print, and says how they ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.tools.bash import Bash
from runtime.tools.tool import Failure
from sandbox.errors import SandboxError
from tests.runtime.tools.call import call, context, preview, text
from tests.runtime.tools.one_guest import calls


def test_state_is_kept_and_output_streamed(tmp_path: Path) -> None:
    results, heard, computer = calls(
        Bash(), tmp_path, {"command": "x=ä; mkdir sub; cd sub"}, {"command": "echo $x; pwd"}
    )
    assert text(results[0]) == "[It ended well and printed nothing.]"
    assert text(results[1]) == f"ä\n{tmp_path}/home/sub"
    assert "".join(heard) == f"ä\n{tmp_path}/home/sub\n"
    assert computer.asked == [("desktop", False)] * 2


def test_a_code_that_is_not_zero_is_said(tmp_path: Path) -> None:
    (result,), _, _ = calls(Bash(), tmp_path, {"command": "echo no; (exit 3)"})
    assert text(result) == "no\n[It ended with exit code 3.]"
    assert result.details["code"] == 3


def test_a_command_that_takes_too_long_is_a_failure_that_says_so(tmp_path: Path) -> None:
    (result, after), _, _ = calls(
        Bash(), tmp_path, {"command": "x=1; echo on; sleep 1000", "timeout": 1}, {"command": "echo $x"}
    )
    assert isinstance(result, Failure)
    assert result.kind == "timeout"
    assert result.message == (
        "on\n[It was stopped after 1 seconds. The shell and what ran in the background before go on.]"
    )
    assert text(after) == "1"


def test_a_shell_that_ends_and_one_that_is_restarted(tmp_path: Path) -> None:
    ended, restarted, after = calls(
        Bash(), tmp_path, {"command": "cd /; exit 3"}, {"restart": True}, {"command": "pwd"}
    )[0]
    assert "[The shell ended with exit code 3. The next command gets a new shell in" in text(ended)
    assert text(restarted).startswith("The shell was restarted")
    assert text(after) == f"{tmp_path}/home"


def test_nothing_to_run_and_no_computer_are_said(tmp_path: Path) -> None:
    result = call(Bash(), context(tmp_path), command=" ")
    assert isinstance(result, Failure)
    assert result.kind == "invalid"
    absent = call(Bash(), context(tmp_path), command="true")
    assert isinstance(absent, Failure)
    assert absent.details["code"] == "computer_absent"


def test_a_command_is_its_own_preview(tmp_path: Path) -> None:
    assert preview(Bash(), context(tmp_path), command="make all") == "make all"


def test_a_command_with_a_zero_byte_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="code_not_text"):  # which the computer turns into a result
        calls(Bash(), tmp_path, {"command": "echo a\0b"})
