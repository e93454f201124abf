"""`orion models pull | downloads`: fetches a model from the hub; it rests at Ctrl-C and goes on later."""

from __future__ import annotations

import json
from collections.abc import Callable

from resources.sentences import sentence
from resources.translation import _
from runtime.amounts import size
from runtime.cli.consent import agreed
from runtime.cli.exit_codes import ExitCode
from runtime.cli.host import Host
from runtime.cli.models_search import may_reach
from runtime.cli.models_words import Row
from runtime.cli.terminal import Terminal, exact, visible
from runtime.errors import OrionError
from runtime.model_faults import failed

_BAR = 24
RUNNING = ("queued", "running", "checking")


def pull(terminal: Terminal, name: str, *, yes: bool, as_json: bool) -> ExitCode:
    """Fetch `name`, which may end in a colon and a quantisation, after the questions it raises."""
    repository, _colon, file = name.partition(":")
    with Host() as host:
        row = _begun(host, terminal, repository, file, yes=yes)
        while True:
            row = followed(host, terminal, row, as_json=as_json)
            refused = OrionError(row["code"], **row["fields"]) if row["code"] == "host_refused" else None
            if refused is None or not may_reach(terminal, refused, yes=yes):
                break
            host.call(host.runtime.shelf.allow, str(refused.fields["host"]))
            row = host.call(host.runtime.shelf.resume, row["id"])
    return _ended(terminal, row, name)


def _begun(host: Host, terminal: Terminal, repository: str, file: str, *, yes: bool) -> Row:
    """The download, once host and licence were agreed to. Raises OrionError where they were not."""
    shelf, accepted = host.runtime.shelf, False
    while True:
        try:
            return host.call(shelf.fetch, repository, file, accepted=accepted)
        except OrionError as asked:
            if asked.code == "host_refused" and may_reach(terminal, asked, yes=yes):
                host.call(shelf.allow, str(asked.fields["host"]))
            elif asked.code == "licence_not_accepted" and _accepted(terminal, asked, yes=yes):
                accepted = True
            else:
                raise


def _accepted(terminal: Terminal, asked: OrionError, *, yes: bool) -> bool:
    told = _("{model} is under the licence {licence}, which you have to accept: {url}\nDo you accept it?")
    fields = {name: exact(str(value)) for name, value in asked.fields.items()}
    return yes or agreed(terminal, told.format(**fields), asked)


def followed(host: Host, terminal: Terminal, row: Row, *, as_json: bool) -> Row:
    """Show the arrival `row` until it ends, as a line that moves or as lines of JSON; Ctrl-C lets it rest.
    The row as it ended."""
    shelf = host.runtime.shelf
    try:
        now, seen = row, -1
        while now["state"] in RUNNING:
            told = host.call(shelf.step, seen)
            seen = told["step"]
            now = next((found for found in told["downloads"] if found["id"] == row["id"]), now)
            _tell(terminal, now, as_json)
    except KeyboardInterrupt:
        host.call(shelf.pause, row["id"])
        rows = host.call(shelf.downloads)
        now = next((found for found in rows if found["id"] == row["id"]), row)
        _tell(terminal, now, as_json)
    terminal.clear()
    return now


def _tell(terminal: Terminal, row: Row, as_json: bool) -> None:
    if as_json:
        terminal.answer(json.dumps(row) + "\n")
    else:
        terminal.status(bar(row, terminal.sign))


def bar(row: Row, sign: Callable[[str, str], str]) -> str:
    """How far an arrival is, in one line."""
    if row["state"] == "queued":
        return _("{title} waits for its turn").format(title=row["title"])
    if row["state"] == "checking":
        return _("Checking {title}").format(title=row["title"])
    share = min(row["done"] / row["total"], 1.0) if row["total"] else 0.0
    full = round(_BAR * share)
    drawn = sign("█", "#") * full + sign("░", "-") * (_BAR - full)
    told = _("{done} of {total}").format(done=size(int(row["done"])), total=size(int(row["total"])))
    pace = f"  {size(int(row['speed']))}/s" if row["speed"] else ""
    left = f"  {_left(row['seconds_left'])}" if row["seconds_left"] is not None else ""
    said = f"  {sentence(row['code'], **row['fields'])}" if row["code"] else ""
    return f"{drawn} {share:4.0%}  {told}{pace}{left}{said}"


def _left(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return _("{time} left").format(time=f"{minutes}:{rest:02}")


def _ended(terminal: Terminal, row: Row, name: str) -> ExitCode:
    if row["state"] == "done":
        told = _("{title} is here as {name}. orion models use {name} chooses it.")
        shown = exact(str(row["name"] or row["path"]))
        terminal.note(told.format(title=exact(str(row["title"])), name=shown), "good")
        if row["kind"] in ("language", "vision"):
            terminal.note(_("orion models exam {name} finds out what it can do here.").format(name=shown))
        return ExitCode.OK
    if row["state"] == "failed":
        raise failed(row["code"], row["fields"])
    if row["code"]:
        terminal.note(sentence(row["code"], **row["fields"]), "warn")
    told = _("Paused at {done} of {total}. This goes on from there: orion models pull {name}")
    done, total = size(int(row["done"])), size(int(row["total"]))
    terminal.note(told.format(done=done, total=total, name=exact(name)), "warn")
    return ExitCode.INTERRUPTED


def downloads(terminal: Terminal, stop: str, *, as_json: bool) -> ExitCode:
    """Print the downloads that have not been completed, or drop one of them."""
    with Host() as host:
        if stop:
            host.call(host.runtime.shelf.stop, stop)
        rows = host.call(host.runtime.shelf.downloads)
    if as_json:
        terminal.answer(json.dumps(rows, indent=2) + "\n")
        return ExitCode.OK
    for row in rows:
        done, total = size(int(row["done"])), size(int(row["total"]))
        terminal.answer(f"{row['id']}  {visible(row['title'])}  {_state(row)}, {done} / {total}\n")
        if row["code"]:
            terminal.note(sentence(row["code"], **row["fields"]), "warn")
    if not rows:
        terminal.note(_("No download rests or runs."))
    return ExitCode.OK


def _state(row: Row) -> str:
    words = {
        "queued": _("waits"),
        "running": _("runs"),
        "paused": _("paused"),
        "checking": _("is being checked"),
        "done": _("done"),
        "failed": _("failed"),
    }
    return words[row["state"]]
