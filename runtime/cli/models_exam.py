"""`orion models exam`: two minutes that show what a model can do on this machine."""

from __future__ import annotations

import json

from resources.translation import _
from runtime.cli import models_words as words
from runtime.cli.exit_codes import ExitCode
from runtime.cli.host import Host
from runtime.cli.models_words import Row
from runtime.cli.terminal import Terminal, exact
from runtime.errors import OrionError


def exam(terminal: Terminal, name: str, *, as_json: bool) -> ExitCode:
    """Examine an installed model and print what it showed. Ctrl-C ends the exam, and nothing is kept."""
    with Host() as host:
        shelf = host.runtime.shelf
        run = host.call(shelf.exam, name)
        seen = -1
        try:
            while run["state"] == "running":
                _tell(terminal, run, as_json)
                told = host.call(shelf.exam_step, seen)
                run, seen = told["run"] or run, told["step"]
        except KeyboardInterrupt:
            host.call(shelf.stop_exam)
            terminal.note(_("The exam was ended; nothing is kept of it."), "warn")
            return ExitCode.INTERRUPTED
        terminal.clear()
        row = next((row for row in host.call(shelf.installed) if row["name"] == run["model"]), None)
    if run["state"] == "failed":
        raise OrionError(run["code"], fault="provider", **run["fields"])
    found = row["exam"] if row else None
    if run["state"] != "done" or not found:
        terminal.note(_("The exam was ended; nothing is kept of it."), "warn")
        return ExitCode.INTERRUPTED
    if as_json:
        terminal.answer(json.dumps({"model": run["model"], "state": "done", "exam": found}) + "\n")
        return ExitCode.OK
    _print(terminal, run["model"], found)
    return ExitCode.OK


def _tell(terminal: Terminal, run: Row, as_json: bool) -> None:
    if as_json:
        terminal.answer(json.dumps(run) + "\n")
    else:
        told = _("Examining {model}: {discipline}, {done} of {of}")
        if not run["discipline"]:
            told = _("Examining {model}: it is being loaded")
        terminal.status(told.format(**{key: run[key] for key in ("model", "discipline", "done", "of")}))


def _print(terminal: Terminal, model: str, found: Row) -> None:
    told = _("{model}: {speed} tokens/s, examined in {seconds} s")
    speed, seconds = f"{found['tokens_per_second']:.1f}", f"{found['seconds']:.0f}"
    terminal.answer(told.format(model=exact(model), speed=speed, seconds=seconds) + "\n")
    for name, one in found["scores"].items():
        terminal.answer("  " + words.score(name, one) + "\n")
    roles = ", ".join(found["roles"]) or _("none")
    terminal.answer(_("Roles: {roles}").format(roles=roles) + "\n")
