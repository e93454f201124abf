"""run_code runs a program once, in the machine for code, and tells why it was ended."""

from __future__ import annotations

from pathlib import Path

from runtime.tools import ran_result
from runtime.tools.run_code import RunCode
from runtime.tools.tool import Failure
from sandbox.shell import Ran
from tests.runtime.tools.call import context, preview, text
from tests.runtime.tools.one_guest import calls


def test_python_and_bash_run_in_the_machine_for_code(tmp_path: Path) -> None:
    results, heard, computer = calls(
        RunCode(),
        tmp_path,
        {"code": "print(6 * 7)"},
        {"code": "echo $((6 * 7)); exit 2", "language": "bash"},
    )
    assert [text(result) for result in results] == ["42", "42\n[It ended with exit code 2.]"]
    assert "".join(heard) == "42\n42\n"
    assert computer.asked == [("code", False)] * 2


def test_a_program_without_end_is_stopped(tmp_path: Path) -> None:
    (result,), _, _ = calls(RunCode(), tmp_path, {"code": "sleep 1000", "language": "bash", "timeout": 1})
    assert isinstance(result, Failure)
    assert (result.kind, result.message) == ("timeout", "[It was stopped after 1 seconds.]")


def test_too_little_memory_is_told_in_a_sentence() -> None:
    result = ran_result.reported(Ran("begun\n", -9, out_of_memory=True), 60, memory_mb=512)
    assert isinstance(result, Failure)
    assert result.message == "begun\n[It needed more than 512 MB of memory and was ended.]"
    result = ran_result.reported(Ran("", 137, out_of_memory=True), 60)
    assert isinstance(result, Failure)
    assert result.message == "[The computer's memory was used up while it ran; it ended with exit code 137.]"


def test_the_preview_is_the_code_in_its_language(tmp_path: Path) -> None:
    assert preview(RunCode(), context(tmp_path), code="print(1)") == "python:\nprint(1)"
