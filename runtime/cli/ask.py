"""`orion ask`: one question, one streamed answer, one exit code."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from runtime.cli.approval import Asker
from runtime.cli.exit_codes import ExitCode
from runtime.cli.host import Host
from runtime.cli.lookup import find_session
from runtime.cli.screen import Lines, Screen
from runtime.cli.terminal import Terminal
from runtime.cli.turn import Turn
from runtime.errors import OrionError

if TYPE_CHECKING:
    from runtime.session import Session


@dataclass(frozen=True, slots=True)
class Question:
    """What `orion ask` was given; empty strings mean the default, `timeout` is in seconds."""

    text: str
    profile: str = ""
    model: str = ""
    session: str = ""
    timeout: float | None = None
    json: bool = False
    private: bool = False


def ask(question: Question, terminal: Terminal) -> ExitCode:
    """Ask and draw until the turn is done. Raises OrionError for what cannot start."""
    text = _read_input() if question.text == "-" else question.text
    if not text.strip():
        raise OrionError("cli_input_empty")
    with Host() as host:
        session = open_session(host, question.session, question.profile, private=question.private)
        if question.model:
            host.call(session.use, model=question.model)
        drawing = Lines(terminal) if question.json else Screen(terminal)
        turn = Turn(
            host,
            session,
            terminal,
            drawing,
            asker=Asker(terminal) if can_ask(terminal) else None,
            timeout=question.timeout,
        )
        code = turn.follow(partial(session.submit, text, source="terminal"))
        host.call(session.close)
    return code


def open_session(host: Host, wanted: str, profile: str, *, private: bool) -> Session:
    """The session meant by `wanted`, or a new one when that is empty."""
    found = host.run(find_session, host.runtime.sessions, wanted) if wanted else None
    session: Session = host.call(host.runtime.open, found, profile=profile or None, private=private)
    return session


def can_ask(terminal: Terminal) -> bool:
    """Whether somebody sits at both ends: keys to read from and an error stream they can see."""
    return terminal.err_tty and sys.stdin is not None and sys.stdin.isatty()


def _read_input() -> str:
    """All of standard input; bytes that are no UTF-8 are kept as lone surrogates."""
    if sys.stdin is None:
        return ""
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
