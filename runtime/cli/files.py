"""Reads and writes the files a command line names; a failure is an error with the file's name."""

from __future__ import annotations

import sys
from pathlib import Path

from runtime.errors import OrionError


def write_new(file: Path, text: str) -> None:
    """Write `text` to `file`, which must not exist; OrionError `cli_file_exists` or `cli_file_unwritable`."""
    try:
        with file.open("x", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise OrionError("cli_file_exists", path=str(file)) from error
    except OSError as error:
        raise OrionError("cli_file_unwritable", path=str(file), reason=error.strerror or "") from error


def read(name: str) -> str:
    """The text of the file `name`, or of standard input for "-"; OrionError `cli_file_unreadable`."""
    if name == "-":
        raw = sys.stdin.buffer.read() if sys.stdin is not None else b""
        return raw.decode("utf-8", "surrogateescape")
    try:
        return Path(name).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise OrionError("cli_file_unreadable", path=name, reason=error.strerror or "") from error
