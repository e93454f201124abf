"""delete_file removes a file whose content stays in reach of undo."""

from __future__ import annotations

from pathlib import Path

from runtime.tools.delete_file import DeleteFile
from runtime.tools.tool import Failure
from tests.runtime.tools.call import call, context, preview, text


def test_it_deletes_and_is_undone(tmp_path: Path) -> None:
    given = context(tmp_path)
    given.workspace.write("notes/a", "kept\n")
    shown = preview(DeleteFile(), given, path="notes/a")
    result = call(DeleteFile(), given, path="notes/a")
    assert text(result) == "Deleted notes/a."
    assert result.details["diff"] == shown
    assert not (given.workspace.root / "notes" / "a").exists()
    given.workspace.undo(str(result.details["change"]))
    assert given.workspace.read_text("notes/a") == "kept\n"


def test_folders_and_missing_files_are_refused(tmp_path: Path) -> None:
    given = context(tmp_path)
    for path, code in (("notes", "workspace_not_file"), ("none", "workspace_not_found")):
        result = call(DeleteFile(), given, path=path)
        assert isinstance(result, Failure)
        assert result.details["code"] == code
