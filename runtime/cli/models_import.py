"""`orion models import`: takes GGUF files from elsewhere on this machine into the library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from resources.sentences import sentence
from resources.translation import _
from runtime.cli.exit_codes import ExitCode, of_failure
from runtime.cli.host import Host
from runtime.cli.models_pull import followed
from runtime.cli.models_words import Row
from runtime.cli.terminal import Terminal, exact
from runtime.errors import OrionError

Mode = Literal["copy", "move", "in_place"]


def take(terminal: Terminal, paths: list[str], mode: Mode, *, as_json: bool) -> ExitCode:
    """Take in what lies at `paths`; files that are none are said, the others are taken. The exit code is that
    of the first that failed."""
    code = ExitCode.OK
    with Host() as host:
        shelf = host.runtime.shelf
        named = [str(Path(path).expanduser().absolute()) for path in paths]
        plan = host.call(shelf.plan_import, named)
        bad = [row for row in plan if row["code"]]
        for row in bad:
            code = code or _said(terminal, row)
        good = [row["path"] for row in plan if not row["code"]]
        for row in host.call(shelf.take, good, mode) if good else []:
            ended = followed(host, terminal, row, as_json=as_json)
            if ended["state"] == "done":
                terminal.note(_("{name} is there.").format(name=exact(str(ended["name"]))), "good")
            elif ended["state"] == "failed":
                code = code or _said(terminal, ended)
            else:
                terminal.note(_("{title} was not taken in.").format(title=exact(ended["title"])), "warn")
                return ExitCode.INTERRUPTED
    if as_json and bad:
        terminal.answer("".join(json.dumps(row) + "\n" for row in bad))
    if not plan:
        raise OrionError("import_nothing", path=", ".join(paths))
    return code


def _said(terminal: Terminal, row: Row) -> ExitCode:
    terminal.note(sentence(row["code"], **row["fields"]), "bad")
    return of_failure(row["code"], "user")
