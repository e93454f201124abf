"""`orion models import | delete | exam`: files of this machine are taken in, deleted and examined."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.runtime.cli.commands import Here, typist
from tests.runtime.model_stage import bundled, model, settle


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, fresh_home: Path) -> Here:
    settle(fresh_home)
    return Here(monkeypatch)


def names(here: Here) -> list[str]:
    rows = json.loads(here.run("models", "list", "--profile", "orion-local", "--json").out)
    return [row["name"] for row in rows]


def test_files_are_copied_moved_and_used_where_they_lie(here: Here, fresh_home: Path, tmp_path: Path) -> None:
    copied, moved, kept = (model(tmp_path / f"{name}.gguf") for name in ("Copied", "Moved", "Kept"))
    ran = here.run("models", "import", str(copied))
    assert ran.code == 0
    assert ran.err == "Copied is there.\n"
    assert here.run("models", "import", str(moved), "--move").code == 0
    assert here.run("models", "import", str(kept), "--in-place").code == 0
    assert (copied.exists(), moved.exists(), kept.exists()) == (True, False, True)
    assert sorted(path.name for path in (fresh_home / "weights").glob("*")) == ["Copied.gguf", "Moved.gguf"]
    assert {"Copied", "Moved", "Kept"} <= set(names(here))
    again = here.run("models", "import", str(kept))
    assert again.code == 1
    assert here.run("models", "import", str(kept), "--move", "--in-place").code == 2


def test_everything_here_is_listed_with_what_is_known_of_it(here: Here, tmp_path: Path) -> None:
    assert here.run("models", "import", str(model(tmp_path / "Kept.gguf")), "--in-place").code == 0
    shown = here.run("models", "list", "--here").out.splitlines()
    own = next(line for line in shown if line.startswith(f"* {bundled().stem} "))
    assert "language, " in own
    assert "shipped, fits" in own
    assert own.endswith("not examined")
    assert any("Kept" in line and "in a folder of yours" in line for line in shown)
    rows = json.loads(here.run("models", "list", "--here", "--json").out)
    assert {row["kind"] for row in rows} == {"language", "speech"}
    listens = next(row["name"] for row in rows if row["kind"] == "speech")
    assert here.run("models", "use", listens).err == f"{listens} listens from now on.\n"


def test_what_cannot_be_taken_in_is_said_and_the_rest_is(here: Here, tmp_path: Path) -> None:
    good, bad = model(tmp_path / "Good.gguf"), tmp_path / "bad.gguf"
    bad.write_bytes(b"none of that")
    ran = here.run("models", "import", str(bad), str(good), "--json")
    assert ran.code == 7
    assert "is not a usable model file" in ran.err
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert rows[-1]["code"] == "model_file_not_gguf"
    assert "Good" in [row["name"] for row in rows]
    assert "Good" in names(here)
    empty = here.run("models", "import", str(tmp_path / "nowhere.gguf"))
    assert empty.code == 7
    (tmp_path / "empty").mkdir()
    assert here.run("models", "import", str(tmp_path / "empty")).code == 6


def test_deleting_asks_and_says_what_it_frees(here: Here, fresh_home: Path, tmp_path: Path) -> None:
    path = model(fresh_home / "weights" / "Mine.gguf", more=100_000)
    piped = here.run("models", "delete", "Mine", typed=b"y\n")
    assert piped.code == 4
    assert "Say --yes if you mean it" in piped.err
    for typed, told, code in (
        ("\n", "Nothing was deleted.", 4),
        ("y\n", "Mine is deleted; 101 kB are free", 0),
    ):
        with typist("models", "delete", "Mine") as terminal:
            terminal.until("Delete Mine from this disk? That frees 101 kB. [y/N] ")
            assert path.exists()
            terminal.type(typed)
            terminal.until(told)
            assert terminal.ended() == code
    assert not path.exists()
    kept = model(tmp_path / "Kept.gguf")
    assert here.run("models", "import", str(kept), "--in-place").code == 0
    forgotten = here.run("models", "delete", "Kept", "--yes")
    assert forgotten.err == "Kept is forgotten; its file is still where it was.\n"
    assert kept.exists()
    assert "Kept" not in names(here)


def test_what_must_stay_or_is_not_there_is_not_deleted(here: Here) -> None:
    own = here.run("models", "delete", bundled().stem, "--yes")
    assert own.code == 1
    assert "part of the program" in own.err
    missing = here.run("models", "delete", "nonsense", "--yes")
    assert missing.code == 7
    assert "There is no model called nonsense" in missing.err


def test_a_chosen_model_is_deleted_and_its_chat_says_so(here: Here, fresh_home: Path) -> None:
    path = fresh_home / "weights" / "Mine.gguf"
    path.parent.mkdir()
    shutil.copyfile(bundled(), path)
    assert here.run("models", "use", "Mine").code == 0
    assert here.run("ask", "Hello").code == 0
    freed = json.loads(here.run("models", "delete", "Mine", "--yes", "--json").out)
    assert freed == {"bytes": bundled().stat().st_size, "files": [str(path)]}
    old = here.run("ask", "And now?", "--session", "last")
    assert old.code == 7
    assert "There is no model called Mine" in old.err
    assert here.run("ask", "Hello").code == 0


def test_an_exam_is_ended_by_ctrl_c(fresh_home: Path) -> None:
    settle(fresh_home)
    with typist("models", "exam", bundled().stem) as terminal:
        terminal.until(f"Examining {bundled().stem}: ")
        terminal.type("\x03")
        terminal.until("The exam was ended; nothing is kept of it.")
        assert terminal.ended() == 130
    assert not (fresh_home / "exams.json").exists()


def test_an_exam_of_nothing_is_one_sentence(here: Here) -> None:
    ran = here.run("models", "exam", "nonsense")
    assert ran.code == 7
    assert "There is no model called nonsense" in ran.err
