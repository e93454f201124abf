"""Asks at the terminal whether a tool may run: what it would do, how risky it is, how long a yes holds."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from resources.sentences import sentence
from resources.translation import _
from runtime.cli.terminal import Terminal, exact
from runtime.events import ApprovalRequired, Trust
from runtime.messages import JsonObject

ReadLine = Callable[[str], str]

_KEYS: dict[str, str] = {"once": "y", "5min": "5", "session": "s", "always": "a"}
_DURATIONS: dict[str, str] = {
    "once": "yes, only this once: {rule}",
    "5min": "yes, for 5 minutes: {rule}",
    "session": "yes, in this session: {rule}",
    "always": "yes, from now on: {rule}",
}
_RISKS = {"low": "low risk", "medium": "medium risk", "high": "high risk"}
_RISK_STYLES = {"low": "good", "medium": "warn", "high": "bad"}
_DIFF_STYLES = {"+++": "bold", "---": "bold", "+": "good", "-": "bad", "@": "accent"}
_LONGEST_PREVIEW = 60


@dataclass(frozen=True, slots=True)
class Decision:
    """What the user chose; `arguments` is set for an edit."""

    decision: Literal["approve", "deny", "edit"]
    trust: Trust = "once"
    arguments: JsonObject | None = None
    note: str = ""


class Asker:
    """Puts an approval before the user and reads the choice from the keyboard, on the terminal's thread.

    Only a typed letter decides: Enter alone asks again, the end of input denies, Ctrl-C surfaces as
    KeyboardInterrupt. Keys typed before the question was shown are dropped.
    """

    def __init__(self, terminal: Terminal, read_line: ReadLine | None = None) -> None:
        self._terminal = terminal
        self._read_line = read_line or _read_unremembered

    def decide(self, asked: ApprovalRequired) -> Decision:
        """Show `asked` and wait for a choice."""
        offered = {_KEYS[trust]: trust for trust in (*asked.rules, "once") if trust in _KEYS}
        self._show(asked, offered)
        _drop_typed_ahead()
        whole = ["v"] if len(_told(asked)) > _LONGEST_PREVIEW else []
        keys = "/".join((*offered, "n", "e", *whole))
        while True:
            try:
                answer = self._ask(_("Your choice [{keys}]: ").format(keys=keys)).strip().lower()
            except EOFError:
                self._terminal.note("")
                return Decision("deny")
            if answer in ("n", _("no")):
                return Decision("deny")
            if answer in offered or answer == _("yes"):
                return Decision("approve", trust=cast(Trust, offered.get(answer, "once")))
            if answer in whole:
                self._tell(asked, _told(asked))
            if answer == "e":
                edited = self._edit(asked.arguments)
                if edited is not None:
                    return Decision("edit", arguments=edited)

    def _ask(self, prompt: str) -> str:
        self._terminal.note(prompt, "bold", end="")
        answer = self._read_line("")
        self._terminal.forget_note()
        return answer

    def _show(self, asked: ApprovalRequired, offered: dict[str, str]) -> None:
        terminal = self._terminal
        bar = terminal.sign("│ ", "| ")
        terminal.note("")
        title = _("{tool} asks for your approval").format(tool=asked.name)
        terminal.note(terminal.sign("╭ ", "+ ") + title, "bold")
        terminal.note(f"{bar}{_(_RISKS[asked.risk])}", _RISK_STYLES[asked.risk])
        for line in exact(asked.summary).splitlines():
            terminal.note(bar + line, "")
        lines = _told(asked)
        self._tell(asked, lines[:_LONGEST_PREVIEW])
        if (more := len(lines) - _LONGEST_PREVIEW) > 0:
            words = _("… {count} more lines, which you have not seen yet; v shows them all")
            terminal.note(bar + words.format(count=more), "warn")
        for key, trust in offered.items():
            rule = exact(asked.rules.get(trust, ""))
            terminal.note(f"{bar}{key}  {_(_DURATIONS[trust]).format(rule=rule)}", "")
        if asked.why_once:
            terminal.note(bar + sentence(asked.why_once), "dim")
        terminal.note(f"{bar}n  {_('no')}", "")
        terminal.note(f"{terminal.sign('╰ ', '+ ')}e  {_('edit the arguments first')}", "")

    def _tell(self, asked: ApprovalRequired, lines: list[str]) -> None:
        bar = self._terminal.sign("│ ", "| ")
        for line in lines:
            self._terminal.note(f"{bar}  {line}", _diff_style(line) if asked.preview else "dim")

    def _edit(self, arguments: JsonObject) -> JsonObject | None:
        """The arguments as the user changed them; None, said why, when they are no JSON object."""
        before = json.dumps(arguments, indent=2, ensure_ascii=False)
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        try:
            after = _in_editor(editor, before) if editor else self._ask(_("New arguments as JSON: "))
            edited = json.loads(after)
        except (ValueError, OSError, EOFError) as error:
            self._terminal.note(_("The arguments cannot be read: {reason}.").format(reason=error), "bad")
            return None
        if not isinstance(edited, dict):
            self._terminal.note(_("The arguments must be one JSON object in braces."), "bad")
            return None
        return edited


def _told(asked: ApprovalRequired) -> list[str]:
    """What exactly would be done, in lines."""
    return exact(asked.preview or json.dumps(asked.arguments, indent=2, ensure_ascii=False)).splitlines()


def _diff_style(line: str) -> str:
    return next((style for mark, style in _DIFF_STYLES.items() if line.startswith(mark)), "dim")


def _in_editor(editor: str, text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "arguments.json"
        file.write_text(text, encoding="utf-8")
        subprocess.run([*shlex.split(editor), str(file)], check=False)
        return file.read_text(encoding="utf-8")


def _read_unremembered(prompt: str) -> str:
    """A line from the keyboard that does not enter the history of what was said."""
    answer = input(prompt)
    if answer and (readline := sys.modules.get("readline")) and readline.get_current_history_length():
        readline.remove_history_item(readline.get_current_history_length() - 1)
    return answer


def _drop_typed_ahead() -> None:
    if sys.platform != "win32" and sys.stdin is not None and sys.stdin.isatty():
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
