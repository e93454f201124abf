"""One turn at the terminal: draws its events, asks its questions, stops it on Ctrl-C or when time is up."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Protocol

from resources.translation import _
from runtime.cli.approval import Asker, Decision
from runtime.cli.exit_codes import ExitCode, of_failure
from runtime.cli.host import Host
from runtime.cli.terminal import ReaderGone, Terminal
from runtime.errors import OrionError
from runtime.events import ApprovalRequired, Done, ErrorRaised, Event

if TYPE_CHECKING:
    from runtime.session import Session

_SETTLING_SECONDS = 5.0


class Drawing(Protocol):
    """Something that draws events."""

    def draw(self, event: Event) -> None: ...


@dataclass(frozen=True, slots=True)
class _Interrupt:
    """Ctrl-C, in the order it came among the events."""


Item = Event | _Interrupt


class Turn:
    """Follows one turn of `session` to its end, on the terminal's thread.

    `asker` None means that nobody can be asked: approvals are denied and said so. `timeout` is in
    seconds from the start of `follow`.
    """

    def __init__(
        self,
        host: Host,
        session: Session,
        terminal: Terminal,
        drawing: Drawing,
        *,
        asker: Asker | None,
        timeout: float | None = None,
    ) -> None:
        self._host = host
        self._session = session
        self._terminal = terminal
        self._drawing = drawing
        self._asker = asker
        self._timeout = timeout
        self._items: SimpleQueue[Item] = SimpleQueue()
        self._code = ExitCode.OK
        self._stopping = False
        self._pressed = False

    def follow(self, start: Callable[[], Awaitable[object]]) -> ExitCode:
        """Start the turn with `start` and return when it is done.

        Raises OrionError when it cannot start, KeyboardInterrupt on a second Ctrl-C, ReaderGone when
        nobody reads the output any more (the turn is cancelled first).
        """
        unsubscribe = self._host.run(self._session.subscribe, self._listen)
        try:
            with self._interrupts():
                self._host.call(start)
                return self._drain()
        except (ReaderGone, OrionError, KeyboardInterrupt):
            self._host.run(self._session.cancel)
            raise
        finally:
            self._host.run(unsubscribe)

    def _listen(self, event: Event) -> None:
        """Called on the runtime's thread."""
        self._items.put(event)
        self._host.log(event)

    def _drain(self) -> ExitCode:
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        while True:
            item = self._next(deadline)
            if item is None:
                if self._stopping:
                    return self._code
                self._terminal.end_answer()
                self._terminal.fault("cli_timeout", {"seconds": f"{self._timeout:g}"})
                self._stop(ExitCode.TIMEOUT)
                deadline = time.monotonic() + _SETTLING_SECONDS
            elif isinstance(item, _Interrupt):
                self._stop(ExitCode.INTERRUPTED)
                deadline = time.monotonic() + _SETTLING_SECONDS
            elif self._draw(item):
                return self._code

    def _next(self, deadline: float | None) -> Item | None:
        """The next item, or None when `deadline` has passed. Windows must wake up to see Ctrl-C."""
        while True:
            left = None if deadline is None else max(deadline - time.monotonic(), 0)
            nap = left if sys.platform != "win32" else min(left if left is not None else 1.0, 0.2)
            try:
                return self._items.get(timeout=nap)
            except Empty:
                if left is not None and left <= (nap or 0):
                    return None

    def _draw(self, event: Event) -> bool:
        """Draw `event`; true when it was the last of the turn."""
        self._drawing.draw(event)
        match event.body:
            case ErrorRaised(code=code, fault=fault):
                self._settle(of_failure(code, fault))
            case ApprovalRequired() as asked:
                self._answer(asked)
            case Done(reason=reason):
                if reason == "cancelled":
                    self._settle(ExitCode.INTERRUPTED)
                elif reason != "complete":
                    self._settle(ExitCode.FAILED)
                return True
            case _:
                pass
        return False

    def _answer(self, asked: ApprovalRequired) -> None:
        while True:
            decision = self._decide(asked)
            if decision is None:
                return
            if decision.decision == "deny":
                self._settle(ExitCode.APPROVAL)
            try:
                self._host.call(
                    self._session.answer,
                    asked.id,
                    decision.decision,
                    trust=decision.trust,
                    arguments=decision.arguments,
                    note=decision.note,
                    door="terminal",
                )
            except OrionError as error:
                self._terminal.fault(error.code, error.fields)
                if decision.decision == "edit":
                    continue
            return

    def _decide(self, asked: ApprovalRequired) -> Decision | None:
        """The decision of the user, or of the policy when nobody can be asked; None when the turn stops."""
        if self._asker is None:
            self._terminal.fault("cli_approval_denied", {"tool": asked.name}, "warn")
            return Decision("deny", note=_("Nobody is at this door to approve it."))
        try:
            with _default_interrupt():
                return self._asker.decide(asked)
        except KeyboardInterrupt:
            self._terminal.note("")
            self._stop(ExitCode.INTERRUPTED)
            return None

    def _stop(self, code: ExitCode) -> None:
        self._settle(code)
        self._stopping = True
        self._host.run(self._session.cancel)

    def _settle(self, code: ExitCode) -> None:
        """The first reason to fail is the one the caller is told."""
        self._code = self._code or code

    @contextmanager
    def _interrupts(self) -> Iterator[None]:
        """The first Ctrl-C becomes an item, the second KeyboardInterrupt, whatever the thread is doing."""

        def on_interrupt(_number: int, _frame: FrameType | None) -> None:
            if self._stopping or self._pressed:
                raise KeyboardInterrupt
            self._pressed = True
            self._items.put(_Interrupt())

        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, on_interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _default_interrupt() -> Iterator[None]:
    """While a question is open, Ctrl-C raises KeyboardInterrupt at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
