"""References to models elsewhere are kept in a file that several processes and people change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from models.errors import EngineError
from models.references import References

ROOT = Path(__file__).resolve().parents[2]


def test_paths_are_kept_in_order_once_and_forgotten(tmp_path: Path) -> None:
    references = References(tmp_path / "home" / "models.yaml")
    one, two = tmp_path / "ä one: #.gguf", tmp_path / "two.gguf"
    assert references.paths() == ()
    for path in (one, two, one):
        references.add(path)
    assert references.paths() == (one, two)
    assert References(tmp_path / "home" / "models.yaml").paths() == (one, two)
    references.remove(one)
    references.remove(tmp_path / "never there")
    assert references.paths() == (two,)
    assert (tmp_path / "home" / "models.yaml").read_text().startswith("version: 1\n")


def test_what_another_one_wrote_is_seen(tmp_path: Path) -> None:
    first, second = References(tmp_path / "models.yaml"), References(tmp_path / "models.yaml")
    first.add(tmp_path / "a.gguf")
    assert second.paths() == (tmp_path / "a.gguf",)
    second.add(tmp_path / "b.gguf")
    assert first.paths() == (tmp_path / "a.gguf", tmp_path / "b.gguf")


def test_processes_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from models.references import References\n"
        "made = References(Path(sys.argv[1]))\n"
        "for at in range(20): made.add(Path(f'/models/{sys.argv[2]}-{at}.gguf'))\n"
    )
    path = tmp_path / "models.yaml"
    running = [subprocess.Popen([sys.executable, "-c", program, str(path), name], cwd=ROOT) for name in "abc"]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    assert len(References(path).paths()) == 60


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("models: [", "references_unreadable"),
        ("[]", "references_unreadable"),
        ("models: 7", "references_unreadable"),
        ("\0", "references_unreadable"),
        ("version: 2\nmodels: []", "format_newer"),
        ("# " + "x" * (1 << 20), "references_unreadable"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_and_left_untouched(text: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(text)
    references = References(path)
    assert references.paths() == ()
    for act in (references.check, lambda: references.add(tmp_path / "a.gguf")):
        with pytest.raises(EngineError) as caught:
            act()
        assert caught.value.code == code
    assert path.read_text() == text


def test_entries_that_are_no_paths_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text('version: 1\nmodels: [7, "", null, "a\\0b", /m/x.gguf, /m/x.gguf, [y]]')
    assert References(path).paths() == (Path("/m/x.gguf"),)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EngineError) as caught:
        References(tmp_path / "file" / "models.yaml").add(tmp_path / "a.gguf")
    assert caught.value.code == "references_unwritable"
