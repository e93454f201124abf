"""A small versioned YAML file that several processes read at any time and change one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from runtime import yamlfile
from runtime.errors import Field, OrionError
from runtime.locks import Lock

ModelT = TypeVar("ModelT", bound=BaseModel)
PATIENCE = 2.0
"""Seconds that a change waits for another process that changes the file too; longer than any change takes."""


class SharedFile(Generic[ModelT]):
    """The file at `path` as `model`, which has a default for everything; `version` is the one written."""

    def __init__(self, path: Path, model: type[ModelT], version: int) -> None:
        self.path = path
        self._model = model
        self._version = version
        self._seen: tuple[int, int, int] | None = None
        self._value = model()

    def read(self) -> ModelT:
        """What the file says now; the defaults where there is none. Costs one look at the file while it
        stays the same. Raises OrionError naming file and line, or `format_newer`."""
        signature = self.signature()
        if signature is None:
            return self._model()
        if signature != self._seen:
            data = yamlfile.read(self.path)
            found = data.get("version", self._version)
            if isinstance(found, int) and found > self._version:
                raise OrionError("format_newer", path=str(self.path), found=found, known=self._version)
            self._value = yamlfile.validate(data, self.path, self._model)
            self._seen = signature
        return self._value

    def notices(self) -> list[tuple[str, dict[str, Field]]]:
        """Code and fields of what keeps the file from being read; empty when all is well."""
        try:
            self.read()
        except OrionError as error:
            return [(error.code, error.fields)]
        return []

    def signature(self) -> tuple[int, int, int] | None:
        """Something that differs after every change; None where there is no file."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def change(self, made: Callable[[ModelT], dict[str, Any]]) -> None:
        """Write the members that `made` gives for what the file says now; nobody changes it meanwhile.

        Raises OrionError as `read`, and `file_unwritable`.
        """
        with self._held():
            members = made(self.read())
            yamlfile.save(self.path, {"version": self._version, **members})

    @contextmanager
    def _held(self) -> Iterator[None]:
        lock = self._lock()
        try:
            yield
        finally:
            lock.release()

    def _lock(self) -> Lock:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return Lock(self.path.with_name(f".{self.path.name}.lock"), "change", "file_unwritable")
            except OrionError:
                if time.monotonic() > deadline:
                    raise OrionError("file_busy", path=str(self.path)) from None
                time.sleep(0.005)
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise OrionError("file_unwritable", path=str(self.path), reason=reason) from error
