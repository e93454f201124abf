"""list_directory shows paths, sizes and what is not a file."""

from __future__ import annotations

from pathlib import Path

from runtime.tools.list_directory import MAX_NAMES, ListDirectory
from runtime.tools.tool import Failure
from tests.runtime.tools.call import call, context, text


def test_it_shows_a_tree(tmp_path: Path) -> None:
    given = context(tmp_path)
    given.workspace.write("notes/a.md", "12345")
    (given.workspace.root / "notes" / "out").symlink_to(tmp_path)
    assert text(call(ListDirectory(), given)).splitlines() == [
        "code/",
        "experiments/",
        "logs/",
        "notes/",
        "notes/a.md  5",
        "notes/out  (link, not followed)",
        "self_modifications/",
    ]
    assert text(call(ListDirectory(), given, path="code")) == "[The folder is empty.]"
    assert "notes/a.md" not in text(call(ListDirectory(), given, depth=1))


def test_many_names_are_cut_and_said(tmp_path: Path) -> None:
    given = context(tmp_path)
    for number in range(MAX_NAMES + 1):
        (given.workspace.root / "code" / f"{number:04}").touch()
    assert text(call(ListDirectory(), given, path="code")).endswith("list a single folder or search.]")


def test_a_link_is_not_listed_through(tmp_path: Path) -> None:
    given = context(tmp_path)
    (given.workspace.root / "out").symlink_to(tmp_path)
    result = call(ListDirectory(), given, path="out")
    assert isinstance(result, Failure)
    assert result.details["code"] == "workspace_link"
