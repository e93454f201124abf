"""`orion chat`: a conversation at the terminal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from resources.translation import _
from runtime.cli.approval import Asker
from runtime.cli.ask import can_ask, open_session
from runtime.cli.commands import COMMANDS, Commands, Leave
from runtime.cli.exit_codes import ExitCode
from runtime.cli.host import Host
from runtime.cli.keyboard import Keyboard
from runtime.cli.screen import Screen
from runtime.cli.terminal import Terminal
from runtime.cli.turn import Turn
from runtime.errors import OrionError

if TYPE_CHECKING:
    from runtime.session import Session


class Chat:
    """What a running chat holds: the host, the session that is open and how it is drawn."""

    def __init__(self, host: Host, session: Session, terminal: Terminal) -> None:
        self.host = host
        self.session = session
        self.terminal = terminal
        self._asker = Asker(terminal) if can_ask(terminal) else None

    def switch(self, session: Session) -> None:
        """Go on in `session`; the one before is closed."""
        if session is not self.session:
            self.leave()
            self.session = session
        self.introduce()

    def leave(self) -> None:
        """Close the session; one in which nothing was said is not kept."""
        self.host.call(self.session.close)

    def follow(self, start: Callable[[], Awaitable[object]]) -> ExitCode:
        """Run one turn that `start` starts and draw it."""
        turn = Turn(self.host, self.session, self.terminal, Screen(self.terminal), asker=self._asker)
        return turn.follow(start)

    def introduce(self) -> None:
        """Say which session this is and how it ended last time."""
        session = self.session
        title, profile, model = self.host.run(lambda: (session.title, session.profile, session.model))
        where = profile + self.terminal.sign(" · ", ", ") + model
        self.terminal.note(f"{title or _('New chat')}  ({where})", "bold")
        if session.private:
            self.terminal.note(_("Private: nothing of this session is stored."))
        rows = self.host.run(session.rows)
        if rows and rows[-1]["kind"] == "notice":
            self.terminal.fault(rows[-1]["code"], rows[-1]["fields"], "warn")


def chat(terminal: Terminal, *, profile: str, model: str, session: str, private: bool) -> ExitCode:
    """Talk until /quit or the end of input. Raises OrionError when no session can be opened."""
    with Host() as host:
        opened = open_session(host, session, profile, private=private)
        if model:
            host.call(opened.use, model=model)
        running = Chat(host, opened, terminal)
        history = None if private else host.runtime.home.root / "terminal_history"
        keyboard = Keyboard(terminal, history, [f"/{name}" for name in COMMANDS])
        try:
            return _converse(running, keyboard)
        finally:
            keyboard.close()
            running.leave()


def _converse(running: Chat, keyboard: Keyboard) -> ExitCode:
    terminal = running.terminal
    if keyboard.interactive:
        running.introduce()
        terminal.note(_("/help lists the commands. Ctrl-C stops an answer, Ctrl-D leaves."))
    for code, fields in running.host.run(running.host.runtime.health):
        terminal.fault(code, fields, "warn")
    commands = Commands(running)
    prompt = terminal.sign("\n› ", "\n> ")
    last = ExitCode.OK
    while True:
        try:
            text = keyboard.read(prompt)
        except EOFError:
            terminal.note("", end="\n" if keyboard.interactive else "")
            return ExitCode.OK if keyboard.interactive else last
        except KeyboardInterrupt:
            terminal.note(_("Ctrl-D or /quit leaves."))
            continue
        if not text.strip():
            continue
        try:
            last = _take(running, commands, text)
        except Leave:
            return ExitCode.OK if keyboard.interactive else last
        except OrionError as error:
            terminal.fault(error.code, error.fields)
            last = ExitCode.FAILED


def _take(running: Chat, commands: Commands, text: str) -> ExitCode:
    """Do a command, or say the text to the agent; two slashes say a message that begins with one."""
    if text.startswith("/") and not text.startswith("//"):
        return commands.run(text[1:])
    said = text[1:] if text.startswith("//") else text
    if running.terminal.out_tty:
        running.terminal.answer("\n")
    return running.follow(partial(running.session.submit, said, source="terminal"))
