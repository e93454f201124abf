"""A search finds what is there, says where, and ends in time whatever the pattern is."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from runtime import search as searching
from runtime.confine import Confined
from runtime.pathnames import WorkspaceError
from runtime.search import Found, Query

LIMIT = 2_000_000


@pytest.fixture
def files(tmp_path: Path) -> Confined:
    (tmp_path / "src" / "inner").mkdir(parents=True)
    (tmp_path / "src" / "main.py").write_text("import os\n\ndef main():\n    return os.name\n")
    (tmp_path / "src" / "inner" / "deep.py").write_bytes(b"x = 'OS'\r\nlast line without end")
    (tmp_path / "readme.md").write_text("The os module.\nDÉJÀ vu\n")
    (tmp_path / "data.bin").write_bytes(b"os\0os")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9 os\n")
    return Confined(tmp_path)


def search(files: Confined, pattern: str, **more: object) -> Found:
    return searching.search(files, (), Query(pattern, **more), LIMIT)  # type: ignore[arg-type]


def where(found: Found) -> list[str]:
    return [f"{match.path}:{match.line}" for match in found.matches]


def test_plain_text_is_found_once_a_line_and_binary_files_are_skipped(files: Confined) -> None:
    found = search(files, "os")
    assert where(found) == ["latin.txt:1", "readme.md:1", "src/main.py:1", "src/main.py:4"]
    assert found.matches[0].text == "caf\ufffd os"
    assert (found.files, found.skipped, found.stopped) == (4, 1, "")
    assert where(search(files, "main()")) == ["src/main.py:3"]


def test_expressions_and_case(files: Confined) -> None:
    assert where(search(files, "^def|end$", regex=True)) == ["src/main.py:3", "src/inner/deep.py:2"]
    assert where(search(files, "déjà", ignore_case=True)) == ["readme.md:2"]
    assert where(search(files, "^$", regex=True)) == ["src/main.py:2"]
    assert where(search(files, "'$", regex=True)) == []
    assert search(files, "OS'").matches[0].text == "x = 'OS'"


@pytest.mark.parametrize(
    ("glob", "paths"),
    [
        ("*.py", ["src/main.py:1", "src/inner/deep.py:1"]),
        ("src/*.py", ["src/main.py:1"]),
        ("src/**/*.py", ["src/main.py:1", "src/inner/deep.py:1"]),
        ("**/deep.*", ["src/inner/deep.py:1"]),
        ("/readme.md", []),
        ("main", []),
        ("????.py", ["src/main.py:1", "src/inner/deep.py:1"]),
        ("[m]ain.py", []),
    ],
)
def test_a_glob_chooses_files(files: Confined, glob: str, paths: list[str]) -> None:
    assert where(search(files, "(?i)^import os|'OS'", regex=True, glob=glob)) == paths


def test_a_search_stops_at_its_limit_its_time_and_on_request(files: Confined) -> None:
    found = search(files, "os", limit=2)
    assert (len(found.matches), found.stopped) == (2, "limit")
    assert search(files, "os", seconds=0.0).stopped == "time"
    stop = threading.Event()
    stop.set()
    assert searching.search(files, (), Query("os"), LIMIT, stop).stopped == "cancelled"


@pytest.mark.parametrize(
    "pattern", ["(", "(?=x)", r"(a)\1", "(?:(?:a{1000}){1000}){1000}", "\\pL{900}{9}", "[z-a]"]
)
def test_a_pattern_that_cannot_be_bounded_is_refused_with_a_reason(files: Confined, pattern: str) -> None:
    with pytest.raises(WorkspaceError) as error:
        search(files, pattern, regex=True)
    assert error.value.code == "search_pattern"
    assert error.value.fields["reason"]


def test_patterns_that_explode_elsewhere_take_linear_time(files: Confined) -> None:
    (files.root / "long").write_bytes(b"a" * 1_900_000 + b"b")
    for pattern in ("(a+)+$", "(a|aa)+$", "(.*a){25}c", "a*a*a*a*a*a*c"):
        assert search(files, pattern, regex=True, glob="long").stopped == ""


def test_a_long_line_is_shown_around_the_match(files: Confined) -> None:
    (files.root / "long").write_text("é" * 500_000 + " needle " + "é" * 400_000)
    (match,) = search(files, "needle").matches
    assert match.text.startswith("…é")
    assert " needle " in match.text
    assert len(match.text) <= 310


def test_a_larger_file_is_counted_as_skipped(files: Confined) -> None:
    (files.root / "large").write_bytes(b"os\n" * 700_000)
    assert search(files, "os", glob="large") == Found((), 0, 1)
