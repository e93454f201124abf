"""Remembers model files that are used where they lie, in a small versioned YAML file that people may edit."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from models.errors import EngineError

VERSION = 1
_LARGEST = 1 << 20


class References:
    """The paths in the file at `path`. Several processes may change it one after the other; each change is
    read, made and written as a whole file under a lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._paths: tuple[Path, ...] = ()

    def paths(self) -> tuple[Path, ...]:
        """The files, oldest first; none where the file cannot be read, which `check` says."""
        try:
            return self._read()
        except EngineError:
            return ()

    def check(self) -> None:
        """EngineError references_unreadable (path, reason) or format_newer where the file cannot be used."""
        self._read()

    def add(self, model: Path) -> None:
        """Remember `model`, once. EngineError as `check`, references_unwritable."""
        self._change(lambda paths: paths if model in paths else (*paths, model))

    def remove(self, model: Path) -> None:
        """Forget `model`. EngineError as `add`."""
        self._change(lambda paths: tuple(path for path in paths if path != model))

    def _read(self) -> tuple[Path, ...]:
        try:
            status = self._path.stat()
        except OSError:
            return ()
        seen = status.st_ino, status.st_mtime_ns, status.st_size
        if seen != self._seen:
            self._paths = self._parsed(status.st_size)
            self._seen = seen
        return self._paths

    def _parsed(self, size: int) -> tuple[Path, ...]:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        if size > _LARGEST:
            raise self._unreadable(f"it has {size} bytes")
        try:
            found = YAML(typ="safe", pure=True).load(self._path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, YAMLError, RecursionError) as error:
            raise self._unreadable(str(error).splitlines()[0] if str(error) else "broken") from error
        if not isinstance(found, dict) or not isinstance(found.get("models"), list):
            raise self._unreadable("it has no list named models")
        version = found.get("version")
        if isinstance(version, int) and version > VERSION:
            raise EngineError("format_newer", path=str(self._path), found=version, known=VERSION)
        texts = [text for text in found["models"] if isinstance(text, str) and text and "\0" not in text]
        return tuple(dict.fromkeys(Path(os.path.expanduser(text)) for text in texts))

    def _change(self, made: Callable[[tuple[Path, ...]], tuple[Path, ...]]) -> None:
        from filelock import FileLock, Timeout
        from ruamel.yaml import YAML

        part = self._path.with_name(f".{self._path.name}.part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self._path.with_name(f".{self._path.name}.lock"), timeout=5):
                paths = made(self._read())
                with part.open("w", encoding="utf-8") as file:
                    YAML().dump({"version": VERSION, "models": [str(path) for path in paths]}, file)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(part, self._path)
        except (OSError, UnicodeError, Timeout) as error:
            raise EngineError("references_unwritable", path=str(self._path), reason=str(error)) from error

    def _unreadable(self, reason: str) -> EngineError:
        return EngineError("references_unreadable", path=str(self._path), reason=reason)
