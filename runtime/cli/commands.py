"""The slash commands of the terminal chat."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from resources.translation import _
from runtime.cli.exit_codes import ExitCode
from runtime.cli.files import write_new
from runtime.cli.lookup import find_session
from runtime.cli.sessions import listing
from runtime.errors import OrionError

if TYPE_CHECKING:
    from runtime.cli.chat import Chat

COMMANDS: dict[str, tuple[str, str]] = {
    "help": ("", "show this list"),
    "new": ("", "start a new chat"),
    "sessions": ("", "list the chats"),
    "open": ("SESSION", "go on in another chat: its id, the beginning of it, or 'last'"),
    "profile": ("[NAME]", "show the profiles, or use another one"),
    "model": ("[NAME]", "show the models on this machine, or use another one"),
    "undo": ("", "take back the last change to a file"),
    "retry": ("", "answer the last message again"),
    "continue": ("", "go on with an answer that was interrupted"),
    "export": ("[FILE]", "print this chat as Markdown, or write it to a file"),
    "quit": ("", "leave"),
}


class Leave(Exception):
    """The user wants to leave the chat."""


class Commands:
    """Runs what follows the slash against the chat `running`."""

    def __init__(self, running: Chat) -> None:
        self._chat = running

    def run(self, line: str) -> ExitCode:
        """Do one command line; OrionError says what did not work, Leave ends the chat."""
        word, _space, rest = line.strip().partition(" ")
        matches = [name for name in COMMANDS if name == word] or [
            name for name in COMMANDS if word and name.startswith(word)
        ]
        if len(matches) != 1:
            raise OrionError("cli_command_unknown", command=word)
        rest = rest.strip()
        match matches[0]:
            case "help":
                return self._help()
            case "new":
                return self._new()
            case "sessions":
                return self._sessions()
            case "open":
                return self._open(rest)
            case "profile":
                return self._profile(rest)
            case "model":
                return self._model(rest)
            case "undo":
                return self._undo()
            case "retry":
                return self._chat.follow(self._chat.session.retry)
            case "continue":
                return self._continue()
            case "export":
                return self._export(rest)
            case _:
                raise Leave

    def _help(self) -> ExitCode:
        for name, (arguments, meaning) in COMMANDS.items():
            self._chat.terminal.note(f"  {f'/{name} {arguments}':<19}{_(meaning)}", "")
        self._chat.terminal.note(
            _("  A backslash at the end of a line continues it; what you paste is one message.")
        )
        return ExitCode.OK

    def _new(self) -> ExitCode:
        host, session = self._chat.host, self._chat.session
        profile = host.run(lambda: session.profile)
        self._chat.switch(host.call(host.runtime.open, None, profile=profile, private=session.private))
        return ExitCode.OK

    def _sessions(self) -> ExitCode:
        rows = self._chat.host.run(self._chat.host.runtime.sessions.list, 20)
        for line in listing(rows, self._chat.terminal.width):
            self._chat.terminal.note(line, "")
        return ExitCode.OK

    def _open(self, wanted: str) -> ExitCode:
        host = self._chat.host
        found = host.run(find_session, host.runtime.sessions, wanted)
        self._chat.switch(host.call(host.runtime.open, found))
        return ExitCode.OK

    def _profile(self, name: str) -> ExitCode:
        chat = self._chat
        if name:
            chat.host.call(chat.session.use, profile=name)
            chat.introduce()
            return ExitCode.OK
        used = chat.host.run(lambda: chat.session.profile)
        for known in chat.host.run(chat.host.runtime.profiles.names):
            chat.terminal.note(f"  {'*' if known == used else ' '} {known}", "")
        return ExitCode.OK

    def _model(self, name: str) -> ExitCode:
        chat = self._chat
        if name:
            chat.host.call(chat.session.use, model=name)
            chat.introduce()
            return ExitCode.OK
        used = chat.host.run(lambda: chat.session.model)
        models = chat.host.run(chat.host.runtime.models)
        if used not in [model["name"] for model in models]:
            chat.terminal.note(f"  * {used}", "")
        for model in models:
            fault = f"  ({model['error']})" if model["error"] else ""
            chat.terminal.note(f"  {'*' if model['name'] == used else ' '} {model['name']}{fault}", "")
        return ExitCode.OK

    def _undo(self) -> ExitCode:
        chat = self._chat
        for row in reversed(chat.host.run(chat.session.rows)):
            details = row.get("details") or {}
            if details.get("change") and not details.get("undone"):
                files = chat.host.call(chat.session.undo, str(details["change"]))
                chat.terminal.note(_("Taken back: {files}").format(files=", ".join(files)), "good")
                return ExitCode.OK
        raise OrionError("cli_nothing_to_undo")

    def _continue(self) -> ExitCode:
        if not self._chat.host.run(lambda: self._chat.session.interrupted):
            raise OrionError("cli_nothing_to_continue")
        return self._chat.follow(self._chat.session.continue_)

    def _export(self, name: str) -> ExitCode:
        chat = self._chat
        text = chat.host.run(partial(chat.host.runtime.sessions.export, chat.session.id, "markdown"))
        if name:
            write_new(Path(name).expanduser(), text)
            chat.terminal.note(_("Written to {file}.").format(file=name), "good")
        else:
            chat.terminal.answer(text if text.endswith("\n") else text + "\n")
        return ExitCode.OK
