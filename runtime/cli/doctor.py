"""`orion doctor` and `orion diagnostics`: what works here, and a report of it to send to somebody."""

from __future__ import annotations

import json
from collections.abc import Iterable
from textwrap import wrap

from resources.translation import _
from runtime.checks.all import every_check
from runtime.checks.check import Check
from runtime.checks.graphics import graphics
from runtime.cli.exit_codes import ExitCode
from runtime.cli.terminal import Terminal
from runtime.paths import find_home

_SIGNS = {"ok": ("✓", "ok"), "warn": ("!", "!"), "fail": ("✗", "FAIL")}
_MARGIN = " " * 20
_STYLES = {"ok": "good", "warn": "warn", "fail": "bad"}


def doctor(terminal: Terminal, *, as_json: bool, gpu: bool = False) -> ExitCode:
    """Run every check, or only that of the graphics card, and print it as soon as it is known; FAILED when
    one failed."""
    checks: list[Check] = []
    for check in _watched(terminal, gpu=gpu):
        checks.append(check)
        if not as_json:
            _print(terminal, check)
    failed = sum(check.status == "fail" for check in checks)
    if as_json:
        answer = {"ok": not failed, "checks": [check.as_dict() for check in checks]}
        terminal.answer(json.dumps(answer, indent=2) + "\n")
    elif failed:
        terminal.answer(
            "\n" + _("{count} of {all} checks failed.").format(count=failed, all=len(checks)) + "\n"
        )
    elif not gpu:
        terminal.answer("\n" + _("Everything needed works.") + "\n")
    return ExitCode.FAILED if failed else ExitCode.OK


def report(terminal: Terminal) -> ExitCode:
    """Print the report to copy."""
    from runtime import diagnostics

    terminal.answer(diagnostics.report(find_home(), list(_watched(terminal))))
    return ExitCode.OK


def _watched(terminal: Terminal, *, gpu: bool = False) -> Iterable[Check]:
    """The checks, with a status line about the slow ones."""
    terminal.status(_("Looking…"))
    for check in _of_graphics() if gpu else every_check(find_home()):
        terminal.clear()
        yield check
        terminal.status(_("Looking…"))
    terminal.clear()


def _of_graphics() -> Iterable[Check]:
    yield graphics()


def _print(terminal: Terminal, check: Check) -> None:
    sign = terminal.sign(*_SIGNS[check.status])
    mark = terminal.painted(f"{sign:<4}", _STYLES[check.status])
    for number, line in enumerate(_lines(terminal, check.what)):
        begin = f"{mark}{check.name:<16}" if number == 0 else _MARGIN
        terminal.answer(f"{begin}{terminal.painted(line, '')}\n")
    for line in _lines(terminal, check.mend):
        terminal.answer(f"{_MARGIN}{terminal.painted(line, 'dim')}\n")


def _lines(terminal: Terminal, text: str) -> list[str]:
    """`text` broken between words to fit beside the margin of a terminal."""
    room = terminal.width - len(_MARGIN)
    return wrap(text, room) if terminal.out_tty and room > 20 else text.splitlines()
