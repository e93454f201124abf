"""write_file writes and appends, shows its diff before, and can be undone by the id it reports."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from runtime.tools.tool import Failure, Ok
from runtime.tools.write_file import WriteFile
from tests.runtime.tools.call import call, context, preview, text


def test_it_writes_and_reports_the_change(tmp_path: Path) -> None:
    given = context(tmp_path)
    shown = preview(WriteFile(), given, path="notes/a.md", text="# Hi\n")
    result = call(WriteFile(), given, path="notes/a.md", text="# Hi\n")
    assert isinstance(result, Ok)
    assert text(result) == "Wrote notes/a.md."
    assert result.details["diff"] == shown == "--- /dev/null\n+++ b/notes/a.md\n@@ -0,0 +1 @@\n+# Hi\n"
    assert result.details["files"] == ["notes/a.md"]
    (change,) = given.workspace.history(session="session", call="call")
    assert change.id == result.details["change"]
    assert given.workspace.undo(change.id) == ["notes/a.md"]


def test_it_appends(tmp_path: Path) -> None:
    given = context(tmp_path)
    call(WriteFile(), given, path="a", text="1\n")
    assert text(call(WriteFile(), given, path="a", text="2\n", append=True)) == "Added to a."
    assert given.workspace.read("a") == b"1\n2\n"
    assert text(call(WriteFile(), given, path="a", text="1\n2\n")).startswith("Nothing had to change")


@pytest.mark.parametrize(
    ("path", "kind", "code"),
    [("../x", "invalid", "workspace_path_outside"), ("notes", "error", "workspace_not_file")],
)
def test_a_refusal_is_a_value_with_a_sentence(tmp_path: Path, path: str, kind: str, code: str) -> None:
    given = context(tmp_path)
    result = call(WriteFile(), given, path=path, text="x")
    assert isinstance(result, Failure)
    assert (result.kind, result.details["code"]) == (kind, code)
    assert path in result.message
    assert preview(WriteFile(), given, path=path, text="x") == result.message


def test_its_schema_is_what_a_model_needs() -> None:
    spec = WriteFile().definition().spec()
    assert list(spec.parameters["properties"]) == ["path", "text", "append"]
    assert spec.parameters["required"] == ["path", "text"]
    assert WriteFile().definition().undoable
    with pytest.raises(ValidationError):
        WriteFile().definition().arguments.model_validate({"path": "a", "text": "b", "mode": "w"})
