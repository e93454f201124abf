"""`orion models delete`: removes a model from this disk, after saying what that frees."""

from __future__ import annotations

import json

from resources.translation import _
from runtime.amounts import size
from runtime.cli.consent import agreed
from runtime.cli.exit_codes import ExitCode
from runtime.cli.host import Host
from runtime.cli.models_words import Row
from runtime.cli.terminal import Terminal, exact
from runtime.errors import OrionError


def delete(terminal: Terminal, name: str, *, yes: bool, as_json: bool) -> ExitCode:
    """Delete an installed model once the user has confirmed it."""
    with Host() as host:
        shelf = host.runtime.shelf
        freed = host.call(shelf.frees, name)
        question = _question(name, freed, _place(host.call(shelf.installed), name))
        if not yes and not agreed(terminal, question, OrionError("cli_delete_unconfirmed", name=name)):
            terminal.note(_("Nothing was deleted."))
            return ExitCode.APPROVAL
        freed = host.call(shelf.delete, name, agreed=True)
    if as_json:
        terminal.answer(json.dumps(freed) + "\n")
        return ExitCode.OK
    done = _("{name} is deleted; {size} are free again.")
    if not freed["files"]:
        done = _("{name} is forgotten; its file is still where it was.")
    terminal.note(done.format(name=exact(name), size=size(int(freed["bytes"]))), "good")
    return ExitCode.OK


def _question(name: str, freed: Row, place: str) -> str:
    if not freed["files"]:
        told = _("Forget {name}? Its file stays where it is: {place}")
    elif place:
        told = _("Delete {name} from this disk? That frees {size}. It lies in a folder of yours: {place}")
    else:
        told = _("Delete {name} from this disk? That frees {size}.")
    return told.format(name=exact(name), size=size(int(freed["bytes"])), place=exact(place))


def _place(rows: list[Row], name: str) -> str:
    """Where a model lies that this program did not put there, else ""."""
    row = next((row for row in rows if row["name"] == name), None)
    return str(row["path"]) if row and row["origin"] in ("imported", "lmstudio") else ""
