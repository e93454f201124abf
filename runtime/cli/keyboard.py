"""Reads messages at the terminal, with history, completion and pastes of many lines; or lines from a pipe."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Sequence
from pathlib import Path

from runtime.cli.terminal import Terminal

_HISTORY_LENGTH = 1000
_PASTE_GAP_SECONDS = 0.02


class Keyboard:
    """Standard input as a sequence of messages, on the main thread; `close` keeps the history.

    `history` None remembers nothing. `words` are completed with Tab.
    """

    def __init__(self, terminal: Terminal, history: Path | None, words: Sequence[str]) -> None:
        self._terminal = terminal
        self._history = history
        self._words = words
        self.interactive = sys.stdin is not None and sys.stdin.isatty()
        self._editing = self.interactive and terminal.moving and self._set_up()

    def read(self, prompt: str) -> str:
        """The next message without its last line end. A line that ends in a backslash goes on in the next;
        what was pasted is one message. EOFError at the end of input, KeyboardInterrupt on Ctrl-C."""
        if not self.interactive:
            return self._piped()
        lines = [self._line(prompt)]
        try:
            while (pasted := self._more()) or lines[-1].endswith("\\"):
                if not pasted:
                    lines[-1] = lines[-1][:-1]
                lines.append(self._line("" if pasted else self._terminal.sign("  … ", "  > ")))
        except EOFError:
            pass
        return "\n".join(lines)

    def close(self) -> None:
        """Write the history, for its owner only; a home that cannot be written is no reason to fail."""
        if not (self._editing and self._history):
            return
        import readline

        try:
            self._history.touch(0o600)
            readline.set_history_length(_HISTORY_LENGTH)
            readline.write_history_file(self._history)
        except OSError:
            return

    def _piped(self) -> str:
        raw = sys.stdin.buffer.readline() if sys.stdin is not None else b""
        if not raw:
            raise EOFError
        return raw.decode("utf-8", "surrogateescape").rstrip("\r\n")

    def _line(self, prompt: str) -> str:
        """One line. Where line editing works the prompt goes to the output, because the editor redraws it."""
        if not self._terminal.out_tty:
            self._terminal.note(prompt, "accent", end="")
            self._terminal.forget_note()
            return input()
        if self._editing and self._terminal.colour_out and prompt:
            prompt = f"\x01\x1b[1;34m\x02{prompt}\x01\x1b[0m\x02"
        return input(prompt)

    def _more(self) -> bool:
        """Whether more input is there at once, which only a paste can do."""
        if sys.platform == "win32":
            return False
        return bool(select.select([sys.stdin], [], [], _PASTE_GAP_SECONDS)[0])

    def _set_up(self) -> bool:
        try:
            import readline
        except ImportError:
            return False
        if "libedit" in (readline.__doc__ or ""):
            readline.parse_and_bind("bind ^I rl_complete")
        else:
            readline.parse_and_bind("set enable-bracketed-paste on")
            readline.parse_and_bind("tab: complete")
        readline.set_completer_delims("")
        readline.set_completer(self._complete)
        readline.clear_history()
        if self._history and os.access(self._history, os.R_OK):
            try:
                readline.read_history_file(self._history)
            except OSError:
                self._history = None
        return True

    def _complete(self, text: str, index: int) -> str | None:
        fitting = [word for word in self._words if text.startswith("/") and word.startswith(text)]
        return fitting[index] if index < len(fitting) else None
