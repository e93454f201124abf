"""calculator answers exactly or with a sentence that helps."""

from __future__ import annotations

from pathlib import Path

from runtime.tools.calculator import Calculator
from runtime.tools.tool import Failure
from tests.runtime.tools.call import call, context, text


def test_it_computes(tmp_path: Path) -> None:
    result = call(Calculator(), context(tmp_path), expression="150 * 223.48")
    assert text(result) == "33522"
    assert result.details == {"exact": True}


def test_a_fault_is_a_sentence(tmp_path: Path) -> None:
    result = call(Calculator(), context(tmp_path), expression="9**9**9")
    assert isinstance(result, Failure)
    assert (result.kind, result.details["code"]) == ("invalid", "calculator_large")
    assert "use smaller numbers" in result.message
