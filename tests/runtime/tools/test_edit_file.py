"""edit_file replaces one unique passage and tells the model when it is not unique."""

from __future__ import annotations

from pathlib import Path

from runtime.tools.edit_file import EditFile
from runtime.tools.tool import Failure
from tests.runtime.tools.call import call, context, preview, text


def test_it_edits_as_its_preview_says(tmp_path: Path) -> None:
    given = context(tmp_path)
    given.workspace.write("a.py", "one\ntwo\n")
    shown = preview(EditFile(), given, path="a.py", old="two", new="2")
    result = call(EditFile(), given, path="a.py", old="two", new="2")
    assert text(result) == "Edited a.py."
    assert result.details["diff"] == shown
    assert given.workspace.read("a.py") == b"one\n2\n"


def test_an_ambiguous_passage_is_said_with_the_number_of_places(tmp_path: Path) -> None:
    given = context(tmp_path)
    given.workspace.write("a", "x x x")
    result = call(EditFile(), given, path="a", old="x", new="y")
    assert isinstance(result, Failure)
    assert (result.kind, result.details["fields"]) == ("invalid", {"path": "a", "count": 3})
    assert "3 times" in result.message
