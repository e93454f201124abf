"""Streams that stand for a terminal or a pipe and tell what was written to them."""

from __future__ import annotations

import io

from runtime.cli.terminal import ANSI, Terminal


class Pipe(io.TextIOWrapper):
    """A stream that is no terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self._bytes = io.BytesIO()
        super().__init__(self._bytes, encoding=encoding, newline="")

    def shown(self) -> str:
        """Everything written so far."""
        return self._bytes.getvalue().decode(self.encoding)


class Screen(Pipe):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def terminal(kind: type[Pipe] = Pipe, encoding: str = "utf-8") -> tuple[Terminal, Pipe, Pipe]:
    """A terminal over two streams of one kind, with output and error stream."""
    out, err = kind(encoding), kind(encoding)
    return Terminal(out, err, {}), out, err


def plain(text: str) -> str:
    """`text` without colours and moves of the cursor."""
    return ANSI.sub("", text)
