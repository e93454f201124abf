"""The two output streams of a terminal or a pipe: colours, safe text, a status line that goes away."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from textwrap import fill
from typing import TextIO

from resources.sentences import sentence
from runtime import pathnames
from runtime.errors import OrionError

STYLES = {
    "": "",
    "dim": "2",
    "bold": "1",
    "italic": "2;3",
    "code": "36",
    "good": "32",
    "bad": "31",
    "warn": "33",
    "accent": "1;34",
}
_BIDI = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_CONTROLS = [code for code in (*range(32), 127, *range(128, 160)) if chr(code) not in "\n\t"]
_ESCAPED = {code: f"\\x{code:02x}" for code in _CONTROLS}
_VISIBLE = _ESCAPED | {13: ""}
_EXACT = _ESCAPED | {ord(mark): f"\\u{ord(mark):04x}" for mark in _BIDI}
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class ReaderGone(Exception):
    """Whoever read the output does not read it any more."""


def visible(text: str) -> str:
    """`text` without power over the terminal: control characters become escapes, carriage returns go."""
    return text.translate(_VISIBLE)


def exact(text: str) -> str:
    """`text` for a decision: every control, direction mark and unseen sign is shown: nothing hides."""
    lines = text.translate(_EXACT).split("\n")
    return "\n".join("\t".join(map(pathnames.visible, line.split("\t"))) for line in lines)


class Terminal:
    """Writes answers to `out` and everything else to `err`; used from the main thread only.

    Characters a stream cannot encode are written as backslash escapes. A closed reader surfaces as
    ReaderGone, any other fault of a stream as OrionError `cli_output_unwritable`. Colours, the status
    line and the escaping of control characters apply only to a stream that is a terminal; a pipe gets the
    text unchanged.
    """

    def __init__(
        self, out: TextIO | None = None, err: TextIO | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        self._out = out or sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        self._err = err or sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        env = os.environ if env is None else env
        plain = env.get("TERM") == "dumb" or bool(env.get("NO_COLOR"))
        self.out_tty = self._out.isatty()
        self.err_tty = self._err.isatty()
        self.colour_out = self.out_tty and not plain
        self.colour_err = self.err_tty and not plain
        self.moving = self.err_tty and env.get("TERM") != "dumb"
        self.unicode = "utf" in (self._err.encoding or "").lower()
        self._out_midline = False
        self._err_midline = False
        self._status = False

    @property
    def width(self) -> int:
        """Columns of the terminal, 80 when it is none."""
        return shutil.get_terminal_size().columns

    def answer(self, text: str) -> None:
        """Write to the output as is; what came from a model goes through `visible` or a Painter first."""
        if not text:
            return
        self.clear()
        if self._err_midline:
            self.end_note()
        _write(self._out, text)
        self._out_midline = not text.endswith("\n")

    def end_answer(self) -> None:
        """Finish an open line of the output."""
        if self._out_midline:
            self.answer("\n")

    def note(self, text: str, style: str = "dim", end: str = "\n") -> None:
        """Write to the error stream, on a line of its own when a terminal shows both streams."""
        self.clear()
        if self._out_midline and self.out_tty and self.err_tty:
            _write(self._err, "\n")
            self._out_midline = False
        shown = visible(text) if self.err_tty else text
        _write(self._err, self.styled(shown, style) + end)
        self._err_midline = not (shown + end).endswith("\n")

    def fault(self, code: str, fields: Mapping[str, object], style: str = "bad") -> None:
        """Say the sentence of `code`, broken between words where somebody reads it on a terminal."""
        text = sentence(code, **fields)
        self.note(fill(visible(text), self.width) if self.err_tty and self.width > 20 else text, style)

    def end_note(self) -> None:
        """Finish an open line of the error stream."""
        if self._err_midline:
            _write(self._err, "\n")
            self._err_midline = False

    def forget_note(self) -> None:
        """The user pressed Enter on an open line of the error stream: it is finished."""
        self._err_midline = False

    def status(self, text: str) -> None:
        """Show `text` until the next output; only where the line can be taken away again."""
        if self.moving and not self._out_midline and not self._err_midline:
            line = visible(text).replace("\n", " ")[: max(self.width - 1, 1)]
            _write(self._err, "\r\x1b[K" + self.styled(line, "dim"))
            self._status = True

    def clear(self) -> None:
        """Take the status line away."""
        if self._status:
            self._status = False
            _write(self._err, "\r\x1b[K")

    def styled(self, text: str, style: str) -> str:
        """`text` in a style of the error stream, each line closed for itself."""
        return _styled(text, style) if self.colour_err else text

    def painted(self, text: str, style: str) -> str:
        """`text` for the output, its control characters shown, in a style where the output has colours."""
        shown = visible(text) if self.out_tty else text
        return _styled(shown, style) if self.colour_out else shown

    def sign(self, sign: str, plain: str) -> str:
        """`sign` where the terminal can show it, else `plain`."""
        return sign if self.unicode else plain


def _styled(text: str, style: str) -> str:
    code = STYLES[style]
    if not (code and text):
        return text
    return "\n".join(f"\x1b[{code}m{line}\x1b[0m" if line else "" for line in text.split("\n"))


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError as error:
        raise ReaderGone from error
    except OSError as error:
        raise OrionError("cli_output_unwritable", reason=error.strerror or "") from error
