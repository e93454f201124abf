"""The one loader for files that people write: YAML into a pydantic model, faults named by file and line."""

from __future__ import annotations

import difflib
import os
import tempfile
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from runtime.errors import OrionError

ModelT = TypeVar("ModelT", bound=BaseModel)


def load(path: Path, model: type[ModelT]) -> ModelT:
    """Read `path` as `model`. Raises OrionError `yaml_unreadable`, `yaml_syntax`, `yaml_unknown_key` or
    `yaml_wrong_value`, each with path and line."""
    return validate(read(path), path, model)


def read(path: Path) -> CommentedMap:
    """The mapping in `path`, with line numbers; empty for an empty file."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OrionError("yaml_unreadable", path=str(path), reason=str(error)) from error
    try:
        found = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise OrionError(
            "yaml_syntax", path=str(path), line=line, problem=error.problem or "bad syntax"
        ) from error
    except YAMLError as error:
        raise OrionError("yaml_syntax", path=str(path), line=1, problem=str(error).splitlines()[0]) from error
    if found is None:
        return CommentedMap()
    if not isinstance(found, CommentedMap):
        raise OrionError("yaml_syntax", path=str(path), line=1, problem="the file must hold names and values")
    return found


def validate(data: CommentedMap, path: Path, model: type[ModelT]) -> ModelT:
    """`data` as `model`; the first fault becomes an OrionError."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        # A misspelt name is the cause where the right one is reported missing too.
        fault = next((found for found in faults if found["type"] == "extra_forbidden"), faults[0])
        where = fault["loc"]
        line = _line(data, where)
        key = ".".join(str(part) for part in where)
        if fault["type"] == "extra_forbidden":
            nearest = _nearest(model, where)
            raise OrionError(
                "yaml_unknown_key", path=str(path), line=line, key=key, nearest=nearest
            ) from error
        raise OrionError(
            "yaml_wrong_value", path=str(path), line=line, key=key or "?", problem=fault["msg"]
        ) from error


def save(path: Path, changes: dict[str, Any]) -> None:
    """Set dotted names in the file, keeping the user's comments and order; the file is replaced at once."""
    data = read(path) if path.exists() else CommentedMap()
    for name, value in changes.items():
        *folders, key = name.split(".")
        place = data
        for folder in folders:
            place = place.setdefault(folder, CommentedMap())
        place[key] = value
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            YAML(typ="rt").dump(data, out)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OrionError("file_unwritable", path=str(path), reason=reason) from error


def _line(data: Any, where: tuple[int | str, ...]) -> int:
    line = 1
    for part in where:
        if not hasattr(data, "lc"):
            break
        try:
            place = data.lc.key(part) if isinstance(data, CommentedMap) else data.lc.item(part)
            line = place[0] + 1
            data = data[part]
        except (KeyError, IndexError, TypeError):
            break
    return line


def _nearest(model: type[BaseModel], where: tuple[int | str, ...]) -> str:
    """The known name that looks most like the unknown one at `where`."""
    for part in where[:-1]:
        field = model.model_fields.get(str(part))
        if field is None:  # a name the user chose, or a place in a list
            continue
        inner = (field.annotation, *get_args(field.annotation))
        models = [kind for kind in inner if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if not models:
            return ""
        model = models[0]
    names = [field.alias or name for name, field in model.model_fields.items()]
    close = difflib.get_close_matches(str(where[-1]), names, n=1, cutoff=0.0)
    return close[0] if close else ""
