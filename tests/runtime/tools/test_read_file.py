"""read_file shows a bounded piece and says how to go on."""

from __future__ import annotations

from pathlib import Path

from runtime.tools.read_file import MAX_CHARACTERS, ReadFile
from runtime.tools.tool import Failure
from tests.runtime.tools.call import call, context, text


def test_a_short_file_is_shown_unchanged(tmp_path: Path) -> None:
    given = context(tmp_path)
    given.workspace.write("a", "one\r\ntwo\u2028 still two\x0b\nnul \0, עברית")
    assert text(call(ReadFile(), given, path="a")) == "one\r\ntwo\u2028 still two\x0b\nnul \0, עברית"
    given.workspace.write("a", "")
    assert text(call(ReadFile(), given, path="a")) == "[The file is empty.]"


def test_a_long_file_is_read_in_pieces(tmp_path: Path) -> None:
    given = context(tmp_path)
    given.workspace.write("a", "".join(f"{number}\n" for number in range(1, 1201)))
    first = text(call(ReadFile(), given, path="a"))
    assert first.endswith("500\n[Lines 1 to 500 of 1200. Read on with start_line 501.]")
    last = call(ReadFile(), given, path="a", start_line=1199)
    assert text(last) == "1199\n1200\n[Lines 1199 to 1200 of 1200.]"
    assert last.details["last_line"] == 1200
    assert text(call(ReadFile(), given, path="a", start_line=1201)) == "[The file has only 1200 lines.]"
    piece = text(call(ReadFile(), given, path="a", start_line=2, lines=1))
    assert piece == "2\n[Lines 2 to 2 of 1200. Read on with start_line 3.]"


def test_a_line_of_a_megabyte_is_cut_and_said(tmp_path: Path) -> None:
    given = context(tmp_path)
    given.workspace.write("a", "short\n" + "x" * 1_000_000)
    assert text(call(ReadFile(), given, path="a")) == "short\n[Lines 1 to 1 of 2. Read on with start_line 2.]"
    shown = text(call(ReadFile(), given, path="a", start_line=2))
    assert len(shown) < MAX_CHARACTERS + 100
    assert shown.endswith("[Line 2 is cut: 20000 of 1000000 characters. 2 lines in all.]")


def test_what_is_no_text_is_a_failure(tmp_path: Path) -> None:
    given = context(tmp_path)
    given.workspace.write("a", b"\xff\xfe")
    result = call(ReadFile(), given, path="a")
    assert isinstance(result, Failure)
    assert result.details["code"] == "workspace_not_text"
