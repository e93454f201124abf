"""Fetches the Berkeley function-calling set; its questions become requests, and calls become verdicts."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "bfcl"
WHEEL = "bfcl-eval==2026.3.23"
FILES = {
    "simple": "simple_python",
    "multiple": "multiple",
    "parallel": "parallel",
    "irrelevance": "irrelevance",
}
_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": ""}

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """A question with the tools offered; `truth` is what the checker compares with, empty for irrelevance."""

    category: str
    messages: list[JsonObject]
    functions: list[JsonObject]
    truth: list[JsonObject]

    def tools(self) -> list[JsonObject]:
        """The functions as tools of a request, their schemas in the words of JSON Schema."""
        return [
            {"type": "function", "function": {**one, "parameters": _schema(one["parameters"])}}
            for one in self.functions
        ]


def fetch() -> Path:
    """The folder with the unpacked wheel, downloaded without what it depends on if it is not there yet."""
    if not (FOLDER / "bfcl_eval").is_dir():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, WHEEL]
            subprocess.run(pip, check=True)
            (wheel,) = Path(folder).glob("*.whl")
            zipfile.ZipFile(wheel).extractall(FOLDER)
    return FOLDER


def items(category: str, count: int) -> list[Item]:
    """The first `count` questions of a category."""
    data = fetch() / "bfcl_eval" / "data"
    name = f"BFCL_v4_{FILES[category]}.json"
    questions = [json.loads(line) for line in (data / name).read_text("utf-8").splitlines()[:count]]
    answers: dict[str, list[JsonObject]] = {}
    if category != "irrelevance":
        for line in (data / "possible_answer" / name).read_text("utf-8").splitlines():
            one = json.loads(line)
            answers[one["id"]] = one["ground_truth"]
    return [
        Item(category, one["question"][0], one["function"], answers.get(one["id"], [])) for one in questions
    ]


def _declared(call: JsonObject, item: Item) -> JsonObject:
    """The call with its numbers in the kinds that the function declares."""
    schemas = {one["name"]: one["parameters"] for one in item.functions}
    return {name: _as(schemas.get(name, {}), arguments) for name, arguments in call.items()}


def _as(schema: JsonObject, value: Any) -> Any:
    if schema.get("type") == "float" and type(value) is int:
        return float(value)
    if isinstance(value, list):
        return [_as(schema.get("items", {}), part) for part in value]
    if isinstance(value, dict):
        inner = schema.get("properties", {})
        return {key: _as(inner.get(key, {}), part) for key, part in value.items()}
    return value


def judged(given: Sequence[tuple[Item, list[JsonObject]]]) -> list[bool]:
    """Whether each reply's calls (each {name: arguments}) are right, or none where none is wanted.

    JSON knows one kind of number, the checker two: a whole number where the function declares a float, also
    inside of lists and objects, is handed to it as one.
    """
    lines = [
        json.dumps(
            {
                "category": item.category,
                "functions": item.functions,
                "calls": [_declared(call, item) for call in calls],
                "truth": item.truth,
            }
        )
        for item, calls in given
        if item.truth
    ]
    judge = [sys.executable, str(Path(__file__).parent / "bfcl_judge.py"), str(fetch())]
    done = subprocess.run(judge, input="\n".join(lines), capture_output=True, text=True, check=True)
    verdicts = iter(json.loads(line) for line in done.stdout.splitlines())
    return [next(verdicts) if item.truth else not calls for item, calls in given]


def _schema(schema: Any) -> Any:
    """The set's own names of types become JSON Schema's."""
    if isinstance(schema, list):
        return [_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {key: _schema(value) for key, value in schema.items()}
    kind = changed.get("type")
    if isinstance(kind, str) and kind in _TYPES:
        changed["type"] = _TYPES[kind]
        if not _TYPES[kind]:
            del changed["type"]
    return changed
