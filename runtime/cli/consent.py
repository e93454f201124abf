"""Questions before something that cannot be taken back or leaves this machine; only a person answers them."""

from __future__ import annotations

import sys

from resources.translation import _
from runtime.cli.terminal import Terminal
from runtime.errors import OrionError


def somebody_is_there() -> bool:
    """Whether a person can answer at the standard input."""
    return sys.stdin is not None and sys.stdin.isatty()


def agreed(terminal: Terminal, question: str, otherwise: OrionError) -> bool:
    """Whether the person at the keyboard typed yes to `question`, which a hint to the answers follows. Raises
    `otherwise` where nobody is there."""
    if not somebody_is_there():
        raise otherwise
    terminal.note(f"{question} [y/N] ", "bold", end="")
    try:
        answer = input().strip().lower()
    except EOFError:
        answer = ""
    terminal.forget_note()
    return answer in ("y", _("yes"))
