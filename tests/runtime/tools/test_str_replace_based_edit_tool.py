"""The edit tool answers in the words that models know, and changes exactly what it was told to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runtime.messages import Image
from runtime.tools.str_replace_based_edit_tool import StrReplaceBasedEditTool
from runtime.tools.tool import Failure, Ok, Result
from tests.runtime.tools.call import context, preview, text
from tests.runtime.tools.one_guest import calls


def edit(tmp_path: Path, *several: dict[str, Any]) -> list[Result]:
    return calls(StrReplaceBasedEditTool(), tmp_path, *several)[0]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "home/a.txt"
    path.parent.mkdir()
    path.write_bytes(b"one\ntwo\nthree\n")
    return path


def test_a_file_is_shown_with_numbered_lines(tmp_path: Path, file: Path) -> None:
    whole, part = edit(
        tmp_path,
        {"command": "view", "path": str(file)},
        {"command": "view", "path": str(file), "view_range": [2, -1]},
    )
    head = f"Here's the result of running `cat -n` on {file}:\n"
    assert text(whole) == f"{head}     1\tone\n     2\ttwo\n     3\tthree\n     4\t\n"
    assert text(part) == f"{head}     2\ttwo\n     3\tthree\n     4\t\n"


def test_one_place_is_replaced_and_shown(tmp_path: Path, file: Path) -> None:
    (result,) = edit(
        tmp_path, {"command": "str_replace", "path": str(file), "old_str": "two", "new_str": "2\n2½"}
    )
    assert text(result) == (
        f"The file {file} has been edited. Here's the result of running `cat -n` on a snippet of {file}:\n"
        "     1\tone\n     2\t2\n     3\t2½\n     4\tthree\n     5\t\n"
        "Review the changes and make sure they are as expected. Edit the file again if necessary."
    )
    assert file.read_text("utf-8") == "one\n2\n2½\nthree\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"command": "str_replace", "old_str": "four", "new_str": "4"}, "did not appear verbatim in"),
        (
            {"command": "str_replace", "old_str": "o"},
            "Multiple occurrences of old_str `o` in lines [1, 2]. Please",
        ),
        ({"command": "str_replace"}, "Parameter `old_str` is required for command: str_replace"),
        ({"command": "insert", "insert_line": 4, "new_str": "x"}, "lines of the file: [0, 3]"),
        ({"command": "insert", "insert_line": 1}, "Parameter `insert_text` is required for command: insert"),
        ({"command": "create"}, "Parameter `file_text` is required for command: create"),
        ({"command": "view", "view_range": [9, 10]}, "Invalid `view_range`: [9, 10]. Its first element `9`"),
        ({"command": "view", "view_range": [2, 1]}, "Its second element `1` should be larger or equal"),
        (
            {"command": "view", "view_range": [1, 40]},
            "should be smaller than the number of lines in the file: `4`",
        ),
        ({"command": "view", "view_range": [1]}, "It should be a list of two integers."),
        ({"command": "view", "path": "notes.md"}, "Maybe you meant /workspace/notes.md?"),
        (
            {"command": "view", "path": "/nowhere"},
            "The path /nowhere does not exist. Please provide a valid path.",
        ),
        ({"command": "undo_edit"}, "No edit history found for"),
        (
            {"command": "str_replace", "path": "/tmp", "old_str": "a"},
            "only the `view` command can be used on",
        ),
        (
            {"command": "view", "path": "/tmp", "view_range": [1, 2]},
            "is not allowed when `path` points to a dir",
        ),
    ],
)
def test_what_is_wrong_is_said_and_nothing_changes(
    tmp_path: Path, file: Path, arguments: dict[str, Any], message: str
) -> None:
    (result,) = edit(tmp_path, {"path": str(file)} | arguments)
    assert isinstance(result, Failure)
    assert result.kind == "invalid"
    assert message in result.message
    assert file.read_bytes() == b"one\ntwo\nthree\n"


def test_lines_are_inserted_at_the_beginning_between_and_at_the_end(tmp_path: Path, file: Path) -> None:
    insert = {"command": "insert", "path": str(file)}
    edit(
        tmp_path,
        insert | {"insert_line": 3, "insert_text": "four\n"},
        insert | {"insert_line": 1, "new_str": "1½"},
        insert | {"insert_line": 0, "insert_text": "zero"},
    )
    assert file.read_text("utf-8") == "zero\none\n1½\ntwo\nthree\nfour\n"


def test_files_are_created_overwritten_and_taken_back(tmp_path: Path, file: Path) -> None:
    new = file.parent / "deep/new.txt"
    created, overwritten, back, gone = edit(
        tmp_path,
        {"command": "create", "path": str(new), "file_text": "x"},
        {"command": "create", "path": str(file), "file_text": "y"},
        {"command": "undo_edit", "path": str(file)},
        {"command": "undo_edit", "path": str(new)},
    )
    assert text(created) == f"File created successfully at: {new}"
    assert text(overwritten) == f"File overwritten successfully at: {file}"
    assert text(back).startswith(f"Last edit to {file} undone successfully. Here's the result of running")
    assert file.read_bytes() == b"one\ntwo\nthree\n"
    assert not new.exists()
    assert isinstance(gone, Ok)


def test_ends_of_lines_and_mode_are_kept(tmp_path: Path, file: Path) -> None:
    file.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    file.chmod(0o755)
    edit(
        tmp_path,
        {"command": "str_replace", "path": str(file), "old_str": "one\ntwo", "new_str": "1\n2"},
        {"command": "insert", "path": str(file), "insert_line": 1, "insert_text": "1½"},
    )
    assert file.read_bytes() == "1\r\n1½\r\n2\r\nthree\r\n".encode()
    assert file.stat().st_mode & 0o777 == 0o755


def test_a_folder_is_shown_two_levels_deep_without_hidden_things(tmp_path: Path, file: Path) -> None:
    for name in ("b/c/d.txt", ".git/config", "b/.x", "node_modules/y"):
        (file.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (file.parent / name).write_bytes(b"")
    (result,) = edit(tmp_path, {"command": "view", "path": str(file.parent)})
    home = file.parent
    assert text(result).splitlines()[1:] == [str(home), f"{home}/a.txt", f"{home}/b/", f"{home}/b/c/"]


def test_a_picture_is_shown_as_one(tmp_path: Path, file: Path) -> None:
    (file.parent / "p.png").write_bytes(b"GIF89a\1\0\1\0rest")
    (result,) = edit(tmp_path, {"command": "view", "path": str(file.parent / "p.png")})
    assert isinstance(result, Ok)
    assert isinstance(result.parts[1], Image)
    assert result.parts[1].media_type == "image/gif"
    (file.parent / "p.png").write_bytes(b"#!/bin/sh")
    (result,) = edit(tmp_path, {"command": "view", "path": str(file.parent / "p.png")})
    assert isinstance(result, Failure)
    assert "is no picture" in result.message


def test_what_is_no_text_is_not_edited(tmp_path: Path, file: Path) -> None:
    file.write_bytes(b"\xff\xfe")
    (result,) = edit(tmp_path, {"command": "view", "path": str(file)})
    assert isinstance(result, Failure)
    assert "is not UTF-8 text (at byte 0)" in result.message


def test_the_preview_shows_what_goes_and_comes(tmp_path: Path) -> None:
    given = {"path": "/workspace/a", "old_str": "a\nb", "new_str": "c", "file_text": "d", "insert_line": 3}

    def of(command: str, **more: str) -> str:
        return preview(StrReplaceBasedEditTool(), context(tmp_path), command=command, **given, **more)

    assert of("str_replace") == "str_replace /workspace/a\n-a\n-b\n+c"
    assert of("create") == "create /workspace/a\n+d"
    assert of("insert") == "insert /workspace/a after line 3\n+c"
    assert of("insert", insert_text="e\n") == "insert /workspace/a after line 3\n+e\n+"
    assert of("view") == of("undo_edit") == ""
