"""search_files shows where a text is, and corrects a bad pattern."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from runtime import search
from runtime.tools.search_files import SearchFiles
from runtime.tools.tool import Failure
from tests.runtime.tools.call import call, context, text


def test_it_shows_matches_and_a_summary(tmp_path: Path) -> None:
    given = context(tmp_path)
    given.workspace.write("code/a.py", "import os\nx = 1\n")
    given.workspace.write("notes/b", b"os\0")
    assert text(call(SearchFiles(), given, pattern="os")).splitlines() == [
        "code/a.py:1: import os",
        "[Matching lines: 1, files searched: 1, binary or large ones skipped: 1.]",
    ]
    assert text(call(SearchFiles(), given, pattern="^x", regex=True, path="code")).startswith(
        "code/a.py:2: x"
    )
    assert "There are more" in text(call(SearchFiles(), given, pattern=".", regex=True, limit=1))


def test_a_bad_pattern_is_explained(tmp_path: Path) -> None:
    result = call(SearchFiles(), context(tmp_path), pattern="(", regex=True)
    assert isinstance(result, Failure)
    assert result.kind == "invalid"
    assert "missing )" in result.message


def test_a_cancelled_search_stops(tmp_path: Path) -> None:
    given = context(tmp_path)
    given.workspace.write("a", "x")
    waiting, go_on, found = threading.Event(), threading.Event(), []
    real = given.workspace.search

    def held(query: search.Query, path: str, stop: threading.Event) -> search.Found:
        waiting.set()
        go_on.wait(10)
        found.append(real(query, path, stop))
        return found[0]

    object.__setattr__(given.workspace, "search", held)

    async def cancel() -> None:
        arguments = SearchFiles().definition().arguments.model_validate({"pattern": "x"})
        task = asyncio.create_task(SearchFiles().execute(arguments, given))  # type: ignore[arg-type]
        await asyncio.to_thread(waiting.wait, 10)
        task.cancel()
        await asyncio.wait([task])
        go_on.set()

    asyncio.run(cancel())
    assert found[0].stopped == "cancelled"
