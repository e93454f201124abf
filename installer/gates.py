"""The house rules that no linter knows: sizes, names, hosts and paths, in every file that git sees."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("desktop", "runtime", "voice", "models", "sandbox", "resources", "installer", "tests")
LONGEST_MODULE, LARGEST_FILE = 400, 1_000_000
BUDGETS = {"module": 250, "function": 60, "parameters": 7}

_HOSTS = [
    ".".join(name)
    for name in (("pypi", "org"), ("python" + "hosted", "org"), ("npmjs", "org"), ("debian", "org"))
]
FORBIDDEN_TEXT = {
    "names a package index": re.compile("|".join(map(re.escape, _HOSTS))),
    "names a path of one machine": re.compile(r"(?<![\w.$}])/(?:work|root)/"),
}
FORBIDDEN_CODE = {
    "holds an unfinished part": re.compile(r"\b(?:TODO|FIXME|XXX|NotImplementedError)\b"),
}
FORBIDDEN_IN_TESTS = {
    "sleeps instead of waiting": re.compile(r"\btime\.sleep\(|\basyncio\.sleep\((?!0\)|0\.0\d*\))"),
    "replaces parts of the program by mocks": re.compile(r"\bmock\.patch\b|\bMagicMock\b"),
}
NAMELESS = re.compile(r"^(?:utils?|helpers?|managers?|base|common|misc)$")


def files() -> list[Path]:
    """Every file of the project that is, or is about to be, under version control."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in sorted(set(listed.split("\0"))) if name and (ROOT / name).is_file()]


def complaints() -> Iterator[str]:
    """One sentence for every broken rule."""
    for file in files():
        name = file.relative_to(ROOT).as_posix()
        if file.stat().st_size > LARGEST_FILE:
            yield f"{name} is larger than {LARGEST_FILE} bytes"
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        rules = dict(FORBIDDEN_TEXT)
        if file.suffix == ".py":
            yield from _module_complaints(name, text)
            rules |= FORBIDDEN_CODE | (FORBIDDEN_IN_TESTS if name.startswith("tests/") else {})
        if name != "installer/gates.py":
            yield from _text_complaints(name, text, rules)


def _text_complaints(name: str, text: str, rules: dict[str, re.Pattern[str]]) -> Iterator[str]:
    for what, pattern in rules.items():
        for found in pattern.finditer(text):
            yield f"{name}:{text.count(chr(10), 0, found.start()) + 1} {what}: {found.group()}"


def _module_complaints(name: str, text: str) -> Iterator[str]:
    lines = text.count("\n")
    if lines > LONGEST_MODULE:
        yield f"{name} has {lines} lines; {LONGEST_MODULE} are the end"
    if NAMELESS.match(Path(name).stem):
        yield f"{name} is not named for what it defines"
    if not (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].endswith("."):
        yield f"{name} does not open with a sentence about itself"


def over_budget() -> Iterator[str]:
    """One line for every module, function or parameter list that is too long; not an error."""
    for file in files():
        if file.suffix != ".py":
            continue
        name, text = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
        if text.count("\n") > BUDGETS["module"]:
            yield f"{name}: {text.count(chr(10))} lines"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                count = len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)
                if length > BUDGETS["function"]:
                    yield f"{name}:{node.lineno} {node.name}: {length} lines"
                if count > BUDGETS["parameters"] + 1:
                    yield f"{name}:{node.lineno} {node.name}: {count} parameters"


def main() -> int:
    """Print what is wrong and, after it, what is merely long; 1 if anything is wrong."""
    wrong = list(complaints())
    for line in wrong:
        print(line)
    for line in over_budget():
        print(f"over budget: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
