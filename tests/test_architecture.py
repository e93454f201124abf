"""The walls, sizes and lists of the house hold."""

from __future__ import annotations

import ast
import builtins
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from installer import gates
from resources.sentences import known

ROOT = Path(__file__).resolve().parent.parent
QUIET_ROOMS = ("runtime", "models", "voice", "sandbox", "resources", "installer")
HEAVY = ("PySide6", "llama_cpp", "numpy", "ctranslate2", "docker", "onnxruntime")


def modules(*rooms: str) -> Iterator[tuple[str, Path]]:
    """Dotted name and file of every module in `rooms`."""
    for room in rooms:
        for file in sorted((ROOT / room).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_walls_between_the_rooms_hold() -> None:
    found = run(
        sys.executable, "-c", "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"
    )
    assert found.returncode == 0, found.stdout


def test_no_house_rule_is_broken() -> None:
    assert list(gates.complaints()) == []


@pytest.mark.parametrize("room", gates.ROOMS)
def test_every_room_says_what_it_is(room: str) -> None:
    sentence = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8")))
    assert sentence
    assert re.fullmatch(r"[A-Z][^\n]*\.", sentence.split("\n")[0])


def test_importing_a_module_starts_and_loads_nothing() -> None:
    names = [name for name, _ in modules(*QUIET_ROOMS) if not name.endswith("__main__")]
    script = (
        f"import importlib, sys, threading\nfor name in {names!r}:\n    importlib.import_module(name)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], threading.active_count())"
    )
    found = run(sys.executable, "-c", script)
    assert (found.stdout.strip(), found.returncode) == ("[] 1", 0), found.stderr


def raised_in(file: Path) -> Iterator[tuple[str, set[str] | None]]:
    """Codes given literally to our error classes or to `sentence`, with the fields given (None: unknown)."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        # What a guest says in its PeerErrors stays on the wire; the host gives it a code of its own.
        ours = called == "sentence" or (
            called.endswith("Error") and called != "PeerError" and not hasattr(builtins, called)
        )
        named = {word.arg: word.value for word in node.keywords}
        for value in [*(node.args[:1] if ours else []), *([named["code"]] if "code" in named else [])]:
            code = value.value if isinstance(value, ast.Constant) else None
            if isinstance(code, str) and re.fullmatch(r"[a-z][a-z0-9_]*", code):
                yield code, None if not ours or None in named else {name for name in named if name}


def test_every_error_code_has_a_sentence() -> None:
    used = {code: name for name, file in modules(*gates.ROOMS[:-1]) for code, _ in raised_in(file)}
    silent = {code: name for code, name in used.items() if code not in known()}
    assert silent == {}


def test_every_sentence_belongs_to_a_code() -> None:
    sources = "\n".join(file.read_text(encoding="utf-8") for _, file in modules(*gates.ROOMS[:-1]))
    unused = [code for code in known() if f'"{code}"' not in sources]
    assert unused == []


def test_every_field_of_a_sentence_is_given() -> None:
    absent = []
    for name, file in modules(*gates.ROOMS[:-1]):
        for code, given in raised_in(file):
            wanted = {field for _, field, _, _ in string.Formatter().parse(known().get(code, "")) if field}
            if given is not None and wanted - given:
                absent.append((name, code, sorted(wanted - given)))
    assert absent == []
